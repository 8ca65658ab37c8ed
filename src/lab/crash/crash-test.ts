/**
 * A crash test: runs a workload once on emulated storage, makes every crash that its storage calls
 * allow, and recovers and checks each resulting state with the same VFS. The result is what holds
 * after all of them, with the first call that breaks it.
 */
import { DEFAULT_CONFIG, type Config } from '../experiments/model/types.ts';
import type { Environment } from '../experiments/model/environment-types.ts';
import { buildFor } from '../experiments/worker/builds-here.ts';
import { seeded } from '../experiments/workloads/random.ts';
import { powerLosses, processDeaths, type CrashState } from './crash-states.ts';
import { Judge, type Verdict } from './judge.ts';
import {
  LEVELS,
  type Breach,
  type CrashConfig,
  type CrashOptions,
  type CrashResult,
  type Guarantee,
} from './model.ts';
import type { Opener } from './open.ts';
import { LiveStorage } from './storage/live-storage.ts';
import type { StorageLog } from './storage/calls.ts';
import { nextTask } from './storage/next-task.ts';
import { emulate } from './storage/realm.ts';
import { runWorkload } from './workload.ts';

const SEED = 2026;
const SETTLING_TASKS = 100;

/** The Lab's settings for it. WAL without shared memory needs exclusive locking. */
export function configOf({ vfs, journalMode, synchronous, durability }: CrashConfig): Config {
  return {
    ...DEFAULT_CONFIG,
    vfs,
    build: buildFor(vfs, DEFAULT_CONFIG.engine, false),
    journalMode,
    synchronous,
    lockingMode: journalMode === 'wal' ? 'exclusive' : null,
    durability,
  };
}

interface Around {
  readonly environment: Environment;
  /** Called after each crash with the number made so far. An exception from it ends the test. */
  readonly onCrash?: (crashes: number) => void | Promise<void>;
}

/**
 * @throws where the VFS or SQLite rejects the configuration, or the workload fails without a crash
 */
export async function crashTest(
  config: CrashConfig,
  open: Opener,
  { commits, truncates }: CrashOptions,
  { environment, onCrash }: Around,
): Promise<CrashResult> {
  const settings = configOf(config);
  const storage = new LiveStorage();
  const restore = emulate(storage);
  let ran: Awaited<ReturnType<typeof runWorkload>>;
  try {
    ran = await runWorkload(open, settings, commits, storage.log);
    // transactions that nothing waits for complete, as they do in a live process
    for (let task = 0; task < SETTLING_TASKS; task++) await new Promise<void>(nextTask);
  } finally {
    restore();
  }
  const { log } = storage;
  const judge = new Judge(
    open,
    settings.lockingMode === null ? '' : `PRAGMA locking_mode=${settings.lockingMode}`,
  );
  const end = await judge.verdictOn(storage.disk);
  if (end.cause !== null || end.recovered !== commits)
    throw new Error(
      `the workload failed without a crash: ${end.cause ?? `${end.recovered} of ${commits} commits are there`}.`,
    );
  let crashes = 0;
  const guarantee = (states: Iterable<CrashState>): Promise<Guarantee> =>
    guaranteeOf(states, log, judge, () => onCrash?.(++crashes));
  return {
    ...{ config, ...ran, environment },
    calls: log.calls.length,
    commits,
    processDeath: await guarantee(processDeaths(log.calls)),
    powerLoss: await guarantee(powerLosses(log.calls, truncates, seeded(SEED))),
  };
}

type Broken = keyof Guarantee['first'];

async function guaranteeOf(
  states: Iterable<CrashState>,
  log: StorageLog,
  judge: Judge,
  onCrash: () => void | Promise<void> | undefined,
): Promise<Guarantee> {
  let mostLost = 0;
  const lostCommits = new Set<number>();
  const first: Record<Broken, Breach | null> = { lost: null, half: null, corrupt: null };
  const add = (level: Broken, breach: Breach): void =>
    void (first[level] = earlier(first[level], breach));
  const points = new Set<number>();
  const sampledPoints = new Set<number>();
  let count = 0;
  for (const state of states) {
    count++;
    points.add(state.latest);
    if (state.sampled) sampledPoints.add(state.latest);
    const verdict = await judge.verdictOn(state.disk);
    await onCrash();
    if (verdict.cause !== null) {
      const level = verdict.recovered === null ? 'corrupt' : 'half';
      add(level, breachOf(state, state.earliest, verdict, log));
      continue;
    }
    const missing = log.acknowledgedAt(state.latest) - verdict.recovered!;
    if (missing <= 0) continue;
    mostLost = Math.max(mostLost, missing);
    for (let n = 1; n <= missing; n++) lostCommits.add(verdict.recovered! + n);
    // the crash may come before the lost commit was acknowledged: then no promise is broken yet
    const acknowledged = log.acknowledged[verdict.recovered!]!;
    add('lost', breachOf(state, Math.max(state.earliest, acknowledged), verdict, log));
  }
  return {
    level: LEVELS.findLast((level) => level !== 'kept' && first[level]) ?? 'kept',
    mostLost,
    lostCommits: [...lostCommits].sort((a, b) => a - b),
    first,
    states: count,
    points: points.size,
    sampledPoints: sampledPoints.size,
  };
}

/** For two crashes after the same call, the one that lost fewer calls is clearer. */
function earlier(one: Breach | null, other: Breach): Breach {
  if (!one || other.afterCall < one.afterCall) return other;
  return other.afterCall === one.afterCall && other.lost.length < one.lost.length ? other : one;
}

function breachOf(
  { lost }: CrashState,
  afterCall: number,
  { recovered, cause }: Verdict,
  log: StorageLog,
): Breach {
  const done = log.calls[afterCall - 1];
  const next = log.calls[afterCall];
  return {
    afterCall,
    call: done?.text ?? null,
    nextCall: next?.text ?? null,
    phase: (done ?? next)?.phase ?? log.phase,
    lost: lost.filter((text) => Number(/^call (\d+)/.exec(text)![1]) <= afterCall),
    acknowledged: log.acknowledgedAt(afterCall),
    recovered,
    cause,
  };
}
