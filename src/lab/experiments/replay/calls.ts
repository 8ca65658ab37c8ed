/**
 * A recording's VFS calls as a script to repeat on another VFS, without page bytes, which a trace
 * doesn't contain.
 */
import { databaseFiles } from '../../../analysis/core/database-files.ts';
import { Facts } from '../../../analysis/core/graph.ts';
import { databaseName, suffixOf } from '../../../event/file-names.ts';
import { Op } from '../../../event/event.ts';
import { isVfsOp, opName } from '../../../event/operations.ts';
import { VFS_COUNTS } from '../../../analysis/files/file-counts.ts';
import { Rc } from '../../../sqlite/constants.ts';
import type { FileKind } from '../../../event/definitions.ts';
import type { ThreadStore, TraceStore } from '../../../trace/store.ts';
import { countOf } from '../../../text/numbers.ts';

export interface ReplayFile {
  /** Its name in the Lab's storage; null: a temporary file without a name. */
  readonly name: string | null;
  readonly kind: FileKind;
  /** Size in bytes at the beginning of the recording, as far as reads show. */
  readonly size: number;
  /** For a database, its page size in bytes; null: not known, or another kind of file. */
  readonly pageSize: number | null;
}
export interface ReplayCall {
  readonly op: number;
  /** Index in `files`. */
  readonly file: number;
  /** Byte offset, or new size; 0 where the call has none. */
  readonly offset: number;
  readonly length: number;
  /** Open flags, lock level, sync flags, opcode. */
  readonly aux: number;
  /** The recorded result, and the duration, microseconds. */
  readonly result: number;
  readonly us: number;
}
export interface ReplayScript {
  readonly files: readonly ReplayFile[];
  readonly calls: readonly ReplayCall[];
  /** The busiest thread: index in the trace's threads. */
  readonly thread: number;
  /** Threads that are replayed. */
  readonly threads: readonly number[];
  /** Sum of the recorded durations, microseconds, without nested calls of the VFS itself. */
  readonly recordedUs: number;
  /** What the script leaves out, as text. */
  readonly leftOut: readonly string[];
}

const REPLAYED: ReadonlySet<number> = new Set([
  Op.xOpen,
  Op.xClose,
  Op.xRead,
  Op.xWrite,
  Op.xTruncate,
  Op.xSync,
  Op.xFileSize,
  Op.xLock,
  Op.xUnlock,
  Op.xCheckReservedLock,
  Op.xFileControl,
  Op.xSectorSize,
  Op.xDeviceCharacteristics,
  Op.xDelete,
  Op.xAccess,
]);
const MOST_CALLS = 5_000_000;

/**
 * The VFS calls of every thread, each thread's in order. Threads with separate databases are merged
 * by the clock: files are independent, so counts are the same in any order. If two threads share a
 * database, a replay would have to repeat their lock waits with two connections at once. Then only
 * the busiest thread is replayed, and `leftOut` has the reason.
 * @throws Error with a message for the user where the recording has no VFS call, or too many
 */
export function replayScriptOf(store: TraceStore): ReplayScript {
  const counts = store.threads.map((thread) => vfsCallsOf(thread));
  const all = counts.reduce((sum, n) => sum + n, 0);
  if (all === 0)
    throw new Error(
      'The recording has no VFS call: there is nothing to replay. Record the page from its start (“reload” beside Record), so that its engine is found, and let it use the database.',
    );
  const busiest = counts.indexOf(Math.max(...counts));
  const asked = store.threads.map((_, i) => i).filter((i) => counts[i]! > 0);
  const shared = sharedDatabases(asked.map((i) => store.threads[i]!));
  const chosen = shared.length ? [busiest] : asked;
  const calls = chosen.reduce((sum, i) => sum + counts[i]!, 0);
  if (calls > MOST_CALLS)
    throw new Error(
      `The recording has ${calls} VFS calls; a replay takes up to ${MOST_CALLS}. Record a shorter time.`,
    );
  const left = all - calls;
  const cause = `${left} VFS calls of other threads: several threads share ${shared.join(', ')}, and who waited for whom cannot be replayed on one connection`;
  const { list, parts } = new Facts(store).get(databaseFiles);
  const scripts: Scripted[] = [];
  for (const i of chosen)
    scripts.push(
      scriptOf(
        store.threads[i]!,
        scripts.reduce((n, { databases }) => n + databases, 0),
        (id) => list[parts[i]!.get(id)?.database ?? -1]?.pageSize.bytes ?? null,
      ),
    );
  return {
    ...merged(scripts),
    thread: busiest,
    threads: chosen,
    leftOut: [...(left ? [cause] : []), ...new Set(scripts.flatMap((s) => s.leftOut))],
  };
}

type Scripted = Omit<ReplayScript, 'thread' | 'threads'> & {
  readonly at: readonly number[];
  readonly databases: number;
};

const COUNTED: ReadonlySet<number> = new Set(VFS_COUNTS.map((name) => Op[name]));

/**
 * Counts a script's first calls as `fileCounts` counts a recording's: by kind of file, with the
 * bytes of successful reads and writes.
 */
