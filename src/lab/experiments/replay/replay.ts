/**
 * The recorded app's database on another VFS: replays the calls, compares counts, and returns the
 * replay as a trace. Times are estimates: SQLite itself doesn't run, and the bytes are generated.
 */
import { summaryOf, type Summary } from '../../../analysis/report/summary.ts';
import { cachePages } from '../../../analysis/cache/cache-size.ts';
import { missRatioAt, missRatios } from '../../../analysis/cache/miss-ratio.ts';
import { Facts } from '../../../analysis/core/graph.ts';
import type { Recorder } from '../../../record/recorder.ts';
import type { TraceStore } from '../../../trace/store.ts';
import {
  instrument,
  startRecording,
  type Recording,
} from '../../../vfs-instrumented/library/index.ts';
import { engineFacts, type Engines } from '../engine/open-engine.ts';
import { memoryVfs, type VfsMaker } from '../engine/open-host.ts';
import type { EngineFacts, Environment } from '../model/environment-types.ts';
import { DEFAULT_CONFIG, type Config, type Counters } from '../model/types.ts';
import { ownEngineOf } from '../model/vfs-facts.ts';
import { countsOf, vfsCallsOf, replayScriptOf, timeInCalls, type ReplayScript } from './calls.ts';
import { errorOf, webCalls, type ReplayError } from './control.ts';
import { Player, type Played, type ReplayModule } from './play.ts';
import { recordedVfs } from './recorded-vfs.ts';
import { scriptOn } from './script-on.ts';

/** By kind of file, as `main-db.xRead`, `journal.xWriteBytes`. */
export type KindCounts = Readonly<Record<string, number>>;
export interface ReplayReport {
  readonly config: Config;
  /** The VFS's own time. SQLite itself doesn't run. */
  readonly engine: EngineFacts;
  readonly environment: Environment;
  /**
   * Number of calls made, and of all calls in the recording, which is larger if the replay was
   * interrupted. `recorded` covers the calls made.
   */
  readonly calls: number;
  readonly callsInAll: number;
  /**
   * `web`: storage calls of the whole recording, by all threads; null where that layer wasn't
   * recorded.
   */
  readonly recorded: {
    readonly vfs: KindCounts;
    readonly vfsUs: number;
    readonly web: Counters | null;
  };
  readonly replayed: { readonly vfs: KindCounts; readonly vfsUs: number; readonly web: Counters };
  /** Calls made again, because the VFS had to wait first. */
  readonly retries: number;
  readonly differing: Readonly<Record<string, number>>;
  readonly leftOut: readonly string[];
  /**
   * For `cacheSize`: reads that SQLite's page cache of that size would make, by the miss-ratio
   * curve; null = not known.
   */
  readonly cache: readonly {
    readonly path: string;
    readonly reads: number;
    readonly misses: number | null;
    /** `misses` is an upper bound. */
    readonly atMost: boolean;
    readonly note: string;
  }[];
  /** How to read the times. */
  readonly estimate: string;
  /** Measured on the recording's original VFS; null: `errorWhy` has the reason. */
  readonly error: ReplayError | null;
  readonly errorWhy: string;
}

/** A replay's progress: bytes written to files, calls made, and calls made to measure the error. */
export interface ReplayProgress {
  readonly stage: 'fill' | 'replay' | 'error';
  readonly done: number;
  readonly all: number;
}
export interface Replayed {
  readonly report: ReplayReport;
  /** The bytes of a .vfst file. */
  readonly trace: Blob;
}
interface ReplayAround {
  readonly engines: Engines;
  readonly environment: Environment;
  readonly makeVfs?: VfsMaker;
  /**
   * Records the storage calls of this thread from now on.
   * @returns a function that ends it; absent: they aren't counted
   */
  readonly probe?: (recorder: Recorder) => () => void;
  /**
   * Closes the VFS and empties its storage, between the replay and the one on the recording's own
   * VFS.
   */
  readonly clean?: () => Promise<void>;
  readonly onProgress?: (progress: ReplayProgress) => void;
  /** Polled: true = stop and report what was replayed so far. */
  readonly interrupted?: () => Promise<boolean>;
  /** Receives what was replayed so far, rate-limited. It remains if the replay's thread ends. */
  readonly soFar?: { readonly everyMs: number; readonly take: (soFar: Replayed) => void };
}
const INTERRUPTED = 'the replay was interrupted.';
const INTERRUPTED_ERROR = 'it was interrupted while it was measured.';
const ESTIMATE = 'Times are an estimate: the calls were repeated without SQLite between them.';

