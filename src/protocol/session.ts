/**
 * Requests of the main thread to the session's store worker. The main thread has no store: it sends
 * requests and draws the answers. Binary answers are transferred.
 */
import type { Scope } from '../analysis/core/scope.ts';
import type { Layer } from '../event/operations.ts';
import type { EngineInfo } from '../event/definitions.ts';
import type { HeadlineNumber } from '../analysis/numbers/headline-numbers.ts';
import type { PrivacyReport } from '../analysis/privacy/privacy-report.ts';
import type { Keep } from '../trace/retention.ts';
import type { EventRef } from '../trace/store.ts';
import type { Slowdown } from '../event/conditions.ts';
import type { StorageHealth } from '../event/storage-health.ts';
import type { TimelineKind, TimelineLaneFrame, TimelineRow } from '../timeline/timeline-lanes.ts';
import type { ExportFormat } from './export-formats.ts';

/**
 * A page can call `performance.mark('vfscope:freeze')`. The mark is detected without any global of
 * ours in the page.
 */
export const FREEZE_MARK = 'vfscope:freeze';

/** Events that freeze a flight recording, besides the mark. */
export interface FreezeOn {
  /** Result codes of VFS and SQL calls, including extended ones. */
  busy: boolean;
  ioerr: boolean;
  corrupt: boolean;
  /** An uncaught exception of the page. */
  error: boolean;
  /** A commit that takes longer; null = no limit. */
  slowCommitMs: number | null;
}
export interface FlightOptions {
  keep: Keep;
  freezeOn: FreezeOn;
}
/** The trigger that froze a recording, as text, and its event. */
export interface Frozen extends EventRef {
  text: string;
  atUs: number;
}

/** The part that a flight recorder saved when it froze, as a separate trace. */
export interface FrozenPart extends Frozen {
  /** For `recover` and `frozenPart`; null while it is being written. */
  name: string | null;
  bytes: number;
}

/** Limits of a recording's size, and the disk space that its copy should leave free. */
export interface RecordingLimits {
  events: number;
  /** Maximum columns, lanes, and definitions. */
  bytes: number;
  /** Bytes of definitions, as a file counts them. */
  words: number;
  disk: number;
}
/** `browser`: it refused more memory, below the limits. */
export type RoomKind = 'events' | 'memory' | 'words' | 'browser' | 'disk';
/** A limit that a recording is close to, or has reached. */
export interface Room {
  kind: RoomKind;
  /** Used share of the limit, 0 to 1. */
  share: number;
  /** Events or bytes; for the disk the free space; null where it isn't known. */
  limit: number | null;
  /** Time until it is reached, at the rate of the last seconds; null where it isn't known. */
  secondsLeft: number | null;
  /** Since then, only the newest half is retained. */
  reached: boolean;
  /** Number of dropped events. */
  forgotten: number;
}

export interface LiveNumber extends HeadlineNumber {
  /** Name of its place in the strip. */
  slot: string;
}

/**
 * The live strip: totals since the recording began and rates over the last second. null = not known
 * (yet).
 */
export interface LiveStats {
  recording: boolean;
  /** Currently in the trace. */
  events: number;
  /** Recorded since the beginning, including events that a flight recorder has dropped. */
  seen: number;
  /** A flight recorder's state; null where everything is retained. */
  flight: { keep: Keep } | null;
  /** The parts that the last recording's flight recorder froze, the oldest first. */
  frozen: FrozenPart[];
  /** null: no limit is close. */
  room: Room | null;
  bytesReceived: number;
  dropped: number;
  faults: number;
  /** Limits in the strip, in its order. */
  numbers: LiveNumber[];
  /**
   * Messages on ports that no honest thread sends: malformed, or from a thread that hasn't said
   * hello there.
   */
  ignoredMessages: number;
  /**
   * Errors of the session itself, as text for the user: the spool couldn't be written, a thread has
   * another version.
   */
  problems: string[];
  durationUs: number;
  threads: number;
  spooledBytes: number;
  /** Number of worst-case notes, for a badge. */
  notes: number;
}

export type LaneKind = TimelineKind;
export type LaneInfo = TimelineRow;
export interface ThreadRow {
  index: number;
  id: string;
  kind: string;
  title: string;
  url: string;
  events: number;
  dropped: number;
  ended: string | null;
  engines: EngineInfo[];
  notes: { topic: string; text: string; url?: string }[];
  lanes: LaneInfo[];
}

/**
 * One frame of the timeline: per lane what each pixel column shows, and the slices wide enough to
 * be distinguished.
 */
export interface TimelineFrame {
  from: number;
  to: number;
  /** Pixel columns. */
  width: number;
  /** Time over which averaged counters are averaged, microseconds. */
  binUs: number;
  lanes: LaneFrame[];
}
export type LaneFrame = TimelineLaneFrame;

