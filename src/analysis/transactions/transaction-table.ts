/** Transactions in columns: of a trace of ten million events there are hundreds of thousands. An object is made when one is asked for. */

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
  /** Rows of the first and the last call that belong to it, of the commit point (-1 without), and when it began and ended. */
  beginRow: number;
  endRow: number;
  commitRow: number;
  /** Row of the xLock that took SHARED for it; -1 where the lock was there before, or kept from another transaction. */
  lockRow: number;
  /** Id of the database file and of the connection (0 = not known): what the rows of its database calls carry. */
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

type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

/** Columns are as in `Transaction`, by place; they are longer than `length`. */
export class TransactionTable implements Iterable<Transaction> {
  length = 0;
  thread = new Uint16Array(64);
  beginRow = new Int32Array(64);
  endRow = new Int32Array(64);
  commitRow = new Int32Array(64);
  lockRow = new Int32Array(64);
  object = new Uint32Array(64);
  context = new Uint32Array(64);
  beginUs = new Float64Array(64);
  endUs = new Float64Array(64);
  /** Place in `paths`. */
  pathOf = new Uint32Array(64);
  readonly paths: string[] = [];
  /** Kind, outcome and commit point. */
  private what = new Uint8Array(64);
  private readonly places = new Map<string, number>();

  push(t: Transaction): void {
    if (this.length === this.what.length) this.grow();
    const i = this.length++;
    this.thread[i] = t.thread;
    this.beginRow[i] = t.beginRow;
    this.endRow[i] = t.endRow;
    this.commitRow[i] = t.commitRow;
    this.lockRow[i] = t.lockRow;
    this.object[i] = t.object;
    this.context[i] = t.context;
    this.beginUs[i] = t.beginUs;
    this.endUs[i] = t.endUs;
    let path = this.places.get(t.path);
    if (path === undefined) this.places.set(t.path, (path = this.paths.push(t.path) - 1));
    this.pathOf[i] = path;
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

  /** The first of a thread that begins with a row; -1 = none. */
  placeOf(thread: number, beginRow: number): number {
    for (let i = 0; i < this.length; i++)
      if (this.thread[i] === thread && this.beginRow[i] === beginRow) return i;
    return -1;
  }

  /** Each as an object that lives as long as it is looked at. */
  *[Symbol.iterator](): Generator<Transaction> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  /** The ones at these places, in this order. */
  pick(places: Iterable<number>): TransactionTable {
    const picked = new TransactionTable();
    for (const i of places) picked.push(this.at(i));
    return picked;
  }

  private grow(): void {
    const more = <T extends Column>(from: T): T => {
      const to = new (from.constructor as new (n: number) => T)(this.length * 2);
      to.set(from);
      return to;
    };
    this.thread = more(this.thread);
    this.beginRow = more(this.beginRow);
    this.endRow = more(this.endRow);
    this.commitRow = more(this.commitRow);
    this.lockRow = more(this.lockRow);
    this.object = more(this.object);
    this.context = more(this.context);
    this.beginUs = more(this.beginUs);
    this.endUs = more(this.endUs);
    this.pathOf = more(this.pathOf);
    this.what = more(this.what);
  }
}
