/**
 * A trace in one object: what `vfscope summary --json` prints. Numbers that a trace can't show are
 * null, never 0.
 */
import { mainThreads } from '../core/main-threads.ts';
import { conditions, type Conditions } from '../core/conditions.ts';
import { losses } from '../core/losses.ts';
import { unknownTails, type UnknownTail } from '../core/unknown-tails.ts';
import { pageOf } from '../core/thread-origin.ts';
import {
  mayHaveEarlierWorkers,
  unrecordedWorkers,
  type UnrecordedWorker,
} from '../core/unrecorded-workers.ts';
import { threadTitles } from '../core/thread-titles.ts';
import { coarsestStep } from '../core/time-range.ts';
import { hasSql, hasVfs, seesWeb } from '../core/layers.ts';
import type { ThreadEnvironment, ThreadKind } from '../../event/definitions.ts';
import { sameCapture, type CaptureOptions } from '../../event/capture.ts';
import { FORMAT_VERSION } from '../../trace/file/format.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import type { FileCounts } from '../files/file-counts.ts';
import { requestSums, type RequestSums } from '../messages/request-sums.ts';
import { sampleSums, type SampleSums } from '../cpu/hot-functions.ts';
import { belowStorage, type BelowStorageSums } from '../below/browser-work.ts';
import { pageCache, type PageCache } from '../cache/page-cache.ts';
import { NO_STORAGE } from '../core/absences.ts';
import { SUMMARY_NEEDS, numbersFrom, type NumberId } from '../numbers/headline-numbers.ts';
import { storageHealth, type OriginStorage } from '../files/storage-health.ts';
import type { SummaryTime } from '../time/summary-time.ts';
import { fact, Facts } from '../core/graph.ts';
import { knownWeb, type WebCounts } from '../files/web-counts.ts';

export interface SummaryThread {
  id: string;
  kind: Exclude<ThreadKind, 'frame'>;
  /** Its name in every view. */
  title: string;
  name: string;
  url: string;
  events: number;
  layers: ('sql' | 'vfs' | 'web')[];
  /**
   * It was ended before it could send its last records: maximum time after the last of them,
   * microseconds; null = its records are complete, or it sent none.
   */
  unknownTailUs: number | null;
  /** Why the thread isn't recorded, or only partly; null if there is nothing to report. */
  note: string | null;
}

export interface SummaryEngine {
  /** Id of its thread. */
  thread: string;
  name: string;
  sqliteVersion: string | null;
  vfs: string[];
  layers: { web: boolean; vfs: boolean; sql: boolean; counters: boolean; query?: boolean };
  /**
   * Why the query counters are missing; null if they aren't, if it isn't known, or if all SQL is
   * missing.
   */
  queryNote: string | null;
  note: string | null;
  /** URLs of its page's workers that aren't recorded and may do storage for it. */
  unrecordedWorkers: string[];
  /**
   * Its page was already running when the recording began, so workers that ran before aren't
   * recorded.
   */
  earlierWorkers: boolean;
}

/** What the threads that run SQLite have in common. A value is null if they differ. */
export interface SummaryEnvironment {
  url: string | null;
  userAgent: string | null;
  crossOriginIsolated: boolean | null;
  /** Their coarsest clock step, microseconds. */
  clockStepUs: number | null;
  /** Nanoseconds to record one event, by layer, as measured on the slowest thread. */
  tracerNsPerEvent: { vfs: number | null; js: number | null };
  /** What was captured; null if threads differ, or if no environment was recorded. */
  capture: CaptureOptions | null;
  /** The conditions of its times. */
  conditions: Conditions;
  /**
   * The browser's report on the storage of the first origin that was asked about; null if it wasn't
   * asked.
   */
  storage: OriginStorage | null;
}

