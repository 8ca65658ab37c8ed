/**
 * What if the recorded app's database lay on another VFS: its calls replayed there, counts side by side, and the replay as a trace.
 * Times are an estimate: SQLite itself does not run, and the bytes are made up.
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
import type { EngineModule } from '../engine/builds.ts';
import type { Engines } from '../engine/open-engine.ts';
import { memoryVfs, type VfsMaker } from '../engine/open-host.ts';
import { DEFAULT_CONFIG, type Config, type Counters } from '../model/types.ts';
import { ownEngineOf } from '../model/vfs-facts.ts';
import { countsOf, vfsCallsOf, replayScriptOf, timeInCalls, type ReplayScript } from './calls.ts';
import { errorOf, webCalls, type ReplayError } from './control.ts';
import { Player, type Played, type ReplayModule } from './play.ts';
import { recordedVfs } from './recorded-vfs.ts';

/** By kind of file, as `main-db.xRead`, `journal.xWriteBytes`. */
export type KindCounts = Readonly<Record<string, number>>;
export interface ReplayReport {
  readonly config: Config;
  /** That were made, and those of the recording: more where the replay was interrupted. `recorded` is of those that were made. */
  readonly calls: number;
  readonly callsInAll: number;
  /** `web`: storage calls of the whole recording, by all threads; null where that layer was not recorded. */
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
  /** For `cacheSize`: reads that SQLite's page cache of that size would make, by the miss-ratio curve; null where it does not know. */
  readonly cache: readonly {
    readonly path: string;
    readonly reads: number;
    readonly misses: number | null;
    /** `misses` is a bound. */
    readonly atMost: boolean;
    readonly note: string;
  }[];
  /** How the times are to be taken. */
  readonly estimate: string;
  /** Measured on the VFS that the recording was made on; null: `errorWhy` says why not. */
  readonly error: ReplayError | null;
  readonly errorWhy: string;
}

/** How far a replay is: bytes that the files are filled with, calls made, and calls made to measure the error. */
export interface ReplayProgress {
  readonly stage: 'fill' | 'replay' | 'error';
  readonly done: number;
  readonly all: number;
}
interface ReplayAround {
  readonly engines: Engines;
  readonly makeVfs?: VfsMaker;
  /** Records the storage calls of this thread from now on. @returns what ends it; absent: they are not counted */
  readonly probe?: (recorder: Recorder) => () => void;
  /** Closes the VFS and empties its storage: between the replay and that on the recording's own VFS. */
  readonly clean?: () => Promise<void>;
  readonly onProgress?: (progress: ReplayProgress) => void;
  /** Asked now and then: true = what was replayed by now is the report. */
  readonly interrupted?: () => Promise<boolean>;
}
const ESTIMATE = 'Times are an estimate: the calls were made again without SQLite between them.';

/**
 * @returns the report, and the replay as the bytes of a .vfst file
 * @throws Error with a message for the user where there is nothing to replay, or the VFS fails
 */
