/**
 * The Lab's page. `globalThis.vfscopeLab` is the door for the command line, which drives this page in a browser of its own: it runs
 * what it is given by the same queue as the buttons.
 */
import { mount } from 'svelte';
import { labStorage } from '../experiments/worker/storage.ts';
import type { ReplayReport } from '../experiments/replay/replay.ts';
import type { Config, Run, RunResult } from '../experiments/types.ts';
import { Bench } from './bench.ts';
import { offerFor } from './catalog.ts';
import Lab from './Lab.svelte';
import { LabModel } from './lab-model.svelte.ts';
import { RunQueue } from './run-queue.ts';

/** Longest time that one pass may take. */
const PATIENCE_MS = 300_000;

export interface DrivenRun {
  result: RunResult | null;
  message: string;
  left: string[];
}
export interface LabDoor {
  /** @param patienceMs longest time for one pass; the rest of the runs goes on */
  run(runs: Run[], patienceMs?: number): Promise<DrivenRun[]>;
  /** A pass with every layer recorded, as the bytes of a .vfst file in base64. */
  trace(run: Run): Promise<string>;
  /** A recording's calls on another configuration; trace in, trace out: bytes of .vfst files in base64. */
  replay(trace: string, config: Config): Promise<{ report: ReplayReport; trace: string; left: string[] }>;
  /** What runs have left in storage. */
  storage(): Promise<string[]>;
}
declare global {
  var vfscopeLab: LabDoor | undefined;
  /** Who drives the page wants to know how far it is. */
  var vfscopeLabProgress: ((done: number, all: number) => void) | undefined;
}

const urls = { workerUrl: new URL('lab-worker.js', location.href).href, keeperUrl: new URL('keeper-worker.js', location.href).href };
const bench = (patienceMs = PATIENCE_MS): Bench => new Bench({ ...urls, patienceMs });

async function base64(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}

globalThis.vfscopeLab = {
  async run(runs, patienceMs) {
    const queue: RunQueue = new RunQueue(bench(patienceMs), runs, () =>
      globalThis.vfscopeLabProgress?.(queue.progress.done, queue.progress.all),
    );
    await queue.go();
    return queue.items.map(({ result, message, left }) => ({ result, message, left }));
  },
  async trace(run) {
    return base64(await bench().traced(run));
  },
  async replay(trace, config) {
    const bytes = Uint8Array.from(atob(trace), (c) => c.charCodeAt(0));
    const done = await bench().replay(new Blob([bytes]), config);
    return { ...done, trace: await base64(done.trace) };
  },
  storage: labStorage,
};

const model = new LabModel(bench());
mount(Lab, { target: document.body, props: { model, storeWorkerUrl: new URL('../devtools/store-worker.js', location.href).href } });
document.documentElement.dataset['ready'] = 'true';

// `?page=<tab>`: opened from a panel, to copy a database of the page that it inspects
const tab = new URLSearchParams(location.search).get('page');
if (tab !== null && /^\d{1,10}$/.test(tab)) void model.lookAtPage(Number(tab));

// `?try=<name>`: a finding's pattern, run both ways at once, as its button promised
const wanted = new URLSearchParams(location.search).get('try');
if (wanted !== null) {
  const offer = offerFor(wanted);
  if (offer) {
    model.choose(offer);
    void model.run();
  } else model.error = `The Lab has no experiment “${wanted}”.`;
}