/**
 * @throws Error with a message for the user where there is nothing to replay, or the VFS fails
 */
export async function replay(
  store: TraceStore,
  asked: Config,
  around: ReplayAround,
): Promise<Replayed> {
  const whole = replayScriptOf(store);
  const script = scriptOn(asked.vfs, whole);
  if (asked.vfs === 'memory')
    throw new Error('vfs=memory makes no VFS call: choose a VFS to replay on.');
  if (asked.engine !== DEFAULT_CONFIG.engine && asked.engine !== ownEngineOf(asked.vfs))
    throw new Error(
      `A replay runs on the VFSs of ${DEFAULT_CONFIG.engine}, of sqlite.org, and of absurd-sql.`,
    );
  const summary = summaryOf(store);
  const hasWeb = summary.threads.some(({ layers }) => layers.includes('web'));
  const callsInAll = script.calls.length;
  /**
   * For the same number of calls: the recording's own counts if the script has all of its calls.
   */
  const recordedOf = (calls: number): ReplayReport['recorded'] =>
    calls < whole.calls.length
      ? {
          vfs: countsOf(script, calls),
          vfsUs: Math.round(script.calls.slice(0, calls).reduce((sum, { us }) => sum + us, 0)),
          // only for the whole recording
          web: calls < callsInAll || !hasWeb ? null : webCalls(summary.web),
        }
      : {
          vfs: vfsCounts(summary),
          vfsUs: Math.round(whole.recordedUs),
          web: hasWeb ? webCalls(summary.web) : null,
        };
  const reportOf = (
    { played, web, side, engine }: PlayedOn,
    error: ReplayError | null,
    errorWhy: string,
  ): ReplayReport => ({
    ...{ config: asked, engine, environment: around.environment },
    calls: played.calls,
    callsInAll,
    recorded: recordedOf(played.calls),
    replayed: { vfs: side.vfs, vfsUs: side.vfsUs, web },
    retries: played.retries,
    differing: played.differing,
    leftOut: script.leftOut,
    cache: cacheAt(store, asked.cacheSize),
    estimate: ESTIMATE,
    error,
    errorWhy: error ? '' : errorWhy,
  });
  const { soFar } = around;
  const done = await playOn(script, asked, around, 'replay', (on) =>
    soFar?.take({ report: reportOf(on, null, INTERRUPTED), trace: on.trace }),
  );
  const { trace, played } = done;
  const own = recordedVfs(store, summary);
  let error: ReplayError | null = null;
  let errorWhy = `the Lab does not have the recording's VFS: ${own.why}.`;
  if (played.calls < callsInAll) errorWhy = INTERRUPTED;
  else if (whole.threads.length < store.threads.filter((t) => vfsCallsOf(t) > 0).length)
    errorWhy = 'only one of its threads is replayed.';
  else if (own.vfs !== null) {
    const on = { ...own, vfs: own.vfs };
    const recorded = recordedOf(whole.calls.length);
    const counted = (web: Counters): Counters | null => (around.probe ? web : null);
    try {
      if (own.vfs === asked.vfs && script === whole)
        error = errorOf(on, recorded, done.side, summary.web, counted(done.web));
      else {
        soFar?.take({ report: reportOf(done, null, INTERRUPTED_ERROR), trace });
        await around.clean?.();
        const control = await playOn(
          scriptOn(own.vfs, whole),
          { ...DEFAULT_CONFIG, vfs: own.vfs },
          around,
          'error',
        );
        if (control.played.calls < whole.calls.length) throw new Error('it was interrupted.');
        error = errorOf(on, recorded, control.side, summary.web, counted(control.web));
      }
    } catch (e) {
      errorWhy = `${own.vfs}, which the recording ${own.certain ? 'was made on' : 'was probably made on, a guess'} (${own.why}), could not be replayed on: ${e instanceof Error ? e.message : String(e)}`;
    }
  }
  return { report: reportOf(done, error, errorWhy), trace };
}

interface PlayedOn {
  readonly engine: EngineFacts;
  readonly trace: Blob;
  readonly played: Played;
  /** Storage calls, if counted, and the VFS's own counters. */
  readonly web: Counters;
  readonly side: { readonly vfs: KindCounts; readonly vfsUs: number };
}

