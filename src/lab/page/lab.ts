/**
 * The Lab's page. `globalThis.vfscopeLab` is the API for the command line, which drives this page
 * in a separate browser. It uses the same queue as the buttons.
 */
import { mount } from 'svelte';
import { labStorage } from '../experiments/worker/storage.ts';
import type { LabDoor } from '../experiments/door.ts';
import type { Replayed } from '../experiments/replay/replay.ts';
import { Bench } from './bench.ts';
import { webOrigin } from '../../platform/recordable.ts';
import { isPanelKey } from '../../protocol/panel-trace.ts';
import { offerFor } from './catalog.ts';
import Lab from './Lab.svelte';
import { LabModel } from './lab-model.svelte.ts';
import { RunQueue } from './run-queue.ts';

/** Timeout of one pass. */
const PATIENCE_MS = 300_000;

declare global {
  var vfscopeLab: LabDoor | undefined;
}

const urls = {
  workerUrl: new URL('lab-worker.js', location.href).href,
  keeperUrl: new URL('keeper-worker.js', location.href).href,
};
const bench = (patienceMs = PATIENCE_MS): Bench => new Bench({ ...urls, patienceMs });

async function base64(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let i = 0; i < bytes.length; i += 8192)
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
let pieces: Uint8Array<ArrayBuffer>[] = [];
let driven: Blob | null = null;
/** The command's last run. */
let running: RunQueue | null = null;
let replaying: Bench | null = null;
/** For the replay: the number of polls, and its result so far. */
let soFar: { at: number; replayed: Replayed } | null = null;

globalThis.vfscopeLab = {
  addPiece(piece) {
    pieces.push(bytesOf(piece));
  },
  async takeDatabase() {
    const file = new Blob(pieces);
    pieces = [];
    const own = bench();
    // its worker ends with it
    driven = (await own.take(file, null).finally(() => own.cancel())).file;
  },
  async run(runs, patienceMs) {
    const found = runs.map((run) =>
      run.database && driven
        ? { ...run, database: { name: run.database.name, file: driven } }
        : run,
    );
    const queue = new RunQueue(bench(patienceMs), found, () => {});
    running = queue;
    await queue.go();
    return queue.items.map(({ result, message, left }) => ({ result, message, left }));
  },
  passes(known) {
    if (!running) return null;
    const { progress, environment } = running;
    return {
      at: [progress.done, progress.all],
      environment,
      runs: running.items.map(({ samples, message, left }, i) => ({
        samples: samples.slice(known[i]),
        message,
        left,
      })),
    };
  },
  async stop() {
    await running?.cancel();
    await replaying?.stop();
  },
  async trace(run) {
    return base64(await bench().traced(run));
  },
  async replay(trace, config) {
    replaying = bench();
    soFar = null;
    const done = await replaying
      .replay(
        new Blob([bytesOf(trace)]),
        config,
        () => {},
        (replayed) => (soFar = { at: (soFar?.at ?? 0) + 1, replayed }),
      )
      .finally(() => (replaying = null));
    return { ...done, trace: await base64(done.trace) };
  },
  async replayed(known) {
    if (!soFar || soFar.at === known) return null;
    const { at, replayed } = soFar;
    return { at, report: replayed.report, trace: await base64(replayed.trace) };
  },
  storage: labStorage,
};

const model = new LabModel(bench());
mount(Lab, {
  target: document.body,
  props: { model, storeWorkerUrl: new URL('../devtools/store-worker.js', location.href).href },
});
void model.unfinished.look();
document.documentElement.dataset['ready'] = 'true';

const asked = new URLSearchParams(location.search);
// `?page=<tab>&site=<origin>`: opened from a panel, to copy a database of the page that it inspects
const tab = asked.get('page');
const site = asked.get('site') ?? '';
if (tab !== null && /^\d{1,10}$/.test(tab))
  void model.lookAtPage(Number(tab), URL.canParse(site) ? webOrigin(site) : '');

// `?trace=<key>`: opened from a panel, which hands its recording over
const key = asked.get('trace');
if (isPanelKey(key)) model.replay.panelKey = key;

// `?try=<name>&rule=<finding>`: a finding's advice, run both ways at once, because the button was
// already pressed in the panel
const wanted = asked.get('try');
if (wanted !== null) {
  const offer = offerFor(wanted);
  if (offer) {
    void model.tryIt(offer, asked.get('rule') ?? '');
  } else {
    model.place = 'runs';
    model.error = `The Lab has no experiment “${wanted}”.`;
  }
} else if (model.replay.panelKey !== null) {
  model.place = 'replay';
  void model.replay.takeFromPanel();
}
