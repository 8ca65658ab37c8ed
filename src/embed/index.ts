/**
 * `vfscope/hook`: a page or worker records itself, without the extension. If it is imported first,
 * recording starts at once:
 *
 *   import 'vfscope/hook';
 *   ...
 *   await vfscope.download(); // a .vfst file, which the panel, the viewer, and the command open
 *
 * Options are read from `globalThis.vfscope` at import time. After that, `globalThis.vfscope` is
 * this API, which is also the default export.
 */
import { CAPTURED_LAYERS, type CaptureOptions } from '../event/capture.ts';
import {
  dataOf,
  listen,
  portListen,
  portPost,
  portsOf,
  setTimeout,
  unlisten,
} from '../hooks/natives.ts';
import type { CarriedScripts, HookEnvironment } from '../hooks/source.ts';
import { CAPTURE_KEY } from '../protocol/capture.ts';
import { CONTACT, isPageMessage, type ContentMessage } from '../protocol/messages.ts';
import type { Keep } from '../trace/retention.ts';
import type { Collector } from './collector.ts';
import { OwnLine } from './lines.ts';
import { Memory } from './memory.ts';
import { callOf, postTo, Stream } from './stream.ts';

/**
 * The hook as one function (src/hooks/source.ts). The build inserts it here, as part of the text
 * that workers also get.
 */
declare const VFSCOPE_HOOK: (environment: HookEnvironment) => void;
const hook = VFSCOPE_HOOK; // it is long, so refer to it only once

export interface HookOptions extends Partial<Omit<CaptureOptions, 'messages' | 'instructions'>> {
  /**
   * How much is kept in memory while recording; by default the last 64 megabytes, about a million
   * events.
   */
  keep?: Keep;
  /**
   * Send the recording to this address instead of keeping it in memory: the page's own server
   * (`vfscope/vite`) or `vfscope listen`.
   */
  to?: string;
  /** Send it to this global function, which a test runner has added. */
  via?: string;
}

/** `elsewhere`: the extension records this page, or the page records this worker. */
export type HookState = 'recording' | 'stopped' | 'elsewhere';

const KEEP: Keep = { kind: 'megabytes', megabytes: 64 };
/** For threads that don't answer. */
const STOP_MS = 2000;
/** Threads send at twice this rate. */
const DRAINED_MS = 100;
/** Name of the global: options first, then the API. */
const GLOBAL = 'vfscope';
/** Marks a realm in which a hook runs (src/hooks/thread.ts). */
const SIGN = Symbol.for('vfscope.thread');

const scope = globalThis as unknown as Record<string | symbol, unknown>;
const isPage = typeof document !== 'undefined';
const isDedicated = 'DedicatedWorkerGlobalScope' in globalThis;

/**
 * Data that `vfscope/messages` and `vfscope/instructions` leave for the hook, if the app imports
 * them before this module.
 */
type Carried = Partial<Pick<CaptureOptions, 'messages' | 'instructions'>> & {
  scripts?: CarriedScripts;
};
const { scripts, messages, instructions }: Carried = scope[Symbol.for(CAPTURE_KEY)] ?? {};
Reflect.deleteProperty(scope, Symbol.for(CAPTURE_KEY));

let collector: Collector | null = null;
let state: HookState = 'stopped';
let last: HookOptions = {};

/** State of the recording of this page or worker. */
function status(): HookState {
  return state;
}

/**
 * Start recording again after `stop`. @param options those of the last recording by default @throws
 * if it is already being recorded
 */
function start(options: HookOptions = last): void {
  if (state === 'recording')
    throw new Error('This page is already being recorded. Stop that recording first.');
  last = options;
  if (scope[SIGN] !== undefined) {
    state = 'elsewhere';
    return;
  }
  const { to, via, keep = KEEP } = options;
  // any recorded page of the origin relays for these
  const own = isPage || isDedicated ? collectorOf(to, via, keep) : null;
  collector = own;
  if (isPage) startPage(options, own!);
  else startWorker(options, own);
  state = own ? 'recording' : 'elsewhere';
}

const collectorOf = (to: string | undefined, via: string | undefined, keep: Keep): Collector =>
  via !== undefined
    ? new Stream(callOf(via), 'the test')
    : to !== undefined
      ? new Stream(postTo(to), to)
      : new Memory(keep);

function startPage(options: HookOptions, own: Collector): void {
  const { layers = CAPTURED_LAYERS, capture, stacks, buffer } = options;
  const without = CAPTURED_LAYERS.filter((layer) => !layers.includes(layer));
  scope[Symbol.for(CAPTURE_KEY)] = {
    ...{ capture, stacks, buffer, without, messages, instructions, scripts },
  };
  const line = new OwnLine();
  // the same answer as the extension's content script gives the hook
  const onContact = (event: Event): void => {
    const [port] = portsOf(event);
    if (!port) return;
    event.preventDefault();
    unlisten(window, CONTACT, onContact, true);
    portListen(port, (said) => {
      const [offered] = portsOf(said);
      const message = dataOf(said);
      if (!offered || !isPageMessage(message) || message.k !== 'offer') return;
      line.connect(offered);
      own.attach(line);
      portPost(port, { k: 'connected' } satisfies ContentMessage);
    });
  };
  listen(window, CONTACT, onContact, true);
  hook({ role: 'page', says: line.says });
}

function startWorker(
  { capture, layers, stacks, buffer }: HookOptions,
  own: Collector | null,
): void {
  const environment = {
    role: 'filtered',
    capture: { capture, layers, stacks, buffer, messages, instructions },
    scripts,
  } as const;
  if (!own) return hook(environment);
  const line = new OwnLine();
  own.attach(line);
  const takes = (port: MessagePort): void => line.connect(port);
  hook({ ...environment, says: line.says, takes });
}

/**
 * Stop recording. Resolves when all records of its threads are in the trace. A thread that doesn't
 * answer within 2 s is skipped.
 */
async function stop(): Promise<void> {
  if (state !== 'recording') return;
  state = 'stopped';
  await collector!.stop(STOP_MS);
}

/**
 * Resolves when everything recorded so far is in the trace, here or at the receiver. A blocked
 * thread sends its part later.
 */
async function flush(): Promise<void> {
  if (state !== 'recording') return;
  await new Promise<void>((done) => setTimeout(done, DRAINED_MS));
  await collector!.flush();
}

/**
 * The trace so far as a `.vfst` file. The recording continues, unless it was stopped.
 * @throws if the recording is sent away as it is made, or is made elsewhere, or the browser has no
 * CompressionStream
 */
async function save(): Promise<Blob> {
  if (!collector)
    throw new Error(
      'This page or worker is already being recorded, by the extension or by the page that started this worker. Save the recording there.',
    );
  await flush();
  return collector.save();
}

/**
 * `save` as a download of the page. @param name of the file; the page's host by default @throws in
 * a worker, which can't download
 */
async function download(name = `${location.hostname || 'page'}.vfst`): Promise<void> {
  if (!isPage) throw new Error('A worker has no downloads: post what save() returns to its page.');
  const href = URL.createObjectURL(await save());
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser reads it until then
}

const own = { status, start, stop, flush, save, download };
const present = scope[GLOBAL] as HookOptions | typeof own | undefined;
// a second copy of this module, for example in another bundle, reuses the first
const api = present && 'save' in present ? present : own;
if (api === own) {
  Object.defineProperty(globalThis, GLOBAL, { value: own, configurable: true, writable: true });
  start((present as HookOptions | undefined) ?? {});
}
export default api;
