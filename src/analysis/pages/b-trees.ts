/**
 * Which table or index each page of a database belongs to, from the hook's definitions of pages
 * that it saw: names with their root pages, and children of interior pages. The last definition is
 * valid. A page without a known path up to a named root belongs to none.
 *
 *   schema: orders_by_date has root 4        4 [ 9 12 ]        12 [ 17 18 ]        17 -> 12 -> 4 -> orders_by_date
 */
import { isBTreeKind, type BTreeDefinition } from '../../event/b-tree-definitions.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Access, type Accesses } from './accesses.ts';
import { fact } from '../core/graph.ts';
import { databaseFiles } from '../core/database-files.ts';
import { accesses } from './page-accesses.ts';
import type { PlaceColumns } from './pages.ts';
import { timeOf } from '../core/time-calls.ts';
import { originOfThread } from '../core/thread-origin.ts';

export interface BTree {
  /** Root page. */
  root: number;
  name: string;
  kind: 'table' | 'index';
  /** The table itself, or the table of an index. */
  table: string;
}

/** Why structure is missing. */
export type BTreeCause =
  /** The hook reached its limit of changes, and followed no more. */
  | 'changes'
  /** Page 1 isn't a page of a database, so the file is encrypted. */
  | 'opaque'
  /** Names weren't recorded: capture level 0, or without the SQL layer. */
  | 'not captured'
  /**
   * Threads of several origins have a database of this name, so their definitions may be about
   * another file.
   */
  | 'several origins'
  /** No VFS call was recorded. */
  | 'below the VFS'
  /** No page with structure was seen while recording, or the recording doesn't show any. */
  | 'not seen';

/** Of one database, in the order of `DatabaseFiles.list`. */
export interface BTrees {
  /** By root page; [] if none is known. */
  list: BTree[];
  causes: BTreeCause[];
  /** @returns index in `list`, -1 = not known */
  ownerOf(page: number): number;
}

/** SQLite's own limit (BTCURSOR_MAX_DEPTH): a longer path is a circle. */
const MOST_LEVELS = 20;
/** Maximum known children of one database, because a page can forge definitions. */
const MOST_EDGES = 1 << 22;
const SCHEMA_TABLE = 'sqlite_schema';
const INTERIOR: ReadonlySet<number> = new Set([2, 5]);

/** When something was last seen; at the same moment, the later definition. */
interface Seen {
  us: number;
  order: number;
}
const NEVER: Seen = { us: -Infinity, order: 0 };
const ALWAYS: Seen = { us: Infinity, order: Infinity };
const isLater = (a: Seen, b: Seen): boolean => a.us > b.us || (a.us === b.us && a.order > b.order);

/** An interior page, and when it was seen as such. */
interface Interior extends Seen {
  /** Seen as something else since. */
  stale: boolean;
  readonly children: readonly number[];
}

interface Owner {
  /** Place in the list. */
  owner: number;
  seen: Seen;
}

class Structure {
  private readonly interior = new Map<number, Interior>();
  private readonly named = new Map<number, Extract<BTreeDefinition, { kind: 'b-tree-names' }>>();
  /** Written after the hook had stopped following. */
  private readonly lost = new Set<number>();
  private edges = 0;
  private said = 0;
  /** When the hook stopped following. */
  endUs = Infinity;
  readonly origins = new Set<string>();

  apply(d: BTreeDefinition, us: number): void {
    if (d.kind === 'b-tree-end') {
      this.endUs = Math.min(us, this.endUs);
      return;
    }
    this.named.delete(d.page);
    this.interior.delete(d.page);
    if (d.kind === 'b-tree-names') this.named.set(d.page, d);
    else if ((this.edges += d.children.length) <= MOST_EDGES)
      this.interior.set(d.page, { us, order: this.said++, stale: false, children: d.children });
  }

  /** Accesses can't change anything any more. */
  get isSettled(): boolean {
    return this.interior.size === 0 && this.endUs === Infinity;
  }
  /** A page as shown by an access. @param type 0 = not of a b-tree; null = not known */
  access(page: number, type: number | null, us: number, write: boolean): void {
    const known = this.interior.get(page);
    if (known && type !== null && us > known.us) {
      known.stale = !INTERIOR.has(type);
      if (!known.stale) known.us = us;
    }
    if (write && us > this.endUs) this.lost.add(page);
  }

  /**
   * From a root down. If two pages claim a child, it belongs to the one that was seen last.
   * @param owners by page, added to
   */
  private descend(root: number, owner: number, owners: Map<number, Owner>): void {
    let level: { page: number; seen: Seen }[] = [{ page: root, seen: ALWAYS }];
    for (let depth = 0; level.length && depth <= MOST_LEVELS; depth++) {
      const next: { page: number; seen: Seen }[] = [];
      for (const { page, seen } of level) {
        if ((page !== 1 && this.lost.has(page)) || !isLater(seen, owners.get(page)?.seen ?? NEVER))
          continue;
        owners.set(page, { owner, seen });
        const below = this.interior.get(page);
        if (below && !below.stale)
          for (const child of below.children) next.push({ page: child, seen: below });
      }
      level = next;
    }
  }

