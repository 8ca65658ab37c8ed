/**
 * Images of b-tree pages, in the format of https://www.sqlite.org/fileformat2.html#b_tree_pages.
 */
export const SIZE = 1024;

/** An interior page of a table with these children. */
export function interior(kids: readonly number[], page = 2, size = SIZE): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  const at = page === 1 ? 100 : 0;
  bytes[at] = 5;
  view.setUint16(at + 3, kids.length - 1);
  view.setUint16(at + 5, size - 5 * (kids.length - 1));
  view.setUint32(at + 8, kids.at(-1)!);
  kids.slice(0, -1).forEach((kid, i) => {
    view.setUint16(at + 12 + 2 * i, size - 5 * (i + 1));
    view.setUint32(size - 5 * (i + 1), kid);
  });
  return bytes;
}
