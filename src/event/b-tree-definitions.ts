/**
 * Definitions of a database's structure: which pages an interior page leads to, and at which page
 * each table or index begins. Emitted as the hook sees pages pass. `at` is the last drawn sequence
 * number, by which the definitions of several threads are ordered in time.
 */

export type BTreeDefinition =
  /** An interior page's children, replacing its earlier ones. */
  | { kind: 'b-tree-pages'; id: number; file: number; at: number; page: number; children: number[] }
  /**
   * All that the schema's leaf `page` names, replacing its earlier names. A table of '' = this is a
   * table itself, else an index.
   */
  | {
      kind: 'b-tree-names';
      id: number;
      file: number;
      at: number;
      page: number;
      roots: number[];
      names: string[];
      tables: string[];
    }
  /** More changes than the hook follows: it emits nothing more on this file. */
  | { kind: 'b-tree-end'; id: number; file: number; at: number; page: number };

/**
 * How much the hook emits about one file on one thread, in page numbers; each definition costs as
 * much as a few.
 */
export const MOST_SAID = 1 << 20;
export const SAID_COST = 64;

/** Of one definition: more than the largest page can hold. */
const MOST_ITEMS = 10_000;
const LONGEST_NAME = 512;

const isU32 = (v: unknown): boolean => typeof v === 'number' && v === v >>> 0;
const isPages = (v: unknown): v is number[] =>
  Array.isArray(v) && v.length <= MOST_ITEMS && v.every((n) => isU32(n) && n !== 0);
const isNames = (v: unknown, count: number): boolean =>
  Array.isArray(v) &&
  v.length === count &&
  v.every((name) => typeof name === 'string' && name.length <= LONGEST_NAME);

export const isBTreeKind = (kind: unknown): kind is BTreeDefinition['kind'] =>
  kind === 'b-tree-pages' || kind === 'b-tree-names' || kind === 'b-tree-end';

/** Whether this is a well-formed definition of these kinds. Its origin isn't checked. */
export function isBTreeDefinition(v: Record<string, unknown>): boolean {
  if (!isU32(v.id) || !isU32(v.file) || !isU32(v.at) || !isU32(v.page) || v.page === 0)
    return false;
  if (v.kind === 'b-tree-pages') return isPages(v.children);
  if (v.kind === 'b-tree-names')
    return (
      isPages(v.roots) && isNames(v.names, v.roots.length) && isNames(v.tables, v.roots.length)
    );
  return v.kind === 'b-tree-end';
}
