/**
 * One event as a row of named columns: the schema that CSV, Arrow, Parquet and SQLite exports share (docs/exports.md describes each
 * column). Columns are read one value at a time, so that nothing but the writer's own buffers is allocated.
 */
import { fileOf } from '../analysis/files/files.ts';
import { auxText, objectName, resultText } from '../trace/describe.ts';
import { opName, OPS } from '../event/operations.ts';
import { StatementIndex } from '../trace/statement-index.ts';
import type { ThreadStore } from '../trace/store.ts';

export type ColumnType = 'int32' | 'int64' | 'double' | 'text';
export type Cell = number | string | null;

export interface EventColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  value(view: ThreadView, row: number): Cell;
}

/** A thread with what its rows refer to looked up once. */
export class ThreadView {
  /** Rows that there were when the view was made: a recording grows while it is written. */
  readonly count: number;
  /** Row of the innermost SQL call that each row serves, itself included; -1 = none known. */
  readonly statement: Int32Array;
  private readonly names = new Map<number, string | null>();
  private readonly kinds = new Map<number, string | null>();

  constructor(readonly thread: ThreadStore) {
    this.count = thread.events.count;
    this.statement = new StatementIndex(thread).update();
  }
  /** Name of what an id stands for; null where it is not known. */
  name(id: number): string | null {
    let name = this.names.get(id);
    if (name === undefined) this.names.set(id, (name = objectName(this.thread, id) || null));
    return name;
  }
  /** Kind of what an id stands for: SQLite's file kind, `opfs`, `idb-store`, `storage`, else the definition's own kind. */
  kind(id: number): string | null {
    let kind = this.kinds.get(id);
    if (kind === undefined) {
      const definition = this.thread.definitions.get(id);
      this.kinds.set(id, (kind = fileOf(definition)?.kind ?? definition?.kind ?? null));
    }
    return kind;
  }
}

/** Whole nanoseconds: what a trace's times are made of. */
export const toNs = (us: number): number => Math.round(us * 1000);

const ended = (v: ThreadView, row: number): boolean => v.thread.events.endSeq[row] !== 0;
const idOrNull = (id: number): number | null => id || null;
const textOrNull = (text: string): string | null => text || null;

const column = (
  name: string,
  type: ColumnType,
  nullable: boolean,
  value: EventColumn['value'],
): EventColumn => ({
  name,
  type,
  nullable,
  value,
});

/** In the order of the files. Only add at the end: readers of stored files rely on names and types. */
export const EVENT_COLUMNS: readonly EventColumn[] = [
  column('thread', 'int32', false, (v) => v.thread.index),
  column('seq', 'int64', false, (v, i) => v.thread.events.seq[i]!),
  column('end_seq', 'int64', true, (v, i) => idOrNull(v.thread.events.endSeq[i]!)),
  column('ts_ns', 'int64', false, (v, i) => toNs(v.thread.events.t0[i]!)),
  column('dur_ns', 'int64', true, (v, i) => (ended(v, i) ? toNs(v.thread.events.dur[i]!) : null)),
  column('layer', 'text', false, (v, i) => OPS[v.thread.events.op[i]!]?.layer ?? 'unknown'),
  column('op', 'text', false, (v, i) => opName(v.thread.events.op[i]!)),
  column('object_id', 'int64', true, (v, i) => idOrNull(v.thread.events.object[i]!)),
  column('object', 'text', true, (v, i) => v.name(v.thread.events.object[i]!)),
  column('kind', 'text', true, (v, i) => v.kind(v.thread.events.object[i]!)),
  column('offset', 'double', true, (v, i) => {
    const offset = v.thread.events.offset[i]!;
    return Number.isFinite(offset) ? offset : null;
  }),
  column('length', 'int64', false, (v, i) => v.thread.events.length[i]!),
  column('result', 'int32', true, (v, i) => (ended(v, i) ? v.thread.events.result[i]! : null)),
  column('result_name', 'text', true, ({ thread: { events } }, i) =>
    events.endSeq[i]
      ? textOrNull(resultText(events.op[i]!, events.result[i]!, events.flags[i]!))
      : null,
  ),
  column('detail', 'text', true, ({ thread: { events } }, i) =>
    textOrNull(auxText(events.op[i]!, events.aux[i]!)),
  ),
  column('aux', 'int64', false, (v, i) => v.thread.events.aux[i]!),
  column('aux2', 'int64', false, (v, i) => v.thread.events.aux2[i]!),
  column('flags', 'int32', false, (v, i) => v.thread.events.flags[i]!),
  column('parent_seq', 'int64', true, (v, i) => idOrNull(v.thread.events.parent[i]!)),
  column('context', 'int64', true, (v, i) => idOrNull(v.thread.events.context[i]!)),
  column('statement_seq', 'int64', true, (v, i) =>
    v.statement[i]! < 0 ? null : v.thread.events.seq[v.statement[i]!]!,
  ),
  column('statement', 'text', true, (v, i) =>
    v.statement[i]! < 0 ? null : v.name(v.thread.events.object[v.statement[i]!]!),
  ),
];
