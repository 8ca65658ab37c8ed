/**
 * What the drawing side asks of the session's store worker. The main thread holds no store: it sends requests and draws what
 * comes back. Binary answers are transferred.
 */
import type { Scope } from '../analysis/core/scope.ts';
import type { Layer } from '../event/operations.ts';
import type { EngineInfo } from '../event/definitions.ts';
import type { HeadlineNumber } from '../analysis/report/headline-numbers.ts';
import type { PrivacyReport } from '../analysis/privacy/privacy-report.ts';
import type { Keep } from '../trace/retention.ts';
import type { EventRef } from '../trace/store.ts';
import type { Slowdown } from '../event/conditions.ts';
import type { StorageHealth } from '../event/storage-health.ts';
import type { TimelineKind, TimelineLaneFrame, TimelineRow } from '../timeline/timeline-lanes.ts';
import type { ExportFormat } from './export-formats.ts';

/** A page's console may say `performance.mark('vfscope:freeze')`: seen without any global of ours in the page. */
export const FREEZE_MARK = 'vfscope:freeze';

/** What freezes a flight recording, besides the mark. */
export interface FreezeOn {
  /** Result codes of VFS and SQL calls, extended ones included. */
  busy: boolean;
  ioerr: boolean;
  corrupt: boolean;
  /** An uncaught exception of the page. */
  error: boolean;
  /** A commit that takes longer; null = none does. */
  slowCommitMs: number | null;
}
export interface FlightOptions {
  keep: Keep;
  freezeOn: FreezeOn;
}
/** The trigger that froze a recording: what it was, as text, and its event. */
export interface Frozen extends EventRef {
  text: string;
  atUs: number;
}

/** What a flight recorder kept when it froze: a trace of its own. */
export interface FrozenPart extends Frozen {
  /** For `recover` and `frozenPart`; null while it is written. */
  name: string | null;
  bytes: number;
}

/** Where a recording stops growing, and the disk that its copy should have left. */
export interface RecordingLimits {
  events: number;
  /** Of columns, lanes and definitions. */
  bytes: number;
  /** Bytes of definitions, as a file counts them. */
  words: number;
  disk: number;
}
/** `browser`: it gave no more memory, below the limits. */
export type RoomKind = 'events' | 'memory' | 'words' | 'browser' | 'disk';
/** A limit that a recording is near, or has reached. */
export interface Room {
  kind: RoomKind;
  /** Of the limit, 0..1. */
  share: number;
  /** In events or bytes; of the disk what is left; null where it is not known. */
  limit: number | null;
  /** Until it is reached at the rate of the last seconds; null where that is not known. */
  secondsLeft: number | null;
  /** The newest half is kept since. */
  reached: boolean;
  /** Events that went. */
  forgotten: number;
}

export interface LiveNumber extends HeadlineNumber {
  /** Name of its place in the strip. */
  slot: string;
}