  /** Tables and indexes by root page, with the pages of each. */
  trees(): { list: BTree[]; owners: ReadonlyMap<number, Owner> } {
    const owners = new Map<number, Owner>();
    if (this.named.size + this.interior.size === 0) return { list: [], owners };
    const found = new Map<number, BTree>([
      [1, { root: 1, name: SCHEMA_TABLE, kind: 'table', table: SCHEMA_TABLE }],
    ]);
    this.descend(1, 0, owners);
    for (const [leaf, { roots, names, tables }] of this.named) {
      if (!owners.has(leaf)) continue; // not a leaf of the schema any more
      roots.forEach((root, i) => {
        const [name, table] = [names[i]!, tables[i]!];
        if (root !== 1)
          found.set(root, { root, name, kind: table ? 'index' : 'table', table: table || name });
      });
    }
    const list = [...found.values()].sort((a, b) => a.root - b.root);
    owners.clear();
    list.forEach(({ root }, owner) => this.descend(root, owner, owners));
    return { list, owners };
  }
}

/** By database, in the order of `databaseFiles.list`. */
export const bTrees = fact(
  'bTrees',
  'tables and indexes',
  { databaseFiles, accesses },
  (store, { databaseFiles: files, accesses }): BTrees[] => {
    const structures = files.list.map(() => new Structure());
    const captured = files.list.map(() => false);
    const said: { us: number; database: number; d: BTreeDefinition }[] = [];
    store.threads.forEach((thread, t) => {
      for (const { database } of files.parts[t]!.values())
        captured[database] ||= capturesNames(thread);
      for (const d of thread.said) {
        const part = isBTreeKind(d.kind)
          ? files.parts[t]!.get((d as BTreeDefinition).file)
          : undefined;
        if (!part || part.wal) continue;
        structures[part.database]!.origins.add(originOfThread(thread));
        said.push({
          us: timeOf(thread, (d as BTreeDefinition).at),
          database: part.database,
          d: d as BTreeDefinition,
        });
      }
    });
    said.sort((a, b) => a.us - b.us); // stable: at the same moment, in the order of arrival
    for (const { us, database, d } of said) structures[database]!.apply(d, us);
    const opaque = readAccesses(structures, accesses);
    return structures.map((structure, i) => {
      const causes: BTreeCause[] = structure.endUs < Infinity ? ['changes'] : [];
      const several = structure.origins.size > 1;
      const { list, owners } = several
        ? { list: [], owners: new Map<number, Owner>() }
        : structure.trees();
      if (several) causes.push('several origins');
      else if (list.length === 0)
        causes.push(causeOf(files.list[i]!.opfs, captured[i]!, opaque[i]!));
      return { list, causes, ownerOf: (page) => owners.get(page)?.owner ?? -1 };
    });
  },
);

function causeOf(opfs: boolean, captured: boolean, opaque: boolean): BTreeCause {
  if (opfs) return 'below the VFS';
  return captured ? (opaque ? 'opaque' : 'not seen') : 'not captured';
}

/** @returns by database: page 1 was seen, and isn't of a b-tree */
function readAccesses(
  structures: readonly Structure[],
  { object, place, span, what, type, us, count }: Accesses,
): boolean[] {
  const opaque = structures.map(() => false);
  const settled = structures.map(({ isSettled }) => isSettled);
  for (let i = 0; i < count; i++) {
    if (settled[object[i]!] && place[i] !== 1) continue;
    const structure = structures[object[i]!]!;
    const write = (what[i]! & Access.write) !== 0;
    const inWal = (what[i]! & Access.wal) !== 0;
    // for a frame, 0 means nothing: SQLite may write it in parts
    const known = span[i] === 1 && (type[i] !== 0 || !inWal) ? type[i]! : null;
    for (let n = 0; n < span[i]!; n++) structure.access(place[i]! + n, known, us[i]!, write);
    if (place[i] === 1 && known !== null) opaque[object[i]!] = known === 0;
  }
  return opaque;
}

function capturesNames({ environment }: ThreadStore): boolean {
  if (!environment) return true;
  const { capture, layers } = environment.capture;
  return capture > 0 && layers.includes('sql');
}

/** Index in `trees.list` by index of a place; -1 = not known. */
export function ownersOf(trees: BTrees, { count, place }: PlaceColumns): Int32Array {
  const owners = new Int32Array(count);
  for (let i = 0; i < count; i++) owners[i] = trees.ownerOf(place[i]!);
  return owners;
}

const SUMS = [
  'reads',
  'walReads',
  'rereads',
  'writes',
  'walWrites',
  'checkpointWrites',
  'readBytes',
  'writeBytes',
] as const;
/**
 * Sums over the pages of each b-tree, in the order of the list, and at the end those of pages whose
 * b-tree isn't known.
 */
export type BTreeTotals = Record<'pages' | (typeof SUMS)[number], Float64Array>;

/** @param owners by place, see `ownersOf` @param trees how many there are */
export function bTreeTotals(places: PlaceColumns, owners: Int32Array, trees: number): BTreeTotals {
  const totals = Object.fromEntries(
    ['pages', ...SUMS].map((name) => [name, new Float64Array(trees + 1)]),
  ) as BTreeTotals;
  for (let i = 0; i < places.count; i++) {
    const at = owners[i]! < 0 ? trees : owners[i]!;
    totals.pages[at]!++;
    for (const name of SUMS) totals[name][at]! += places[name][i]!;
  }
  return totals;
}
