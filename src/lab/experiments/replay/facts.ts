/**
 * A recording's facts before a replay: which parts are replayed, which aren't, and the original
 * VFS.
 */
import {
  checkpointChoices,
  type CheckpointChoices,
} from '../../../analysis/what-if/checkpoint-choices.ts';
import { pageSizes, type PageSizes } from '../../../analysis/pages/page-sizes.ts';
import { Facts } from '../../../analysis/core/graph.ts';
import { summary } from '../../../analysis/report/summary.ts';
import type { TraceStore } from '../../../trace/store.ts';
import { vfsCallsOf, replayScriptOf } from './calls.ts';
import { recordedVfs, type RecordedVfs } from './recorded-vfs.ts';

export interface RecordingFacts {
  /** VFS calls that are replayed, and those of all threads. */
  readonly calls: number;
  readonly callsInAll: number;
  readonly threads: number;
  /** Paths of the databases, as the page named them, each at most 200 characters. */
  readonly databases: readonly string[];
  /** The page's names for its VFSs. */
  readonly vfsNames: readonly string[];
  /** The Lab's VFS that made it; without one, the error of a replay isn't known. */
  readonly recordedVfs: RecordedVfs;
  readonly leftOut: readonly string[];
  /** By database, of all threads: reads and writes at other page sizes, an estimate. */
  readonly pageSizes: readonly PageSizes[];
  /** By log: the cost of other values of wal_autocheckpoint. */
  readonly checkpointChoices: readonly CheckpointChoices[];
}
const MOST_CHARACTERS = 200;
const MOST_NAMES = 20;
const short = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

/** @throws Error with a message for the user where there is nothing to replay */
export function recordingFactsOf(store: TraceStore): RecordingFacts {
  const script = replayScriptOf(store);
  const facts = new Facts(store);
  const { files, engines } = facts.get(summary);
  const databases = files
    .filter(({ kind, path }) => kind === 'main-db' && path !== '')
    .map(({ path }) => short(path));
  const vfsNames = engines.flatMap(({ vfs }) => vfs.map(short));
  return {
    calls: script.calls.length,
    callsInAll: store.threads.reduce((n, thread) => n + vfsCallsOf(thread), 0),
    threads: script.threads.length,
    databases: [...new Set(databases)].slice(0, MOST_NAMES),
    vfsNames: [...new Set(vfsNames)].slice(0, MOST_NAMES),
    recordedVfs: recordedVfs(store, facts.get(summary)),
    leftOut: script.leftOut,
    pageSizes: facts
      .get(pageSizes)
      .slice(0, MOST_NAMES)
      .map((sizes) => ({ ...sizes, path: short(sizes.path), vfs: short(sizes.vfs) })),
    checkpointChoices: facts
      .get(checkpointChoices)
      .slice(0, MOST_NAMES)
      .map((log) => ({ ...log, path: short(log.path) })),
  };
}
