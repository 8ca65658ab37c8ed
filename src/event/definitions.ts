/**
 * Texts for the numbers of event.ts: what ids mean, what a thread and its engines are, and what
 * calls don't show. Each travels before the first record that uses it.
 */
import { OpenFlag } from '../sqlite/constants.ts';
import type { BTreeDefinition } from './b-tree-definitions.ts';
import type { CaptureOptions } from './capture.ts';
import type { ChannelDefinition } from './channels.ts';
import type { DatabaseHeaderDefinition } from './database-headers.ts';
import type { OwnDefinition } from './own-definitions.ts';

/** SQLite's file kinds, as vfsstat.c names them; `memory-journal` isn't a file at all. */
export const FILE_KINDS = ['main-db', 'journal', 'wal', 'temp', 'memory-journal', 'other'] as const;
export type FileKind = (typeof FILE_KINDS)[number];
export const THREAD_KINDS = ['page', 'frame', 'worker', 'shared-worker', 'service-worker'] as const;
export type ThreadKind = (typeof THREAD_KINDS)[number];
/** How an engine waits for asynchronous calls. */
export const SUSPENSIONS = ['none', 'asyncify', 'jspi', 'unknown'] as const;
export const NOTE_TOPICS = [
  'worker-native',
  'service-worker-native',
  'late-start',
  'engine',
  'tracer-error',
  'transport',
  'cut',
  'not-restored',
] as const;

/** SQLITE_OPEN_* type bits -> file kind (sqlite.org/c3ref/c_open_autoproxy.html). */
export function fileKindOfOpenFlags(flags: number): FileKind {
  if (flags & OpenFlag.mainDb) return 'main-db';
  if (flags & OpenFlag.wal) return 'wal';
  if (flags & (OpenFlag.mainJournal | OpenFlag.superJournal)) return 'journal';
  if (flags & (OpenFlag.tempDb | OpenFlag.transientDb | OpenFlag.tempJournal | OpenFlag.subJournal))
    return 'temp';
  return 'other';
}

/** Gives an id its meaning. Sent as one JSON object; ids are per thread and never reused. */
export type Definition =
  | {
      kind: 'file';
      id: number;
      path: string;
      fileKind: FileKind;
      vfs: string;
      engine: number;
      flags: number;
    }
  | { kind: 'opfs-file'; id: number; path: string }
  | { kind: 'idb-store'; id: number; db: string; store: string }
  | { kind: 'idb-database'; id: number; db: string }
  | { kind: 'lock' | 'storage-key' | 'name' | 'message'; id: number; text: string }
  | { kind: 'sql'; id: number; text: string; truncated?: boolean }
  | ({ kind: 'engine'; id: number } & EngineInfo)
  | ({ kind: 'environment'; id: 0 } & ThreadEnvironment)
  /** A thread that couldn't be recorded, or only partly: why, and what the user can do. */
  | {
      kind: 'note';
      id: 0;
      topic: (typeof NOTE_TOPICS)[number];
      text: string;
      url?: string;
    }
  /**
   * The values of a statement's run (capture level 3), as SQL literals; blobs by their length.
   * `of`: seq of the first step of that run.
   */
  | { kind: 'values'; id: number; of: number; values: string[] }
  /**
   * The JavaScript stack of a statement's first prepare or exec on a connection, our own frames
   * left out. `of`: id of its `sql`.
   */
  | { kind: 'stack'; id: number; of: number; connection: number; text: string }
  | ChannelDefinition
  | BTreeDefinition
  | DatabaseHeaderDefinition
  /** From the extension, not from the page. */
  | OwnDefinition
  /** The tracer's cost, measured on this thread at start. */
  | {
      kind: 'cost';
      id: 0;
      nsPerJsEvent: number;
      nsPerVfsEvent: number | null;
      nsPerClockPair: number;
    };

export interface EngineInfo {
  /**
   * The name that its users know: "wa-sqlite", "@sqlite.org/sqlite-wasm", "sql.js", "SQLite
   * (unknown build)", "not SQLite".
   */
  name: string;
  sqliteVersion: string | null;
  sourceId: string | null;
  suspension: (typeof SUSPENSIONS)[number];
  /** Recordings of earlier versions don't have `query`. */
  layers: { vfs: boolean; sql: boolean; counters: boolean; query?: boolean };
  /** Why a layer is missing, or null. */
  note: string | null;
  /** seq of the `wasmInstantiate` that made it; absent if that wasn't recorded. */
  load?: number;
}

export interface ThreadEnvironment {
  url: string;
  threadKind: ThreadKind;
  crossOriginIsolated: boolean;
  /** Smallest step of performance.now() seen on this thread, microseconds. */
  clockStepUs: number;
  userAgent: string;
  hidden: boolean | null;
  /** What was captured. */
  capture: CaptureOptions;
}