export function countsOf({ files, calls }: ReplayScript, made: number): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (name: string, n: number): void => {
    if (n) counts[name] = (counts[name] ?? 0) + n;
  };
  for (const { op, file, length, result } of calls.slice(0, made)) {
    if (!COUNTED.has(op)) continue;
    const name = `${files[file]!.kind}.${opName(op)}`;
    add(name, 1);
    if (op === Op.xRead || op === Op.xWrite) add(`${name}Bytes`, result === Rc.ok ? length : 0);
  }
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Calls of several threads by begin; each thread's order doesn't change. */
function merged(
  scripts: readonly Scripted[],
): Pick<ReplayScript, 'files' | 'calls' | 'recordedUs'> {
  const [only] = scripts;
  if (scripts.length === 1 && only)
    return { files: only.files, calls: only.calls, recordedUs: only.recordedUs };
  const files: ReplayFile[] = [];
  const calls: { at: number; call: ReplayCall }[] = [];
  for (const script of scripts) {
    const base = files.length;
    files.push(...script.files);
    script.calls.forEach((call, i) =>
      calls.push({ at: script.at[i]!, call: { ...call, file: base + call.file } }),
    );
  }
  calls.sort((a, b) => a.at - b.at); // stable
  return {
    files,
    calls: calls.map(({ call }) => call),
    recordedUs: scripts.reduce((sum, s) => sum + s.recordedUs, 0),
  };
}

/**
 * Paths of databases that more than one thread opened. In-memory VFSs of two workers share nothing,
 * so a path isn't enough, and names decide.
 */
function sharedDatabases(threads: readonly ThreadStore[]): string[] {
  const users = new Map<string, number>();
  for (const { definitions } of threads) {
    const paths = new Set<string>();
    for (const d of definitions.values())
      if (d.kind === 'file' && d.fileKind !== 'temp' && d.fileKind !== 'memory-journal' && d.path)
        paths.add(databaseName(d.path));
    for (const path of paths) users.set(path, (users.get(path) ?? 0) + 1);
  }
  return [...users].flatMap(([path, n]) => (n > 1 ? [path] : []));
}

/** VFS calls of a thread. */
export function vfsCallsOf({ events }: ThreadStore): number {
  let n = 0;
  for (let i = 0; i < events.count; i++) if (isVfsOp(events.op[i]!)) n++;
  return n;
}

/** Time of a thread's VFS calls, microseconds, by the recorder's own begin and end. */
export function timeInCalls({ events }: ThreadStore): number {
  let us = 0;
  for (let i = 0; i < events.count; i++) if (isVfsOp(events.op[i]!)) us += events.dur[i]!;
  return us;
}

/**
 * @param before number of databases of other threads: this thread's are numbered after them
 * @param pageSizeOf of a file by its object id
 */
function scriptOf(
  { events, definitions, lost }: ThreadStore,
  before: number,
  pageSizeOf: (id: number) => number | null,
): Scripted {
  const files: (ReplayFile & { size: number })[] = [];
  const written: number[] = [];
  const byId = new Map<number, number>();
  const databases = new Map<string, string>();
  /** Our name for each file: the database's number and SQLite's suffix. */
  const nameOf = (path: string, kind: FileKind): string | null => {
    if (kind === 'temp' || path === '') return null;
    const base = databaseName(path);
    const known = databases.get(base) ?? `vfscope-lab-${before + databases.size + 1}.db`;
    databases.set(base, known);
    return known + suffixOf(path);
  };
  const fileOf = (id: number): number | null => {
    const known = byId.get(id);
    if (known !== undefined) return known;
    const d = definitions.get(id);
    if (d?.kind !== 'file' || d.fileKind === 'memory-journal') return null;
    const name = nameOf(d.path, d.fileKind);
    const main = d.fileKind === 'main-db';
    const same = name === null ? -1 : files.findIndex((f) => f.name === name);
    const at =
      same >= 0
        ? same
        : files.push({ name, kind: d.fileKind, size: 0, pageSize: main ? pageSizeOf(id) : null }) -
          1;
    byId.set(id, at);
    return at;
  };
  const calls: ReplayCall[] = [];
  const at: number[] = [];
  let [skipped, unknown, recordedUs] = [0, 0, 0];
  for (let i = 0; i < events.count; i++) {
    const op = events.op[i]!;
    if (!isVfsOp(op)) continue;
    const file = fileOf(events.object[i]!);
    if (file === null) {
      unknown++;
      continue;
    }
    if (!REPLAYED.has(op)) {
      skipped++;
      continue;
    }
    const offset = Number.isNaN(events.offset[i]!) ? 0 : events.offset[i]!;
    const [length, result] = [events.length[i]!, events.result[i]!];
    const end = offset + length;
    if (op === Op.xRead && result === 0 && end > (written[file] ?? 0))
      files[file]!.size = Math.max(files[file]!.size, end);
    if (op === Op.xWrite && result === 0) written[file] = Math.max(written[file] ?? 0, end);
    recordedUs += events.dur[i]!;
    at.push(events.t0[i]!);
    calls.push({ op, file, offset, length, aux: events.aux[i]!, result, us: events.dur[i]! });
  }
  const leftOut = [
    ...(skipped
      ? [
          `${countOf(skipped, 'call')} on shared memory or memory maps, which the Lab's VFSs do not have`,
        ]
      : []),
    ...(unknown
      ? [
          `${countOf(unknown, 'call')} on files that the recording does not name, or on SQLite's in-memory journal`,
        ]
      : []),
    ...(lost ? [`${countOf(lost, 'record')} that the recording lost`] : []),
  ];
  return { files, calls, at, databases: databases.size, recordedUs, leftOut };
}