export async function replay(
  store: TraceStore,
  asked: Config,
  around: ReplayAround,
): Promise<{ report: ReplayReport; trace: Blob }> {
  const script = replayScriptOf(store);
  if (asked.vfs === 'memory')
    throw new Error('vfs=memory makes no VFS call: choose a VFS to replay on.');
  if (asked.engine !== DEFAULT_CONFIG.engine && asked.engine !== ownEngineOf(asked.vfs))
    throw new Error(`A replay runs on the VFSs of ${DEFAULT_CONFIG.engine} and of sqlite.org.`);
  const summary = summaryOf(store);
  const hasWeb = summary.threads.some(({ layers }) => layers.includes('web'));
  let recorded: ReplayReport['recorded'] = {
    vfs: vfsCounts(summary),
    vfsUs: Math.round(script.recordedUs),
    web: hasWeb ? webCalls(summary.web) : null,
  };
  const { trace, played, web, side } = await playOn(script, asked, around, 'replay');
  const callsInAll = script.calls.length;
  if (played.calls < callsInAll)
    recorded = {
      vfs: countsOf(script, played.calls),
      vfsUs: Math.round(script.calls.slice(0, played.calls).reduce((sum, { us }) => sum + us, 0)),
      web: null, // of the whole recording alone
    };
  const own = recordedVfs(store, summary);
  let error: ReplayError | null = null;
  let errorWhy = `the Lab does not have the recording's VFS: ${own.why}.`;
  if (played.calls < callsInAll) errorWhy = 'the replay was interrupted.';
  else if (script.threads.length < store.threads.filter((t) => vfsCallsOf(t) > 0).length)
    errorWhy = 'only one of its threads is replayed.';
  else if (own.vfs !== null) {
    const on = { ...own, vfs: own.vfs };
    try {
      if (own.vfs === asked.vfs) error = errorOf(on, recorded, side, summary.web, web);
      else {
        await around.clean?.();
        const control = await playOn(script, { ...DEFAULT_CONFIG, vfs: own.vfs }, around, 'error');
        if (control.played.calls < callsInAll) throw new Error('it was interrupted.');
        error = errorOf(on, recorded, control.side, summary.web, control.web);
      }
    } catch (e) {
      errorWhy = `${own.vfs}, which the recording ${own.certain ? 'was made on' : 'was probably made on, a guess'} (${own.why}), could not be replayed on: ${e instanceof Error ? e.message : String(e)}`;
    }
  }
  const report: ReplayReport = {
    config: asked,
    calls: played.calls,
    callsInAll,
    recorded,
    replayed: { vfs: side.vfs, vfsUs: side.vfsUs, web: { ...web, ...side.own } },
    retries: played.retries,
    differing: played.differing,
    leftOut: script.leftOut,
    cache: cacheAt(store, asked.cacheSize),
    estimate: ESTIMATE,
    error,
    errorWhy: error ? '' : errorWhy,
  };
  return { report, trace };
}

interface PlayedOn {
  readonly trace: Blob;
  readonly played: Played;
  /** Storage calls; null where they are not counted. */
  readonly web: Counters | null;
  readonly side: { readonly vfs: KindCounts; readonly vfsUs: number; readonly own: Counters };
}

/** @throws Error with a message for the user where the VFS is not to be had */
async function playOn(
  script: ReplayScript,
  asked: Config,
  around: ReplayAround,
  stage: 'replay' | 'error',
): Promise<PlayedOn> {
  if (asked.vfs === 'absurd-sql')
    throw new Error(
      "absurd-sql refuses a new file whose first bytes hold no page size. A recording holds no bytes, so a replay can't run on it.",
    );
  // no SQLite runs: any module has the memory that a VFS reads names from and writes bytes to
  const own = ownEngineOf(asked.vfs);
  if (own && !around.makeVfs) throw notHere(asked);
  const engine = own ?? asked.engine;
  const { module } = await around.engines.open({ ...asked, engine, build: 'sync' }, 'none');
  const config: Config = { ...asked, engine, build: own ? 'sync' : 'asyncify' };
  const recording = startRecording({
    name: `replay on ${config.vfs}`,
    keep: { kind: 'everything' },
    layers: around.probe ? ['vfs', 'web'] : ['vfs'],
  });
  recording.pause(); // what makes the files ready is no part of the replay
  const unprobe = around.probe?.(recording.recorder); // before the VFS opens what it keeps open
  try {
    return await playInto(recording, script, config, module, around, stage);
  } finally {
    unprobe?.();
  }
}

const notHere = ({ vfs }: Config): Error =>
  new Error(`${vfs} is not to be had here; in Node there are MemoryVFS and MemoryAsyncVFS.`);

async function playInto(
  recording: Recording,
  script: ReplayScript,
  config: Config,
  module: EngineModule,
  around: ReplayAround,
  stage: 'replay' | 'error',
): Promise<PlayedOn> {
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
  instrument(made.vfs, recording);
  recording.resume();
  const played = await player.play(script, at(stage));
  const done = recording.store();
  if (done.dropped)
    throw new Error(
      `${done.dropped} records of the replay didn't fit, so its counts would be wrong. Replay a shorter recording.`,
    );
  const summary = summaryOf(done);
  const vfsUs = Math.round(done.threads.reduce((sum, thread) => sum + timeInCalls(thread), 0));
  const web = around.probe ? webCalls(summary.web) : null;
  return {
    trace: await recording.save(),
    played,
    web,
    side: { vfs: vfsCounts(summary), vfsUs, own: made.counters?.() ?? {} },
  };
}

/** Counts of the summary's files, by kind; SQLite's in-memory journal is no file. */
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