export interface Summary {
  format: number;
  events: number;
  dropped: number;
  /**
   * Threads that were ended before they could send their last records, which aren't in any number.
   */
  unknownTails: number;
  /** Exceptions inside the tracer's own hooks. */
  faults: number;
  durationUs: number;
  environment: SummaryEnvironment;
  threads: SummaryThread[];
  engines: SummaryEngine[];
  /** Missing calls, as text. If there are any, every count is a lower bound. */
  losses: readonly string[];
  /**
   * Their work isn't in any number. If SQLite or its storage runs there, every count is a lower
   * bound.
   */
  unrecordedWorkers: readonly UnrecordedWorker[];
  files: FileCounts[];
  web: WebCounts;
  statements: { count: number | null; distinct: number | null };
  transactions: { read: number | null; write: number | null; rolledBack: number | null };
  commits: number | null;
  syncs: number | null;
  syncsPerCommit: number | null;
  time: Record<Exclude<keyof SummaryTime, 'vfsIsStorage'>, number | null> &
    Pick<SummaryTime, 'vfsIsStorage'>;
  pageCache: PageCache;
  /** Messages between threads and their answers, if they were recorded. */
  requests?: RequestSums;
  /** CPU samples by statement, if they were taken. */
  cpu?: SampleSums;
  /** What the browser did for storage calls, and whether it counted as many, if it was asked. */
  belowStorage?: BelowStorageSums;
  /** Total instructions that SQLite's WebAssembly executed, if they were counted. */
  instructions?: number;
  /** Why a number is null, by its path. */
  unknown: Record<string, string>;
}

/** For a trace that needs no other facts. */
export const summaryOf = (store: TraceStore): Summary => new Facts(store).get(summary);

const NO_TIME = {
  cpuUs: null,
  ioUs: null,
  lockUs: null,
  lockWaitUs: null,
  tracerUs: null,
  otherUs: null,
  idleUs: null,
  outsideUs: null,
  tracerOutsideUs: null,
  vfsIsStorage: false,
} as const;

export const summary = fact(
  'summary',
  'summary',
  {
    ...SUMMARY_NEEDS,
    pageCache,
    requestSums,
    sampleSums,
    belowStorage,
    storageHealth,
    mainThreads,
    losses,
    unrecordedWorkers,
    unknownTails,
    conditions,
  },
  (store, known, facts): Summary => {
    const numbers = numbersFrom(facts);
    const unknown: Summary['unknown'] = {};
    /** @param path where its cause is stored; the parts of an unknown object don't need causes */
    const value = (id: NumberId, path: string = id): number | null => {
      const { value: found, cause } = numbers.get(id);
      if (cause !== null && !(path.split('.')[0]! in unknown)) unknown[path] = cause;
      return found;
    };
    if (knownWeb(known.webCounts) === null) unknown['web'] = NO_STORAGE;
    value('sqlTime', 'time');
    value('hitRate', known.pageCache.hits === null ? 'pageCache' : 'pageCache.hitRate');
    return {
      format: FORMAT_VERSION,
      events: store.eventCount,
      dropped: store.dropped,
      unknownTails: known.unknownTails.length,
      faults: store.threads.reduce((n, t) => n + t.faults, 0),
      durationUs: value('duration')!,
      environment: environmentOf(
        store,
        known.mainThreads,
        known.conditions,
        known.storageHealth[0] ?? null,
      ),
      threads: threadTitles(store).map((title, i) =>
        threadOf(store.threads[i]!, title, known.unknownTails),
      ),
      engines: store.threads.flatMap((thread) => enginesOf(store, thread, known.unrecordedWorkers)),
      losses: known.losses,
      unrecordedWorkers: known.unrecordedWorkers,
      files: known.fileCounts,
      web: known.webCounts,
      statements: {
        count: value('statements'),
        distinct: value('distinctStatements', 'statements.distinct'),
      },
      transactions: {
        read: value('transactionsRead', 'transactions.read'),
        write: value('transactionsWrite', 'transactions.write'),
        rolledBack: value('rolledBack', 'transactions.rolledBack'),
      },
      commits: value('commits'),
      syncs: value('syncs'),
      syncsPerCommit: value('syncsPerCommit'),
      time: known.summaryTime ?? NO_TIME,
      pageCache: known.pageCache,
      ...(known.requestSums && { requests: known.requestSums }),
      ...(known.sampleSums && { cpu: known.sampleSums }),
      ...(known.belowStorage && { belowStorage: known.belowStorage }),
      ...(known.totalInstructions !== null && { instructions: value('instructions')! }),
      unknown,
    };
  },
);