/** @throws Error with a message for the user where the VFS isn't available */
async function playOn(
  script: ReplayScript,
  asked: Config,
  around: ReplayAround,
  stage: 'replay' | 'error',
  take?: (soFar: PlayedOn) => void,
): Promise<PlayedOn> {
  // no SQLite runs: any module has the memory from which a VFS reads names, and to which it writes
  // bytes
  const own = ownEngineOf(asked.vfs);
  if (own && !around.makeVfs) throw notHere(asked);
  const engine = own ?? asked.engine;
  const opened = await around.engines.open({ ...asked, engine, build: 'sync' }, 'none');
  const config: Config = { ...asked, engine, build: own ? 'sync' : 'asyncify' };
  const recording = startRecording({
    name: `replay on ${config.vfs}`,
    keep: { kind: 'everything' },
    layers: around.probe ? ['vfs', 'web'] : ['vfs'],
  });
  recording.pause(); // preparing the files isn't part of the replay
  const unprobe = around.probe?.(recording.recorder); // before the VFS opens what it keeps open
  try {
    return await playInto(recording, script, config, opened, around, stage, take);
  } finally {
    unprobe?.();
  }
}

const notHere = ({ vfs }: Config): Error =>
  new Error(`${vfs} isn't available here. In Node there are MemoryVFS and MemoryAsyncVFS.`);

async function playInto(
  recording: Recording,
  script: ReplayScript,
  config: Config,
  opened: Awaited<ReturnType<Engines['open']>>,
  around: ReplayAround,
  stage: 'replay' | 'error',
  take?: (soFar: PlayedOn) => void,
): Promise<PlayedOn> {
  const { module } = opened;
  const engine = engineFacts(opened, 'sync');
  const made = (await around.makeVfs?.(config, module, 'lab')) ?? (await memoryVfs(config, module));
  if (!made) throw notHere(config);
  const player = new Player(made.vfs, module as ReplayModule);
  const at =
    (stage: ReplayProgress['stage']) =>
    async (done: number, all: number): Promise<boolean> => {
      around.onProgress?.({ stage, done, all });
      return (await around.interrupted?.()) ?? false;
    };
  if (!(await player.prepare(script.files, at('fill'))))
    throw new Error('interrupted before a call was made.');
  const filled = made.counters?.() ?? {}; // preparing the files isn't part of the replay
  const playedOn = async (played: Played): Promise<PlayedOn> => {
    const store = recording.store();
    if (store.dropped)
      throw new Error(
        `${store.dropped} records of the replay didn't fit, so its counts would be wrong. Replay a shorter recording.`,
      );
    const summary = summaryOf(store);
    const own = Object.entries(made.counters?.() ?? {}).map(
      ([name, n]) => [name, n - (filled[name] ?? 0)] as const,
    );
    return {
      engine,
      trace: await recording.save(),
      played,
      web: { ...(around.probe ? webCalls(summary.web) : {}), ...Object.fromEntries(own) },
      side: {
        vfs: vfsCounts(summary),
        vfsUs: Math.round(store.threads.reduce((sum, thread) => sum + timeInCalls(thread), 0)),
      },
    };
  };
  const pace = new Pace(around.soFar?.everyMs ?? Infinity);
  instrument(made.vfs, recording);
  recording.resume();
  const played = await player.play(script, async (done, all) => {
    if (take && done > 0) await pace.whenDue(async () => take(await playedOn(player.played(done))));
    return at(stage)(done, all);
  });
  return playedOn(played);
}

/** Often enough to lose little, and rarely enough to take a tenth of the time. */
class Pace {
  private next: number;
  constructor(private readonly everyMs: number) {
    this.next = performance.now() + everyMs;
  }
  async whenDue(work: () => Promise<void>): Promise<void> {
    const begun = performance.now();
    if (begun < this.next) return;
    await work();
    const now = performance.now();
    this.next = now + Math.max(this.everyMs, 9 * (now - begun));
  }
}

/** Counts of the summary's files, by kind; SQLite's in-memory journal isn't a file. */
function vfsCounts(summary: Summary): KindCounts {
  const out: Record<string, number> = {};
  for (const { kind, vfs } of summary.files) {
    if (kind === 'memory-journal') continue;
    for (const [name, n] of Object.entries(vfs))
      if (n) out[`${kind}.${name}`] = (out[`${kind}.${name}`] ?? 0) + n;
  }
  return Object.fromEntries(Object.entries(out).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function cacheAt(store: TraceStore, cacheSize: number | null): ReplayReport['cache'] {
  if (cacheSize === null) return [];
  return new Facts(store).get(missRatios).map((curve) => {
    const pages = cachePages(String(cacheSize), curve.pageSize.bytes);
    const ratio = pages === null ? null : missRatioAt(curve, pages);
    return {
      path: curve.path,
      reads: curve.reads,
      misses: ratio === null ? null : Math.round(ratio * curve.requests),
      atMost: curve.kind === 'at most',
      note: curve.note,
    };
  });
}
