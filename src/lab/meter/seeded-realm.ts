/**
 * Makes randomness and time of this realm repeatable, so that counts repeat: SQLite seeds its
 * generator from crypto.getRandomValues (Emscripten's /dev/random), in-memory VFSs name temporary
 * files by Math.random, and date('now') prints the clock. Only for our own realms.
 */

interface RealmOptions {
  readonly seed: number;
  /** Date.now too. Not for VFSs that wait by the clock. */
  readonly clock: boolean;
  /** Node's module `crypto`, from which some builds take their randomness in Node. */
  readonly nodeCrypto?: NodeCrypto | undefined;
}
export interface NodeCrypto {
  randomFillSync: unknown;
}

/** 2020-01-01: an arbitrary date for `now`. */
const START_MS = 1_577_836_800_000;

/** Replaces the realm's sources of randomness. @returns a function that restores them */
export function seedRealm({ seed, clock, nodeCrypto }: RealmOptions): () => void {
  let state = seed >>> 0;
  const next = (): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0);
  const getRandomValues = <T extends ArrayBufferView | null>(view: T): T => {
    if (!view) return view;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next() >>> 16;
    return view;
  };
  let now = START_MS;
  const restore = [
    replace(crypto, 'getRandomValues', getRandomValues),
    replace(Math, 'random', () => next() / 2 ** 32),
  ];
  if (nodeCrypto) restore.push(replace(nodeCrypto, 'randomFillSync', getRandomValues));
  if (clock) restore.push(replace(Date, 'now', () => now++));
  return () => restore.reverse().forEach((put) => put());
}

/** Replaces an object's property. @returns a function that restores it */
export function replace<T extends object, K extends keyof T>(
  on: T,
  name: K,
  value: unknown,
): () => void {
  const own = Object.getOwnPropertyDescriptor(on, name);
  Object.defineProperty(on, name, { value, configurable: true, writable: true });
  return () => {
    if (own) Object.defineProperty(on, name, own);
    else Reflect.deleteProperty(on, name);
  };
}
