/**
 * Definitions of the structure of databases: which pages an interior page leads to, and which table or index begins at which page. Said
 * as the hook sees pages pass; `at` is the sequence number drawn last before, so that what threads saw can be put in order of time.
 */

export type BTreeDefinition =
  /** An interior page's children, in place of those that it had before. */
  | { kind: 'b-tree-pages'; id: number; file: number; at: number; page: number; children: number[] }
  /** All that the schema's leaf `page` names, in place of what it named before. A table of '' = this is a table itself, else an index. */
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
  /** More changes than the hook follows: of this file it says nothing more. */
  | { kind: 'b-tree-end'; id: number; file: number; at: number; page: number };

/** What the hook says of one file on one thread, in page numbers; a definition costs as much as some of them. */
export const MOST_SAID = 1 << 20;
export const SAID_COST = 64;

/** Of one definition: more than the largest page holds. */
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

/** A well-formed definition of these kinds; says nothing of who made it. */
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