export interface EventFilter extends Pick<Scope, 'thread' | 'statement' | 'table'> {
  /** Free text: matched against operation, file and SQL text, case-insensitive. */
  text: string;
  layers: Layer[] | null;
  /** Only results that are errors. */
  errorsOnly: boolean;
  fromUs: number | null;
  toUs: number | null;
  /** Filters of single columns; absent = anything. */
  where?: EventWhere;
  /** Leave out rows about the recording itself, unless `where` filters for them. */
  withoutOwn?: boolean;
  /** Absent = by time. */
  order?: EventOrder;
}
/** The table's sort order. Events without a duration come last in both directions. */
export interface EventOrder {
  key: 'time' | 'duration';
  descending: boolean;
}
/** Conditions on columns. An event must meet all of them; null and '' = no condition. */
export interface EventWhere {
  /** Index in the trace's threads. */
  thread: number | null;
  /** Operation by its name: xRead, idb.get. */
  op: string | null;
  /** Part of the name of its file or store, case-insensitive. */
  object: string;
  /** Part of its result as text (SQLITE_BUSY, threw), or its result as a number. */
  result: string;
  /** Minimum duration, microseconds. Events that haven't ended don't match. */
  leastUs: number | null;
  /** Minimum bytes moved. */
  leastBytes: number | null;
  /** It read or wrote this page of a database, in the database or as a frame of its WAL; from 1. */
  page: number | null;
}
export interface EventLine extends EventRef {
  t0: number;
  dur: number;
  open: boolean;
  /** It has no duration: a momentary event, or a count. */
  instant: boolean;
  /** Resolution of the thread's clock, microseconds; null where it isn't known. */
  clockStepUs: number | null;
  layer: Layer;
  name: string;
  object: string;
  /** Bytes; null = none. An IndexedDB key is in `detail`. */
  offset: number | null;
  length: number;
  result: number;
  /** The result as text, if it has one: SQLITE_BUSY, threw. */
  resultText: string;
  failed: boolean;
  statement: string;
  connection: number | null;
  /** Lock level, open flags, opcode, IndexedDB mode, durability, and key. */
  detail: string;
}
export interface EventDetails extends EventLine {
  flags: string[];
  threadTitle: string;
  /** Whether messages between threads are recorded there. */
  hasMessages: boolean;
  engine: string;
  parent: (EventRef & { name: string }) | null;
  children: (EventRef & { name: string; dur: number })[];
  childCount: number;
}

/**
 * Maximum number of recordings on disk. The oldest are deleted first, except those that a panel
 * shows or records.
 */
export const HISTORY = {
  recordings: 10,
  /**
   * Maximum for all recordings that no panel has open: this share of vfscope's quota, and this many
   * bytes.
   */
  shareOfQuota: 1 / 4,
  bytes: 2 * 2 ** 30,
} as const;

/** A recording's copy on disk that no other panel uses. */
export interface Spool {
  name: string;
  /**
   * Id of the shown data: the same for all copies of one recording, different for each part that a
   * flight recorder froze.
   */
  id: string;
  /** This panel shows it. */
  shown: boolean;
  /** When the recording began, ms. */
  begunMs: number;
  /** null = the copy lacks its end or doesn't include this. It is known once the copy is opened. */
  events: number | null;
  durationUs: number | null;
  /**
   * When the user last saved the recording as a file, ms; null = never. The file may not exist:
   * browsers don't report failed downloads.
   */
  savedAt: number | null;
  bytes: number;
  origin: string;
  /** Frozen by a flight recorder. */
  frozen: boolean;
}
export interface LoadResult {
  events: number;
  threads: number;
  /** What couldn't be read, as text for the user; [] when the file is complete. */
  warnings: string[];
  /** Reading was canceled. It holds what was read until then. */
  partial: boolean;
}

/** The worker's queries by name: the arguments of each, and its answer. */
export type QueryTable = Record<string, { args: object; answer: unknown }>;