function threadOf(
  thread: ThreadStore,
  title: string,
  tails: readonly UnknownTail[],
): SummaryThread {
  const { info, events } = thread;
  const layers: SummaryThread['layers'] = [];
  if (hasSql(thread)) layers.push('sql');
  if (hasVfs(thread)) layers.push('vfs');
  if (seesWeb(thread)) layers.push('web');
  const notes = [...new Set(thread.notes.map((n) => (n.url ? `${n.text} (${n.url})` : n.text)))];
  return {
    id: info.id,
    kind: info.kind === 'frame' ? 'page' : info.kind,
    title,
    name: info.name,
    url: info.url,
    events: events.count,
    layers,
    unknownTailUs: tails.find((tail) => tail.thread === thread.index)?.us ?? null,
    note: notes.join('; ') || null,
  };
}

function enginesOf(
  store: TraceStore,
  thread: ThreadStore,
  workers: readonly UnrecordedWorker[],
): SummaryEngine[] {
  const page = pageOf(store, thread.index);
  const earlierWorkers = mayHaveEarlierWorkers(store, page);
  const unrecordedWorkers = workers.flatMap(({ kind, pages, url }) =>
    kind === 'any' && pages.includes(page) ? [url] : [],
  );
  return thread.engines.map((engine) => {
    const vfs = new Set<string>();
    for (const d of thread.definitions.values())
      if (d.kind === 'file' && d.vfs && (d.engine === engine.id || d.engine === 0)) vfs.add(d.vfs);
    const { name, sqliteVersion, note } = engine;
    const { layers: hooked } = engine;
    const sql = hooked.sql && hasSql(thread);
    const layers = { web: seesWeb(thread), ...hooked, sql };
    return {
      thread: thread.info.id,
      name,
      sqliteVersion,
      vfs: [...vfs],
      layers,
      queryNote: sql && hooked.query === false ? whyNotCounted(thread) : null,
      note,
      unrecordedWorkers,
      earlierWorkers,
    };
  });
}

/** Why an engine's runs aren't counted although its SQL calls are recorded. */
const whyNotCounted = ({ environment }: ThreadStore): string =>
  environment && !environment.capture.layers.includes('query')
    ? 'the recording leaves it out'
    : 'this build lacks sqlite3_stmt_status';

function environmentOf(
  store: TraceStore,
  mainThreads: readonly ThreadStore[],
  conditions: Conditions,
  storage: OriginStorage | null,
): SummaryEnvironment {
  const known = mainThreads.flatMap((t) => (t.environment ? [t.environment] : []));
  const same = <K extends keyof ThreadEnvironment>(key: K): ThreadEnvironment[K] | null => {
    const values = new Set(known.map((e) => e[key]));
    return values.size === 1 ? known[0]![key] : null;
  };
  const costs = store.threads.flatMap((t) => (t.cost ? [t.cost] : []));
  const most = (values: (number | null)[]): number | null => {
    const numbers = values.filter((v) => v !== null);
    return numbers.length ? Math.max(...numbers) : null;
  };
  return {
    url: store.threads.find((t) => t.info.kind === 'page')?.info.url ?? same('url'),
    userAgent: same('userAgent'),
    crossOriginIsolated: same('crossOriginIsolated'),
    clockStepUs: coarsestStep(mainThreads),
    capture: captureIn(store.threads.flatMap(({ environment }) => environment ?? [])),
    conditions,
    storage,
    tracerNsPerEvent: {
      vfs: most(costs.map((c) => c.nsPerVfsEvent)),
      js: most(costs.map((c) => c.nsPerJsEvent)),
    },
  };
}

function captureIn(known: readonly ThreadEnvironment[]): CaptureOptions | null {
  const all = known.map(({ capture }) => capture);
  return all.length && all.every((c) => sameCapture(c, all[0]!)) ? all[0]! : null;
}
