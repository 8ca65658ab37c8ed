/** The storage states that a crash can leave behind, derived from a workload's log. */
import { fatesOf, type Fate } from './fates.ts';
import { Disk } from './storage/disk.ts';
import {
  OPENING,
  type Call,
  type CommitCall,
  type FileCall,
  type Logged,
} from './storage/calls.ts';

export interface CrashState {
  readonly disk: Disk;
  /** The crash came after at least this many calls: everything that survived had happened. */
  readonly earliest: number;
  /** And after at most this many: later calls would have stored more. */
  readonly latest: number;
  /** Calls up to `latest` whose effect was lost or torn, as text. */
  readonly lost: readonly string[];
  /** One of a sample: not every subset of the pending calls was tried. */
  readonly sampled: boolean;
}

/** The process dies: completed calls survive. */
export function* processDeaths(log: readonly Logged[]): Generator<CrashState> {
  const disk = new Disk();
  for (let k = 0; k <= log.length; k++) {
    if (k > 0) disk.apply(log[k - 1]!.call);
    yield { disk: disk.copy(), earliest: k, latest: k, lost: [], sampled: false };
  }
}

type Pending<T extends Call> = { readonly call: T; readonly text: string; readonly number: number };

/**
 * Writes, truncates, and relaxed transactions wait for a call that stores them. All other calls
 * store something.
 */
const waits = (call: Call): boolean =>
  call.kind === 'write' ||
  call.kind === 'truncate' ||
  (call.kind === 'commit' && call.durability === 'relaxed');

/** The calls that are durable, and those that are pending. */
class PowerLine {
  private readonly stored = new Disk();
  private files: Pending<FileCall>[] = [];
  private commits: Pending<CommitCall>[] = [];
  /** The last call that made something durable. */
  private since = 0;
  private count = 0;

  take({ call, text }: Logged): void {
    const number = ++this.count;
    if (call.kind === 'write' || call.kind === 'truncate')
      return void this.files.push({ call, text, number });
    if (call.kind === 'commit' && call.durability === 'relaxed')
      return void this.commits.push({ call, text, number });
    this.since = number;
    if (call.kind === 'commit') {
      for (const { call: waiting } of this.commits)
        if (waiting.database === call.database) this.stored.apply(waiting);
      this.commits = this.commits.filter(({ call: { database } }) => database !== call.database);
    } else if (call.kind === 'flush') {
      const mine = ({ call: { file } }: Pending<FileCall>): boolean => file === call.file;
      for (const { call: waiting } of this.files.filter(mine)) this.stored.apply(waiting);
      this.files = this.files.filter((pending) => !mine(pending));
    } else if (call.kind === 'remove') {
      const inside = `${call.file}/`;
      this.files = this.files.filter(
        ({ call: { file } }) => file !== call.file && !file.startsWith(inside),
      );
    }
    this.stored.apply(call);
  }

  /** Everything pending becomes durable: enough time has passed. */
  settle(): void {
    for (const { call } of [...this.files, ...this.commits]) this.stored.apply(call);
    this.files = [];
    this.commits = [];
    this.since = this.count;
  }

  *states(truncates: 'ordered' | 'any', draw: (n: number) => number): Generator<CrashState> {
    const { all, sampled } = fatesOf(
      this.files.map(({ call }) => call),
      truncates,
      draw,
    );
    for (const survived of this.commitPrefixes())
      for (const fates of all) {
        const disk = this.stored.copy();
        let earliest = this.since;
        const lost: string[] = [];
        this.files.forEach(({ call, text, number }, i) => {
          const fate = fates[i]!;
          if (fate !== 'lost') {
            disk.apply(partOf(call, fate));
            earliest = Math.max(earliest, number);
          }
          if (fate !== 'kept') lost.push(`call ${number}: ${text}${tornText(fate)}`);
        });
        for (const { call, text, number } of this.commits)
          if (survived.has(number)) {
            disk.apply(call);
            earliest = Math.max(earliest, number);
          } else lost.push(`call ${number}: ${text}`);
        yield { disk, earliest, latest: this.count, lost, sampled };
      }
  }

  /** In each database, only its oldest transactions can survive. @returns their numbers */
  private commitPrefixes(): ReadonlySet<number>[] {
    let all: number[][] = [[]];
    for (const database of new Set(this.commits.map(({ call }) => call.database))) {
      const mine = this.commits
        .filter(({ call }) => call.database === database)
        .map(({ number }) => number);
      all = all.flatMap((chosen) =>
        [...Array(mine.length + 1).keys()].map((n) => [...chosen, ...mine.slice(0, n)]),
      );
    }
    return all.map((numbers) => new Set(numbers));
  }
}

function partOf(call: FileCall, fate: Exclude<Fate, 'lost'>): FileCall {
  if (fate === 'kept' || call.kind !== 'write') return call;
  const { from, to } = fate;
  return { ...call, at: call.at + from, bytes: call.bytes.subarray(from, to) };
}
const tornText = (fate: Fate): string =>
  typeof fate === 'object' ? ` (torn: bytes ${fate.from} to ${fate.to} survive)` : '';

/**
 * Power fails: for each file, any subset of the calls since its last flush survives. States are
 * made where the most calls are pending, just before a call that makes something durable. They
 * include the states of all earlier crashes.
 */
export function* powerLosses(
  log: readonly Logged[],
  truncates: 'ordered' | 'any',
  draw: (n: number) => number,
): Generator<CrashState> {
  const line = new PowerLine();
  for (let k = 0; k <= log.length; k++) {
    if (k > 0) line.take(log[k - 1]!);
    const next = log[k];
    const opened = log[k - 1]?.phase === OPENING && next?.phase !== OPENING;
    if (!next || opened || !waits(next.call)) yield* line.states(truncates, draw);
    if (opened) line.settle();
  }
}