/** Requests, each answered once. A rejected one carries a message for the user. */
export interface SessionApi<Queries extends QueryTable = QueryTable> {
  /**
   * A recording begins, with a spool. The loaded trace stays until `begun`.
   * @returns the recording's id (Spool)
   */
  begin(meta: {
    originMs: number;
    spoolKey: string;
    /** DevTools are open on the page; null = not known. */
    devtools: boolean | null;
    flight: FlightOptions | null;
    limits?: RecordingLimits;
  }): Promise<string>;
  /** It runs: drop the previously loaded trace. Its copy stays on disk. */
  begun(): Promise<void>;
  /** It doesn't run: restore the previously loaded trace. */
  revert(): Promise<void>;
  /** A thread's port, transferred. */
  attach(port: MessagePort): Promise<void>;
  /** The browser's report about the recorded page's storage. */
  storage(when: 'start' | 'stop', health: StorageHealth): Promise<void>;
  /** How much slower the page ran than without a recording. */
  slowdown(slowdown: Slowdown): Promise<void>;
  /** Send stop to every thread, wait for their byes (at most `timeoutMs`), finish the spool. */
  end(timeoutMs: number): Promise<void>;
  clear(): Promise<void>;
  open(file: Blob, name: string): Promise<LoadResult>;
  /**
   * Cancel the current `open` or `recover`. It rejects with an AbortError, or, once `opening` was
   * pushed, retains what was read, with a warning.
   */
  cancelOpen(): Promise<void>;
  /** The loaded trace as a .vfst file. */
  save(): Promise<Blob>;
  /** The file of a frozen part. */
  frozenPart(name: string): Promise<Blob>;
  /**
   * The browser got the file to save. The copy on disk stays, marked as saved.
   * @param part a frozen one
   */
  saved(part?: string): Promise<void>;
  /** In another format; `sanitize` anonymizes it, and `title` is the trace's name in the result. */
  exportAs(options: { format: ExportFormat; sanitize: boolean; title: string }): Promise<Blob>;
  /** Cancel the current export. It rejects with an AbortError. */
  cancelExport(): Promise<void>;
  /** What a copy of the loaded trace would reveal about the app. */
  privacy(): Promise<PrivacyReport>;
  /**
   * Name wasm functions of the loaded trace's CPU samples.
   * @param file a build of the same module that has names
   * @returns functions that got one @throws where it isn't a wasm file, or none fits
   */
  nameFunctions(file: Blob): Promise<number>;
  /** Read a second trace to compare with. */
  openOther(file: Blob, name: string): Promise<LoadResult>;
  /** Compare with the previous recording. @throws where it isn't stored */
  comparePrevious(): Promise<void>;
  closeOther(): Promise<void>;
  stats(): Promise<LiveStats>;
  threads(): Promise<ThreadRow[]>;
  /** Counts of all events, and of those that the timeline draws. */
  extents(): Promise<Pick<SessionChange, 'extent' | 'drawn'>>;
  /** @param request lanes null: the lanes for an overview, without slices */
  timeline(request: {
    from: number;
    to: number;
    width: number;
    lanes: string[] | null;
    /**
     * Excluded time ranges, microseconds, ascending and disjoint. `from` and `to` are positions
     * without the excluded ranges before them.
     */
    pauses?: readonly { from: number; to: number }[];
    /** For the frame; absent = one column. */
    binUs?: number;
  }): Promise<TimelineFrame>;
  /**
   * The event under a point of a lane, or null: the innermost that covers `us`, else the nearest
   * within `slackUs`.
   */
  hit(lane: string, us: number, slackUs: number): Promise<EventRef | null>;
  event(thread: number, seq: number): Promise<EventDetails>;
  /**
   * Sets the filter and returns the number of matching events. Lines are numbered in time order
   * over all threads.
   */
  filterEvents(filter: EventFilter): Promise<number>;
  eventLines(from: number, count: number): Promise<EventLine[]>;
  /** Lines of the filter as CSV, in order. It can be canceled like any export. */
  exportLines(range: { from: number; count: number }): Promise<Blob>;
  /** Place of an event in the filtered order, or -1. */
  lineOf(thread: number, seq: number): Promise<number>;
  /**
   * Run a query by name. Views call `useQuery`.
   * @param id identifies it in `QueryProgress` and `cancelQuery`
   */
  query<N extends keyof Queries>(
    name: N,
    args: Queries[N]['args'],
    id?: number,
  ): Promise<Queries[N]['answer']>;
  /** Cancel a query: it rejects with an AbortError. Results that all queries share stay. */
  cancelQuery(id: number): Promise<void>;
  /** Recordings on disk, the newest first. */
  spools(): Promise<Spool[]>;
  /** Show one of them. @throws where it is gone, or another panel uses it */
  recover(name: string): Promise<LoadResult>;
  /** Delete one that isn't shown. @throws where another panel uses it */
  discard(name: string): Promise<void>;
}

/**
 * Pushed by the worker: the trace has grown or changed. At most ten a second, forty while
 * recording.
 */
export interface SessionChange {
  /** Increases with every change that affects answers of queries. */
  version: number;
  /** Also increases with progress in computing lanes. */
  pictures: number;
  stats: LiveStats;
  extent: [number, number];
  /**
   * The part of the extent where the timeline has something to draw; the whole extent if there is
   * nothing.
   */
  drawn: [number, number];
  /** The set of threads or lanes has changed. */
  threadsChanged: boolean;
}

/** Pushed while a file is being read or exported. */
export interface LoadProgress {
  bytes: number;
  /** null where the total isn't known in advance. */
  totalBytes: number | null;
}
/** Pushed before each step of a long query. */
export interface QueryProgress {
  /** The query's number. */
  id: number;
  /** The next step, as text. */
  what: string;
  /** Steps done, and total steps. */
  done: number;
  of: number;
}
/**
 * `answering`: the answer to a query follows, for this version of the trace. `opening`: the loaded
 * trace has been cleared for a large file. The timeline shows the file's summaries until its events
 * are loaded.
 */
export type SessionPush =
  | { k: 'change'; change: SessionChange }
  | { k: 'opening' }
  | { k: 'progress'; progress: LoadProgress }
  | { k: 'computing'; progress: QueryProgress }
  | { k: 'answering'; id: number; version: number };
