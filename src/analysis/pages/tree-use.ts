/**
 * Which statements read and wrote the pages of which tables and indexes, and how long that took:
 *
 *   UPDATE orders ...     xRead page 9 of orders, xRead page 4 of orders_by_date, xWrite page 9 of orders
 *   orders                1 page read, 1 written; the time inside these two calls
 *
 * The time comes from the time partition: the time of the VFS calls on its pages and of the storage
 * calls in them, so that each moment counts once. A page with an unknown table counts for none; see
 * b-trees.ts.
 */
import type { Owners } from '../../trace/owners.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { fact, type ByThread, type Facts, type Known } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import { partTimes, PARTS, type PartTimes } from '../core/time-parts.ts';
import { isInScope, type Scope } from '../core/scope.ts';
import { isWhole, type TimeRange } from '../core/time-range.ts';
import { sweeps } from '../time/thread-times.ts';
import { textOfSql } from '../time/time-shares.ts';
import { Access, type Accesses } from './accesses.ts';
import { bTrees, type BTree, type BTrees } from './b-trees.ts';
import { accesses } from './page-accesses.ts';

/** What one statement did with one table or index. */
export interface TreeUse {
  /** Index in Accesses.objects. */
  database: number;
  /** Index in its list of b-trees; the list's length = pages of unknown ones. */
  tree: number;
  /** Fingerprint; null = not known. */
  statement: string | null;
  /** Pages read and written, in the database and in the WAL, without the copies of checkpoints. */
  reads: number;
  writes: number;
  /** Pages that checkpoints wrote to the database while it ran. */
  checkpointed: number;
  /** Time inside the calls, including checkpoints, microseconds by part and in all. */
  time: PartTimes & { spanUs: number };
}

const NEEDS = { accesses, bTrees, owners, sweeps };

/** Of the whole trace, the most time first. */
export const treeUse = fact('treeUse', 'tables and indexes by statement', NEEDS, (store, known) =>
  useOf(store, known, {}),
);
/** The same for a range or a thread: calls that begin in it, and their time in it. */
export const treeUseIn = (
  facts: Facts,
  scope: Pick<Scope, 'thread' | keyof TimeRange>,
): TreeUse[] =>
  isWhole(scope) && scope.thread === undefined
    ? facts.get(treeUse)
    : useOf(facts.store, facts.known(NEEDS), scope);

/**
 * Statements that read or wrote a page of a table or of its indexes.
 * @param table its name, in any database
 */
export function statementsOfTable(
  use: readonly TreeUse[],
  trees: readonly BTrees[],
  table: string,
): Set<string | null> {
  return new Set(
    use
      .filter(({ database, tree }) => trees[database]!.list[tree]?.table === table)
      .map(({ statement }) => statement),
  );
}

/** @returns undefined = not known */
export const treeOf = (trees: readonly BTrees[], { database, tree }: TreeUse): BTree | undefined =>
  trees[database]!.list[tree];

/**
 * Time in each table or index of one database, by index in its list; the last is that of pages of
 * unknown ones.
 * @param trees in the list
 */
export function timesByTree(
  use: readonly TreeUse[],
  wanted: number,
  trees: number,
): TreeUse['time'][] {
  const ns = Array.from({ length: trees + 1 }, () => new Float64Array(PARTS.length));
  for (const { database, tree, time } of use)
    if (database === wanted) PARTS.forEach((part, i) => (ns[tree]![i]! += toNs(time[`${part}Us`])));
  return ns.map(timeOf);
}

const timeOf = (ns: Float64Array): TreeUse['time'] => ({
  ...partTimes((part) => ns[part]! / 1000),
  spanUs: ns.reduce((a, b) => a + b, 0) / 1000,
});

/** Statements have numbers below this, in order of appearance. */
const TEXTS = 2 ** 24;

/** Uses while they are summed. */
class Uses {
  /** Where each database's b-trees begin in one series of all, with the unknown one after each. */
  private readonly starts = [0];
  private readonly texts = new Map<string | null, number>();
  private readonly found = new Map<number, Omit<TreeUse, 'time'> & { ns: Float64Array }>();

  constructor(private readonly trees: readonly BTrees[]) {
    for (const { list } of trees) this.starts.push(this.starts.at(-1)! + list.length + 1);
  }

