// What an origin has stored, as SHA-256 per OPFS file, per IndexedDB store, and of localStorage.
// Two runs that stored the same bytes have the same hash. Load it in the page after the databases
// are closed and the worker has ended. Left out or renamed, because random or a mere cache of time:
// - OPFS directories `.ahp-*` and `.session-*` (temporary files of OPFSCoopSyncVFS and OPFSWriteAheadVFS);
// - names of pool files (AccessHandlePoolVFS, opfs-sahpool): letters and digits only; they become `*1`, `*2`, ... in order of their hashes;
// - IndexedDB stores called `metadata`;
// - localStorage keys `kvvfs-*-jrnl`: the last journal stays there, with its random nonce.

const POOL_NAME = /^[0-9a-z]{6,}$/;
const TEMPORARY = /^\.(ahp|session)-/;

/**
 * @returns {Promise<{ total: string, opfs: Record<string, string>, idb: Record<string, string>, localStorage: string | null }>} hex
 *   SHA-256 by normalized path, by `database/store`, of localStorage (null if empty), and over all
 */
export async function storageHash() {
  const opfs = await opfsHashes(await navigator.storage.getDirectory(), '/');
  const idb = await idbHashes();
  const items = Object.entries(localStorage).filter(([key]) => !/^kvvfs-.*-jrnl$/.test(key));
  const local = items.length ? await sha256Text(await canonical(Object.fromEntries(items))) : null;
  return {
    total: await sha256Text(JSON.stringify([opfs, idb, local])),
    opfs,
    idb,
    localStorage: local,
  };
}

async function opfsHashes(directory, path) {
  const found = {};
  const pool = [];
  for await (const [name, handle] of directory.entries()) {
    if (handle.kind === 'directory') {
      if (!TEMPORARY.test(name)) Object.assign(found, await opfsHashes(handle, `${path}${name}/`));
      continue;
    }
    const hash = await sha256(await (await handle.getFile()).arrayBuffer());
    if (POOL_NAME.test(name)) pool.push(hash);
    else found[path + name] = hash;
  }
  for (const [i, hash] of pool.sort().entries()) found[`${path}*${i + 1}`] = hash;
  return sorted(found);
}

async function idbHashes() {
  const found = {};
  for (const { name } of await indexedDB.databases()) {
    const db = await settled(indexedDB.open(name));
    for (const store of db.objectStoreNames) {
      if (store === 'metadata') continue;
      const objectStore = db.transaction(store).objectStore(store);
      const [keys, values] = await Promise.all([
        settled(objectStore.getAllKeys()),
        settled(objectStore.getAll()),
      ]);
      const parts = [];
      for (const [i, key] of keys.entries())
        parts.push(await canonical(key), await canonical(values[i]));
      found[`${name}/${store}`] = await sha256Text(parts.join('\n'));
    }
    db.close();
  }
  return sorted(found);
}

/**
 * A stored value as text that doesn't depend on the order of properties. Bytes become their hash.
 */
async function canonical(value) {
  if (value instanceof Blob) return `blob ${await sha256(await value.arrayBuffer())}`;
  if (value instanceof ArrayBuffer) return `bytes ${await sha256(value)}`;
  if (ArrayBuffer.isView(value))
    return `bytes ${await sha256(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))}`;
  if (value instanceof Date) return `date ${value.getTime()}`;
  if (Array.isArray(value)) return `[${(await Promise.all(value.map(canonical))).join(',')}]`;
  if (value instanceof Map) return `map ${await canonical([...value])}`;
  if (value instanceof Set) return `set ${await canonical([...value])}`;
  if (value !== null && typeof value === 'object') {
    const members = Object.keys(value)
      .sort()
      .map(async (key) => `${JSON.stringify(key)}:${await canonical(value[key])}`);
    return `{${(await Promise.all(members)).join(',')}}`;
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const sha256Text = (text) => sha256(new TextEncoder().encode(text));

const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('an IndexedDB database is still open'));
  });

const sorted = (object) =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
