/**
 * `vfscope/field`: what an app ships, to learn how SQLite does for its users. Import it first in the page or worker that runs SQLite:
 *
 *   import { observe } from 'vfscope/field';
 *   const field = observe({ sample: 0.01, labels: { release: '1.2' }, onReport: (report) => send(JSON.stringify(report)) });
 *
 * It sends nothing. Nothing is hooked in a page life that isn't sampled.
 */
import { TRACED } from '../engines/sql-functions.ts';
import { Op } from '../event/event.ts';
import { PromiseWatch } from '../record/promise-watch.ts';
import type { FieldReport } from './report.ts';
import { Ring, type LastSeconds } from './ring.ts';
import { hookSql, type Sink } from './sql.ts';
import { hookStorage } from './storage.ts';
import { Tally } from './tally.ts';

export type { FieldReport, StatementReport } from './report.ts';
export type { LastSeconds } from './ring.ts';

export interface FieldOptions {
  /** Share of page lives that are observed, 0 to 1; default 1. */
  sample?: number;
  /** What reports are compared by: `release`, `device`, or others. */
  labels?: Readonly<Record<string, string>>;
  /** Takes the report of a page life: when the page is hidden, or when the app calls `flush`. */
  onReport?: (report: FieldReport) => void;
  /**
   * Takes the last seconds when something goes wrong, once a page life: a corrupt or full database, a hang or slow call
   * (`hangMs`), slow statements (`p99Ms`).
   * `saveTrace` of `vfscope/field-trace` makes a `.vfst` file of it.
   */
  onTrace?: (last: LastSeconds, why: string) => void;
  /** How many seconds those are at most; default 10. */
  seconds?: number;
  /** A call that takes longer asks for a trace; a request for a lock that does is a hang. Milliseconds, default 2000. */
  hangMs?: number;
  /** Slow statements: more than 1 of 100 took longer, ms, of 100 runs or more. Default: never. */
  p99Ms?: number;
  /** Texts of statements, literals folded, in reports; default true. Without them a hash tells statements apart. */
  texts?: boolean;
}

export interface Field {
  /** This page life is observed. */
  readonly sampled: boolean;
  /** The report until now, to `onReport`, and a new page life begins. In a worker, call it when the page tells it that it is hidden. */
  flush(): void;
  /** The last seconds, for a reason of the app's own; null where this page life isn't observed. */
  last(): LastSeconds | null;
  /** Put everything back as it was. */
  stop(): void;
}

/** Records of the ring, 64 bytes each. */
const CAPACITY = 8192;

const NOT_SAMPLED: Field = { sampled: false, flush() {}, last: () => null, stop() {} };

/** Observe this page or worker from now on. @throws RangeError for a sample that is not from 0 to 1 */
export function observe(options: FieldOptions = {}): Field {
  const { sample = 1, labels = {}, seconds = 10, hangMs = 2000, texts = true } = options;
  const p99Us = (options.p99Ms ?? Infinity) * 1000;
  if (!(sample >= 0 && sample <= 1)) throw new RangeError(`sample: expected 0 to 1, got ${sample}`);
  if (Math.random() >= sample) return NOT_SAMPLED;
  const ring = new Ring(CAPACITY);
  let why: string | null = null;
  const { onReport, onTrace } = options;
  const told = (reason: string): void => {
    if (why !== null || !onTrace) return;
    why = reason;
    // the call that shows it ends first
    queueMicrotask(() => onTrace(ring.last(seconds * 1000), reason));
  };
  const watch = new PromiseWatch(globalThis instanceof EventTarget ? globalThis : null);
  const sink: Sink = { ring, tally: new Tally(told, p99Us), hangMs, watch };
  const unhookSql = hookSql(sink);
  const storage = hookStorage(sink);
  /** What is pending has asked for a trace where it began before, ms. */
  let asked = -Infinity;
  const nameOf = (op: number): string =>
    storage.names.get(op) ?? TRACED.find((traced) => traced.op === op)?.name ?? 'a call';
  const flush = (): void => {
    const { tally } = sink;
    storage.countHangs();
    const before = performance.now() - hangMs;
    for (const op of ring.pending(asked, before))
      if (op !== Op.lockRequest) tally.tookLong(nameOf(op));
    asked = before;
    if (tally.engine === null || tally.isEmpty) return;
    const report = tally.report({ weight: 1 / sample, labels, trace: why }, texts);
    sink.tally = new Tally(told, p99Us);
    sink.tally.engine = tally.engine;
    sink.tally.sqlite = tally.sqlite;
    why = null;
    onReport?.(report);
  };
  const hidden = (): void => {
    if (document.hidden) flush();
  };
  const inPage = typeof document !== 'undefined';
  if (inPage) document.addEventListener('visibilitychange', hidden);
  return {
    sampled: true,
    flush,
    last: () => ring.last(seconds * 1000),
    stop() {
      if (inPage) document.removeEventListener('visibilitychange', hidden);
      unhookSql();
      storage.restore();
      watch.restore();
    },
  };
}