/** The live strip: totals since the recording began and rates over the last second. null = cannot be known (yet). */
export interface LiveStats {
  recording: boolean;
  /** In the trace now. */
  events: number;
  /** Recorded since the beginning, those that a flight recorder has forgotten included. */
  seen: number;
  /** A flight recorder's state; null where everything is kept. */
  flight: { keep: Keep } | null;
  /** What the flight recorder of the last recording froze, the oldest first. */
  frozen: FrozenPart[];
  /** null: there is room for more. */
  room: Room | null;
  bytesReceived: number;
  dropped: number;
  faults: number;
  /** Those of the strip, in its order. */
  numbers: LiveNumber[];
  /** Messages on ports that no honest thread sends: malformed, or in the name of a thread that has not said hello there. */
  ignoredMessages: number;
  /** What went wrong in the session itself, as text for the user: the spool could not be written, a thread of another version. */
  problems: string[];
  durationUs: number;
  threads: number;
  spooledBytes: number;
  /** Worst-case notes count, for a badge. */
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

/** One frame of the timeline: per lane what each pixel column shows, and the slices wide enough to be distinguished. */
export interface TimelineFrame {
  from: number;
  to: number;
  /** Pixel columns. */
  width: number;
  /** What counters that are means are a mean over, microseconds. */
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
  /** What single columns must hold; absent = anything. */
  where?: EventWhere;
  /** Rows about the recording itself are left out, unless `where` asks for them. */
  withoutOwn?: boolean;
  /** Absent = by time. */
  order?: EventOrder;
}
/** How the table is sorted. Events without a duration come last, whichever way. */
export interface EventOrder {
  key: 'time' | 'duration';
  descending: boolean;
}
/** Conditions on columns, all of which an event must meet; null and '' ask for nothing. */
export interface EventWhere {
  /** Place in the trace's threads. */
  thread: number | null;
  /** Operation by its name: xRead, idb.get. */
  op: string | null;
  /** Part of the name of its file or store, in any case. */
  object: string;
  /** Part of its result as text (SQLITE_BUSY, threw), or its result as a number. */
  result: string;
  /** It took at least so long, microseconds; one that has not ended does not count. */
  leastUs: number | null;
  /** It moved at least so many bytes. */
  leastBytes: number | null;
  /** It read or wrote this page of a database, in the database or as a frame of its WAL; from 1. */
  page: number | null;
}
export interface EventLine extends EventRef {
  t0: number;
  dur: number;
  open: boolean;
  /** It has no duration: something that happened, or that was counted. */
  instant: boolean;
  /** Smallest step of the thread's clock, microseconds; null where it is not known. */
  clockStepUs: number | null;
  layer: Layer;
  name: string;
  object: string;
  /** Bytes; null = none. An IndexedDB key is in `detail`. */
  offset: number | null;
  length: number;
  result: number;
  /** The result as text where it has some: SQLITE_BUSY, threw. */
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
  /** Messages between threads are recorded there. */
  hasMessages: boolean;
  engine: string;
  parent: (EventRef & { name: string }) | null;
  children: (EventRef & { name: string; dur: number })[];
  childCount: number;
}

/** How many recordings stay on disk. The oldest go first; none that a panel shows or records. */
export const HISTORY = {
  recordings: 10,
  /** Of those that no panel has open, together: this share of what the browser lets vfscope store, and at most so many bytes. */
  shareOfQuota: 1 / 4,
  bytes: 2 * 2 ** 30,
} as const;

/** A recording's copy on disk that no other panel uses. */
export interface Spool {
  name: string;
  /** Of what is shown: the same for all copies of one recording, another for each part that a flight recorder froze. */
  id: string;
  /** It is what this panel shows. */
  shown: boolean;
  /** When the recording began, ms. */
  begunMs: number;
  /** null = the copy lacks its end, or doesn't say: known once it is opened. */
  events: number | null;
  durationUs: number | null;
  /** When the user last saved the recording as a file, ms; null = never. The file may not exist: browsers don't report failed downloads. */
  savedAt: number | null;
  bytes: number;
  origin: string;
  /** Frozen by a flight recorder. */
  frozen: boolean;
}
export interface LoadResult {
  events: number;
  threads: number;
  /** What could not be read, as text for the user; [] when the file is whole. */
  warnings: string[];
  /** It was given up while it was read, and holds what was there by then. */
  partial: boolean;
}

/** The worker's queries by name: the arguments of each, and its answer. */
export type QueryTable = Record<string, { args: object; answer: unknown }>;

/** Requests, each answered once. A rejected one carries a message for the user. */
export interface SessionApi<Queries extends QueryTable = QueryTable> {
  /** A recording begins, with a spool; what is loaded is kept until `begun`. @returns the recording's id (Spool) */
  begin(meta: {
    originMs: number;
    spoolKey: string;
    /** DevTools are open on the page; null = not known. */
    devtools: boolean | null;
    flight: FlightOptions | null;
    limits?: RecordingLimits;
  }): Promise<string>;
  /** It runs: forget what was loaded before. Its copy stays on disk. */
  begun(): Promise<void>;
  /** It does not: what was loaded before is there again. */
  revert(): Promise<void>;
  /** A thread's port, transferred. */
  attach(port: MessagePort): Promise<void>;
  /** What the browser said of the recorded page's storage. */
  storage(when: 'start' | 'stop', health: StorageHealth): Promise<void>;
  /** How much slower the recorded page runs than it would by itself. */
  slowdown(slowdown: Slowdown): Promise<void>;
  /** Send stop to every thread, wait for their byes (at most `timeoutMs`), finish the spool. */
  end(timeoutMs: number): Promise<void>;
  clear(): Promise<void>;
  open(file: Blob, name: string): Promise<LoadResult>;
  /** Give up the `open` or `recover` that is under way: it rejects with an AbortError, or, once `opening` was pushed, keeps what was read, with a warning. */
  cancelOpen(): Promise<void>;
  /** The loaded trace as a .vfst file. */
  save(): Promise<Blob>;
  /** The file of a part that was frozen. */
  frozenPart(name: string): Promise<Blob>;
  /** The browser was given the file to save: the copy on disk stays, marked. @param part a frozen one */
  saved(part?: string): Promise<void>;
  /** In another format; `sanitize` anonymizes it, `title` is what the trace is called in the result. */
  exportAs(options: { format: ExportFormat; sanitize: boolean; title: string }): Promise<Blob>;
  /** Give up the export that is under way; it rejects with an AbortError. */
  cancelExport(): Promise<void>;
  /** What a copy of the loaded trace would reveal about the app. */
  privacy(): Promise<PrivacyReport>;
  /**
   * Name wasm functions of the loaded trace's CPU samples. @param file a build of the same module that has names
   * @returns functions that got one @throws where it isn't a wasm file, or none fits
   */
  nameFunctions(file: Blob): Promise<number>;
  /** Read a second trace to compare with. */
  openOther(file: Blob, name: string): Promise<LoadResult>;
  /** Compare with the recording before this one. @throws where it is not kept */
  comparePrevious(): Promise<void>;
  closeOther(): Promise<void>;
  stats(): Promise<LiveStats>;
  threads(): Promise<ThreadRow[]>;
  /** All events, and those that the timeline draws. */
  extents(): Promise<Pick<SessionChange, 'extent' | 'drawn'>>;
  /** @param request lanes null: those that an overview needs, without slices */
  timeline(request: {
    from: number;
    to: number;
    width: number;
    lanes: string[] | null;
    /** Times that are left out, microseconds, ascending and disjoint: `from` and `to` are moments without those before them. */
    pauses?: readonly { from: number; to: number }[];
    /** Of the frame; absent = a column. */
    binUs?: number;
  }): Promise<TimelineFrame>;
  /** The event under a point of a lane, or null: the innermost that covers `us`, else the nearest within `slackUs`. */
  hit(lane: string, us: number, slackUs: number): Promise<EventRef | null>;
  event(thread: number, seq: number): Promise<EventDetails>;
  /** Sets the filter and says how many events match; lines are numbered in time order over all threads. */
  filterEvents(filter: EventFilter): Promise<number>;
  eventLines(from: number, count: number): Promise<EventLine[]>;
  /** Lines of the filter as CSV, in their order; it can be given up like any export. */
  exportLines(range: { from: number; count: number }): Promise<Blob>;
  /** Place of an event in the filtered order, or -1. */
  lineOf(thread: number, seq: number): Promise<number>;
  /** Run a query by name. Views call `useQuery`. @param id names it in `QueryProgress` and `cancelQuery` */
  query<N extends keyof Queries>(
    name: N,
    args: Queries[N]['args'],
    id?: number,
  ): Promise<Queries[N]['answer']>;
  /** Cancel a query: it rejects with an AbortError. What it has computed for all stays. */
  cancelQuery(id: number): Promise<void>;
  /** Recordings on disk, the newest first. */
  spools(): Promise<Spool[]>;
  /** Show one of them. @throws where it is gone, or another panel uses it */
  recover(name: string): Promise<LoadResult>;
  /** Delete one that isn't shown. @throws where another panel uses it */
  discard(name: string): Promise<void>;
}

/** Pushed by the worker, unasked: the trace has grown or changed. At most ten a second, forty while recording. */
export interface SessionChange {
  /** Raised with everything that changes what queries answer. */
  version: number;
  /** Raised with that, and with lanes that were computed further. */
  pictures: number;
  stats: LiveStats;
  extent: [number, number];
  /** The part of the extent in which the timeline has something to draw; the extent where it has nothing. */
  drawn: [number, number];
  /** The set of threads or lanes is not what it was. */
  threadsChanged: boolean;
}

/** Pushed while a file is read or exported. */
export interface LoadProgress {
  bytes: number;
  /** null where it is not known before the end. */
  totalBytes: number | null;
}
/** Pushed before each step of a long query. */
export interface QueryProgress {
  /** The query's number. */
  id: number;
  /** What is computed next, as text. */
  what: string;
  /** Steps done, of all. */
  done: number;
  of: number;
}
/**
 * `answering`: the answer to a query follows, and is of this version of the trace. `opening`: the loaded trace has made room for a large
 * file; the timeline shows what its summaries say until its events are there.
 */
export type SessionPush =
  | { k: 'change'; change: SessionChange }
  | { k: 'opening' }
  | { k: 'progress'; progress: LoadProgress }
  | { k: 'computing'; progress: QueryProgress }
  | { k: 'answering'; id: number; version: number };
