/**
 * An oracle: the b-tree of every page of a database file, found by walking its bytes from the roots
 * down. Shares no code with src.
 */

interface Walked {
  /** Name of the table or index by page; pages of overflow chains and of the freelist are in no b-tree. */
  names: Map<number, string>;
  pageSize: number;
  pages: number;
}

/** @param roots rootpage -> name, as the engine's own SELECT on the schema says */
export function walk(file: Uint8Array, roots: ReadonlyMap<number, string>): Walked {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const pageSize = view.getUint16(16) === 1 ? 65536 : view.getUint16(16);
  const names = new Map<number, string>();
  const visit = (page: number, name: string): void => {
    if (names.has(page)) throw new Error(`page ${page} is in ${names.get(page)} and in ${name}`);
    names.set(page, name);
    const base = (page - 1) * pageSize;
    const at = base + (page === 1 ? 100 : 0);
    const type = view.getUint8(at);
    if (![2, 5, 10, 13].includes(type))
      throw new Error(`page ${page} of ${name} is of type ${type}`);
    if (type > 5) return;
    for (let i = 0; i < view.getUint16(at + 3); i++)
      visit(view.getUint32(base + view.getUint16(at + 12 + 2 * i)), name);
    visit(view.getUint32(at + 8), name);
  };
  visit(1, 'sqlite_schema');
  for (const [root, name] of roots) visit(root, name);
  return { names, pageSize, pages: file.length / pageSize };
}
