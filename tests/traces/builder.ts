// Makes stores from a list of calls written in a test, through the same batches that a recording
// sends.
import type { Batch } from '../../src/event/batch.ts';
import { Field, Op, RECORD_BYTES, type OpName } from '../../src/event/event.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { TraceStore, type ThreadInfo, type ThreadStore } from '../../src/trace/store.ts';
import type { NewDefinition } from '../../src/record/recorder.ts';

export interface CallFields {
  object?: number;
  offset?: number;
  length?: number;
  aux?: number;
  aux2?: number;
  result?: number;
  flags?: number;
  context?: number;
  /** Microseconds the call takes, 1 by default. */
  dur?: number;
  /** The call never ends. */
  open?: boolean;
}

/** One thread's calls, in order; times advance with every call. */
export class ThreadBuilder {
  readonly thread: ThreadStore;
  /** Microseconds. */
  now = 0;
  private seq = 0;
  private nextId = 0;
  private parents: number[] = [];
  private rows: number[][] = [];
  private definitions: Definition[] = [];
  private sent = 0;

  constructor(
    readonly store: TraceStore,
    info: Partial<ThreadInfo> = {},
  ) {
    this.thread = store.thread({
      ...{ id: `t${store.threads.length + 1}`, kind: 'worker', url: 'https://app.example/worker.js', name: '', parent: null, timeOrigin: store.originMs },
      ...info,
    });
  }

  define(definition: NewDefinition): number {
    const id = ++this.nextId;
    this.definitions.push({ ...definition, id } as Definition);
    return id;
  }
  file(path: string, fileKind: Extract<Definition, { kind: 'file' }>['fileKind'] = 'main-db', vfs = 'test'): number {
    return this.define({ kind: 'file', path, fileKind, vfs, engine: 0, flags: 0 });
  }
  say(definition: Definition): void {
    this.definitions.push(definition);
  }

  /** A call, and with `inside` the calls made during it. @returns its sequence number */
  call(op: OpName, fields: CallFields = {}, inside?: () => void): number {
    const { object = 0, offset = NaN, length = 0, aux = 0, aux2 = 0, result = 0, flags = 0, context = 0, dur = 1, open = false } = fields;
    const seq = ++this.seq;
    const row = [this.now, this.now, seq, 0, Op[op] | (flags << 8), result, offset, length, object, this.parents.at(-1) ?? 0, context, aux, aux2];
    this.rows.push(row);
    this.parents.push(seq);
    inside?.();
    this.parents.pop();
    if (open) return seq;
    this.now += dur;
    row[1] = this.now;
    row[3] = ++this.seq;
    return seq;
  }
  /** seq of the current call; 0 = none. */
  get innermost(): number {
    return this.parents.at(-1) ?? 0;
  }
  /** Advances the time without calls. */
  idle(us: number): void {
    this.now += us;
  }

  /** Sends the calls so far to the store. @returns rows of earlier batches that ended */
  send(dropped = 0): number[] {
    const batch = batchOf(this.thread.info, this.sent, this.rows, this.definitions, dropped);
    this.sent += this.rows.length;
    this.rows = [];
    this.definitions = [];
    return this.thread.append(batch);
  }
}

/** A batch from rows in the order of the record's fields, times in microseconds. */
export function batchOf(info: ThreadInfo, first: number, rows: readonly (readonly number[])[], definitions: Definition[] = [], dropped = 0): Batch {
  const records = new ArrayBuffer(rows.length * RECORD_BYTES);
  const view = new DataView(records);
  rows.forEach((row, i) => {
    const at = i * RECORD_BYTES;
    view.setFloat64(at + Field.t0, row[0]! / 1000, true);
    view.setFloat64(at + Field.t1, row[1]! / 1000, true);
    view.setUint32(at + Field.seq, row[2]!, true);
    view.setUint32(at + Field.endSeq, row[3]!, true);
    view.setUint32(at + Field.op, row[4]!, true);
    view.setInt32(at + Field.result, row[5]!, true);
    view.setFloat64(at + Field.offset, row[6]!, true);
    const u32 = [Field.length, Field.object, Field.parent, Field.context, Field.aux, Field.aux2];
    u32.forEach((field, n) => view.setUint32(at + field, row[7 + n] ?? 0, true));
  });
  return { thread: info.id, first: first >>> 0, count: rows.length, timeOrigin: info.timeOrigin, dropped, faults: 0, definitions, records };
}

export const newStore = (originMs = 1_700_000_000_000): TraceStore => new TraceStore(originMs);
