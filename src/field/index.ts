/**
 * `vfscope/field`: ship it with your app to learn how SQLite performs for your users. Import it
 * first in the page or worker that runs SQLite:
 *
 *   import { observe } from 'vfscope/field';
 *   const field = observe({ sample: 0.01, onReport: (report) => send(JSON.stringify(report)) });
 *
 * It sends nothing itself. In a page life that isn't sampled, it hooks nothing.
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
  /** Share of page lives to observe, 0 to 1; default 1. */
  sample?: number;
  /** Labels for comparing reports: `release`, `device`, or others. */
  labels?: Readonly<Record<string, string>>;
  /** Receives the report of a page life, when the page is hidden or the app calls `flush`. */
  onReport?: (report: FieldReport) => void;
  /**
   * Receives the last seconds when something goes wrong, once a page life: a corrupt or full
   * database, a hang or slow call (`hangMs`), or slow statements (`p99Ms`). `saveTrace` of
   * `vfscope/field-trace` turns them into a `.vfst` file.
   */
  onTrace?: (last: LastSeconds, why: string) => void;
  /** Maximum number of those seconds; default 10. */
  seconds?: number;
  /**
   * A call that takes longer triggers a trace. A lock request that takes longer is a hang.
   * Milliseconds, default 2000.
   */
  hangMs?: number;
  /**
   * Slow statements: triggers a trace when more than 1 of 100 took longer, ms, with 100 runs or
   * more. Default: never.
   */
  p99Ms?: number;
  /**
   * Include statement texts in reports, with literals folded; default true. Without texts, a hash
   * distinguishes statements.
   */
  texts?: boolean;
}

export interface Field {
  /** This page life is observed. */
  readonly sampled: boolean;
  /**
   * Passes the report until now to `onReport` and begins a new page life. In a worker, call it when
   * the page is hidden: the page must tell the worker.
   */
  flush(): void;
  /**
   * The last seconds, for a reason that the app gives; null where this page life isn't observed.
   */
  last(): LastSeconds | null;
  /** Remove all hooks. */
  stop(): void;
}

/** Records of the ring, 64 bytes each. */
const CAPACITY = 8192;

const NOT_SAMPLED: Field = { sampled: false, flush() {}, last: () => null, stop() {} };

/** Observe this page or worker from now on. @throws RangeError for a sample outside 0 to 1 */
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
    // the call that triggers it ends first
    queueMicrotask(() => onTrace(ring.last(seconds * 1000), reason));
  };
  const watch = new PromiseWatch(globalThis instanceof EventTarget ? globalThis : null);
  const sink: Sink = { ring, tally: new Tally(told, p99Us), hangMs, watch };
  const unhookSql = hookSql(sink);
  const storage = hookStorage(sink);
  /** A pending call that began earlier has already triggered a trace, ms. */
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
