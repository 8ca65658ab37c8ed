/**
 * Transactions in columns, because a trace of ten million events has hundreds of thousands. Objects
 * are made on request.
 */
import { getOrMake } from '../core/maps.ts';
import { columns } from '../../trace/number-columns.ts';

/** What made a transaction durable. */
export type CommitPoint =
  | 'journal deleted'
  | 'journal truncated'
  | 'journal zeroed'
  | 'wal'
  | 'atomic write'
  | 'database write';

export interface Transaction {
  /** Place in TraceStore.threads. */
  thread: number;
  path: string;
  kind: 'read' | 'write';
  outcome: 'committed' | 'rolled back' | 'nothing written';
  /**
   * Rows of its first and last call, and of the commit point (-1 without one), and when it began
   * and ended.
   */
  beginRow: number;
  endRow: number;
  commitRow: number;
  /**
   * Row of the xLock that took SHARED for it; -1 if the lock existed before, or was kept from
   * another transaction.
   */
  lockRow: number;
  /**
   * Id of the database file and of the connection (0 = not known), as in the rows of its database
   * calls.
   */
  object: number;
  context: number;
  commitPoint: CommitPoint | null;
  beginUs: number;
  endUs: number;
}

const KINDS = ['read', 'write'] as const;
const OUTCOMES = ['committed', 'rolled back', 'nothing written'] as const;
const POINTS = [
  null,
  'journal deleted',
  'journal truncated',
  'journal zeroed',
  'wal',
  'atomic write',
  'database write',
] as const;

/** Columns as in `Transaction`, by index. */
export class TransactionTable
  extends columns({
    thread: Uint16Array,
    beginRow: Int32Array,
    endRow: Int32Array,
    commitRow: Int32Array,
    lockRow: Int32Array,
    object: Uint32Array,
    context: Uint32Array,
    beginUs: Float64Array,
    endUs: Float64Array,
    /** Place in `paths`. */
    pathOf: Uint32Array,
    /** Kind, outcome, and commit point. */
    what: Uint8Array,
  })
  implements Iterable<Transaction>
{
  readonly paths: string[] = [];
  private readonly places = new Map<string, number>();

  get length(): number {
    return this.count;
  }

  push(t: Transaction): void {
    const pathOf = getOrMake(this.places, t.path, () => this.paths.push(t.path) - 1);
    const i = this.add();
    this.thread[i] = t.thread;
    this.beginRow[i] = t.beginRow;
    this.endRow[i] = t.endRow;
    this.commitRow[i] = t.commitRow;
    this.lockRow[i] = t.lockRow;
    this.object[i] = t.object;
    this.context[i] = t.context;
    this.beginUs[i] = t.beginUs;
    this.endUs[i] = t.endUs;
    this.pathOf[i] = pathOf;
    this.what[i] =
      KINDS.indexOf(t.kind) |
      (OUTCOMES.indexOf(t.outcome) << 1) |
      (POINTS.indexOf(t.commitPoint) << 3);
  }

  isWrite(i: number): boolean {
    return (this.what[i]! & 1) === 1;
  }
  outcome(i: number): Transaction['outcome'] {
    return OUTCOMES[(this.what[i]! >> 1) & 3]!;
  }
  commitPoint(i: number): CommitPoint | null {
    return POINTS[this.what[i]! >> 3]!;
  }
  path(i: number): string {
    return this.paths[this.pathOf[i]!]!;
  }

  at(i: number): Transaction {
    return {
      thread: this.thread[i]!,
      path: this.path(i),
      kind: KINDS[this.what[i]! & 1]!,
      outcome: this.outcome(i),
      beginRow: this.beginRow[i]!,
      endRow: this.endRow[i]!,
      commitRow: this.commitRow[i]!,
      lockRow: this.lockRow[i]!,
      object: this.object[i]!,
      context: this.context[i]!,
      commitPoint: this.commitPoint(i),
      beginUs: this.beginUs[i]!,
      endUs: this.endUs[i]!,
    };
  }

  /** A thread's first transaction that begins with a row; -1 = none. */
  placeOf(thread: number, beginRow: number): number {
    for (let i = 0; i < this.length; i++)
      if (this.thread[i] === thread && this.beginRow[i] === beginRow) return i;
    return -1;
  }

  /** Each as an object that is only valid until the next one. */
  *[Symbol.iterator](): Generator<Transaction> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  /** Those with these indices, in this order. */
  pick(places: Iterable<number>): TransactionTable {
    const picked = new TransactionTable();
    for (const i of places) picked.push(this.at(i));
    return picked;
  }
}