  /** Number of a page's b-tree in the series of all. */
  treeOfPage(database: number, page: number): number {
    const { list, ownerOf } = this.trees[database]!;
    const tree = ownerOf(page);
    return this.starts[database]! + (tree < 0 ? list.length : tree);
  }

  /** @returns the number of a statement by id of its text on a thread */
  textsOf(thread: ThreadStore): (id: number) => number {
    const textOf = fingerprintsOf(thread);
    const known = new ById<number>();
    const { texts } = this;
    return (id) =>
      known.get(id) ??
      known.set(
        id,
        getOrMake(texts, textOf(id), () => texts.size),
      );
  }

  of(tree: number, text: number): Omit<TreeUse, 'time'> & { ns: Float64Array } {
    return getOrMake(this.found, tree * TEXTS + text, () => {
      let database = 0;
      while (this.starts[database + 1]! <= tree) database++;
      return {
        ...{ database, tree: tree - this.starts[database]! },
        ...{ statement: [...this.texts.keys()][text]!, reads: 0, writes: 0, checkpointed: 0 },
        ns: new Float64Array(PARTS.length),
      };
    });
  }

  list(): TreeUse[] {
    return [...this.found.values()]
      .map(({ ns, ...use }): TreeUse => ({ ...use, time: timeOf(ns) }))
      .sort((a, b) => b.time.spanUs - a.time.spanUs || b.reads + b.writes - a.reads - a.writes);
  }
}

function useOf(
  store: TraceStore,
  { accesses, bTrees: trees, owners, sweeps }: Known<typeof NEEDS>,
  scope: Pick<Scope, 'thread' | keyof TimeRange>,
): TreeUse[] {
  const { fromUs, toUs } = scope;
  const range = { ...(fromUs !== undefined && { fromUs }), ...(toUs !== undefined && { toUs }) };
  const uses = new Uses(trees);
  const labels = countAccesses(store, accesses, owners, scope, uses);
  for (const thread of store.threads) {
    const label = labels[thread.index];
    if (!label || !isInScope(thread, scope)) continue;
    const { events } = thread;
    const textOf = uses.textsOf(thread);
    const times = sweeps
      .of(thread)
      .callTimes({ root: (sql) => textOfSql(events, sql), vfs: (row) => label[row]! - 1 }, range);
    for (let place = 0; place < times.count; place++) {
      if (times.level[place] !== 1) continue;
      const { ns } = uses.of(times.key[place]!, textOf(times.key[times.parent[place]!]!));
      for (let part = 0; part < PARTS.length; part++)
        ns[part]! += times.ns[place * PARTS.length + part]!;
    }
  }
  return uses.list();
}

/**
 * @returns by thread, by row: the b-tree of the call's first page, in the series of all, from 1; 0
 * = none
 */
function countAccesses(
  store: TraceStore,
  { object, place, span, what, thread, row, us, count }: Accesses,
  owners: ByThread<Owners>,
  { fromUs = -Infinity, toUs = Infinity, ...scope }: Pick<Scope, 'thread' | keyof TimeRange>,
  uses: Uses,
): (Uint32Array | undefined)[] {
  const labels: (Uint32Array | undefined)[] = store.threads.map(() => undefined);
  const texts = store.threads.map((one) => uses.textsOf(one));
  for (let i = 0; i < count; i++) {
    const own: ThreadStore = store.threads[thread[i]!]!;
    const database = object[i]!;
    const first = uses.treeOfPage(database, place[i]!);
    const label = (labels[own.index] ??= new Uint32Array(own.events.count));
    label[row[i]!] = 1 + first;
    if (us[i]! < fromUs || us[i]! >= toUs || !isInScope(own, scope)) continue;
    const sql = owners.of(own).sql(row[i]!);
    const text = texts[own.index]!(sql < 0 ? 0 : textOfSql(own.events, sql));
    const bits = what[i]!;
    for (let n = 0; n < span[i]!; n++) {
      const use = uses.of(n ? uses.treeOfPage(database, place[i]! + n) : first, text);
      if (!(bits & Access.checkpoint)) use[bits & Access.write ? 'writes' : 'reads']++;
      else if (bits & Access.write) use.checkpointed++;
    }
  }
  return labels;
}
