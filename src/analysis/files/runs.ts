/**
 * Runs: calls on one file that each continue where the previous one ended, and could have been one
 * call.
 *
 *   xWrite 0+4096, 4096+4096, 8192+4096     xRead 40960+4096      a run of 3 and a run of 1: 2 possible merges
 *
 * Calls on other files in between don't end a run (a checkpoint reads the WAL between its writes).
 * A sync, a truncation, an unlock to NONE, or a call in the other direction on the same file ends
 * it. Writes of two SQL calls aren't a run, because a VFS couldn't delay the first one. Also counts
 * how often writes alternate between a database and its journal.
 */
import type { Definition } from '../../event/definitions.ts';
import { getOrMake } from '../core/maps.ts';
import { databasePath } from '../../event/file-names.ts';
import { Op } from '../../event/event.ts';
import { isVfsOp } from '../../event/operations.ts';
import type { FileKind } from '../../event/definitions.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';
import { owners } from '../core/owners.ts';
import type { Owners } from '../../trace/owners.ts';
import { definedAs, targetOf } from '../../trace/in-memory.ts';
import { fact, type ByThread } from '../core/graph.ts';

/** Upper limits of the histogram's classes: 1, 2, 3-4, 5-8, ... more than 512. */
export const RUN_CLASSES = [
  '1',
  '2',
  '3-4',
  '5-8',
  '9-16',
  '17-32',
  '33-64',
  '65-128',
  '129-256',
  '257-512',
  '513+',
] as const;
export const runClass = (length: number): number =>
  Math.min(RUN_CLASSES.length - 1, length <= 1 ? 0 : 32 - Math.clz32(length - 1));

export interface Runs {
  /** All calls, those that moved bytes, and their runs. */
  all: number;
  calls: number;
  runs: number;
  bytes: number;
  longest: number;
  /** Calls that could have been part of the previous one: calls - runs. */
  possibleMerges: number;
  /** Runs by RUN_CLASSES. */
  histogram: number[];
}
interface FileRuns {
  path: string;
  kind: FileKind;
  reads: Runs;
  writes: Runs;
}

const noRuns = (): Runs => ({
  all: 0,
  calls: 0,
  runs: 0,
  bytes: 0,
  longest: 0,
  possibleMerges: 0,
  histogram: RUN_CLASSES.map(() => 0),
});

interface Open {
  file: FileRuns;
  /** The current run: its direction (0 = none), where it continues, its calls, and its SQL call. */
  way: 0 | 1 | 2;
  end: number;
  length: number;
  owner: number;
}

function close(open: Open): void {
  if (open.way === 0) return;
  const runs = open.way === 1 ? open.file.reads : open.file.writes;
  runs.runs++;
  runs.longest = Math.max(runs.longest, open.length);
  runs.histogram[runClass(open.length)]!++;
  open.way = 0;
}

/**
 * By path and kind; each thread has its own runs. Calls that moved nothing aren't part of a run.
 * The in-memory journal isn't a file.
 */
export const runs = fact('runs', 'how files are used', { owners }, (store, known) =>
  runsOf(store, known),
);

/** A call that continues where the previous one ended, and could have been a part of it. */
type EachMerge = (
  thread: ThreadStore,
  row: number,
  file: Pick<FileRuns, 'path' | 'kind'>,
  isWrite: boolean,
) => void;

/** The same; calls back for all calls of each run except the first. */
export function runsOf(
  store: TraceStore,
  { owners }: { owners: ByThread<Owners> },
  eachMerge?: EachMerge,
): FileRuns[] {
  const files = new Map<string, FileRuns>();
  for (const thread of store.threads) {
    const { events, definitions } = thread;
    const own = owners.of(thread);
    const opens: Open[] = [];
    const byId = new ById<Open | null>();
    const openOf = (id: number): Open | null => {
      const d = definedAs(definitions, id);
      if (d?.kind !== 'file' || d.fileKind === 'memory-journal') return byId.set(id, null);
      const key = `${d.fileKind}\0${d.path}`;
      const none = { path: d.path, kind: d.fileKind, reads: noRuns(), writes: noRuns() };
      const file = getOrMake(files, key, () => none);
      const open: Open = { file, way: 0, end: 0, length: 0, owner: -1 };
      opens.push(open);
      return byId.set(id, open);
    };
    for (let row = 0; row < events.count; row++) {
      const op = events.op[row]!;
      if (!isVfsOp(op)) continue;
      const id = targetOf(events, row);
      let open = byId.get(id);
      if (open === undefined) open = openOf(id);
      if (!open) continue;
      if (op !== Op.xRead && op !== Op.xWrite) {
        if (
          op === Op.xSync ||
          op === Op.xTruncate ||
          op === Op.xClose ||
          (op === Op.xUnlock && events.aux[row] === 0)
        )
          close(open);
        continue;
      }
      const way = op === Op.xRead ? 1 : 2;
      const offset = events.offset[row]!;
      const length = bytesMoved(events, row);
      const runs = way === 1 ? open.file.reads : open.file.writes;
      runs.all++;
      if (length === 0) continue;
      runs.calls++;
      runs.bytes += length;
      if (open.way === way && offset === open.end && (way === 1 || own.sql(row) === open.owner)) {
        open.length++;
        runs.possibleMerges++;
        eachMerge?.(thread, row, open.file, way === 2);
      } else {
        close(open);
        open.way = way;
        open.length = 1;
        open.owner = own.sql(row);
      }
      open.end = offset + length;
    }
    for (const open of opens) close(open);
  }
  return [...files.values()].filter((f) => f.reads.calls + f.writes.calls > 0);
}

export interface Interleaving {
  /** Path of the database. */
  path: string;
  databaseWrites: number;
  journalWrites: number;
  /**
   * How often a write to one file followed a write to the other. One commit needs one; more show
   * that the page cache spilled.
   */
  switches: number;
}

/** By database with a written rollback journal. */
export const interleaving = fact('interleaving', 'how files are used', {}, (store) =>
  interleavingOf(store),
);

/** The same; calls back for each write to the other file than before. */
export function interleavingOf(
  store: TraceStore,
  eachSwitch?: (thread: ThreadStore, row: number, path: string) => void,
): Interleaving[] {
  const found = new Map<string, Interleaving>();
  const partOf = (d: Definition | undefined): { of: Interleaving; journal: boolean } | null => {
    if (d?.kind !== 'file' || (d.fileKind !== 'main-db' && d.fileKind !== 'journal')) return null;
    const path = databasePath(d.path);
    const none = { path, databaseWrites: 0, journalWrites: 0, switches: 0 };
    return { of: getOrMake(found, path, () => none), journal: d.fileKind === 'journal' };
  };
  for (const thread of store.threads) {
    const { events, definitions } = thread;
    const parts = new ById<{ of: Interleaving; journal: boolean } | null>();
    const last = new Map<Interleaving, boolean>();
    for (let row = 0; row < events.count; row++) {
      if (events.op[row] !== Op.xWrite || bytesMoved(events, row) === 0) continue;
      const id = targetOf(events, row);
      const part = getOrMake(parts, id, () => partOf(definitions.get(id)));
      if (!part) continue;
      const { of, journal } = part;
      if (journal) of.journalWrites++;
      else of.databaseWrites++;
      const before = last.get(of);
      if (before !== undefined && before !== journal) {
        of.switches++;
        eachSwitch?.(thread, row, of.path);
      }
      last.set(of, journal);
    }
  }
  return [...found.values()].filter((f) => f.journalWrites > 0);
}
