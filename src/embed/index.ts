/**
 * `vfscope/hook`: a page or worker records itself, without the extension. Imported before everything else, it starts at once:
 *
 *   import 'vfscope/hook';
 *   ...
 *   await vfscope.download(); // a .vfst file, which the panel, the viewer, and the command open
 *
 * Options are what `globalThis.vfscope` is before the import. It is then this API, which is the default export, too.
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

/** The hook as one function (src/hooks/source.ts): the build puts it here, in the text that workers get, too. */
declare const VFSCOPE_HOOK: (environment: HookEnvironment) => void;
const hook = VFSCOPE_HOOK; // it is long, and stands here once

export interface HookOptions extends Partial<Omit<CaptureOptions, 'messages' | 'instructions'>> {
  /** What is kept in memory while it grows; the last 64 megabytes by default, about a million events. */
  keep?: Keep;
  /** Nothing stays in memory: what is recorded goes to this address, of the page's own server (`vfscope/vite`) or of `vfscope listen`. */
  to?: string;
  /** The same, to a global function that a test runner has put there. */
  via?: string;
}

/** `elsewhere`: the extension records this page, or the page records this worker. */
export type HookState = 'recording' | 'stopped' | 'elsewhere';

const KEEP: Keep = { kind: 'megabytes', megabytes: 64 };
/** For threads that don't answer. */
const STOP_MS = 2000;
/** Threads send twice as often. */
const DRAINED_MS = 100;
/** Name of the global, of options first and of the API then. */
const GLOBAL = 'vfscope';
/** Where a realm says that a hook runs in it (src/hooks/thread.ts). */
const SIGN = Symbol.for('vfscope.thread');

const scope = globalThis as unknown as Record<string | symbol, unknown>;
const isPage = typeof document !== 'undefined';
const isDedicated = 'DedicatedWorkerGlobalScope' in globalThis;

/** What `vfscope/messages` and `vfscope/instructions` have left for the hook, where the app imports them before this module. */
type Carried = Partial<Pick<CaptureOptions, 'messages' | 'instructions'>> & {
  scripts?: CarriedScripts;
};
const { scripts, messages, instructions }: Carried = scope[Symbol.for(CAPTURE_KEY)] ?? {};
Reflect.deleteProperty(scope, Symbol.for(CAPTURE_KEY));

let collector: Collector | null = null;
let state: HookState = 'stopped';
let last: HookOptions = {};

/** What becomes of the recording of this page or worker, now. */
function status(): HookState {
  return state;
}

/** Record from now on, after `stop`. @param options those of the last recording by default @throws where it is recorded already */
function start(options: HookOptions = last): void {
  if (state === 'recording') throw new Error('This page is being recorded: stop first.');
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
  // as the extension's content script answers the hook
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

/** Record nothing more. Resolves when all that its threads recorded is in the trace; a thread that doesn't answer for 2 s is not waited for. */
async function stop(): Promise<void> {
  if (state !== 'recording') return;
  state = 'stopped';
  await collector!.stop(STOP_MS);
}

/** Resolves when what was recorded until now is in the trace, here or where it is sent to. A thread that is blocked says its part later. */
async function flush(): Promise<void> {
  if (state !== 'recording') return;
  await new Promise<void>((done) => setTimeout(done, DRAINED_MS));
  await collector!.flush();
}

/**
 * The trace so far as a `.vfst` file. The recording goes on, unless it was stopped.
 * @throws where the recording is sent away as it goes, or made elsewhere, or the browser has no CompressionStream
 */
async function save(): Promise<Blob> {
  if (!collector)
    throw new Error(
      'This page or worker is recorded by another: by the extension, or by the page that started this worker. Save it there.',
    );
  await flush();
  return collector.save();
}

/** `save`, as a download of the page. @param name of the file; of the page's host by default @throws in a worker, which has no downloads */
async function download(name = `${location.hostname || 'page'}.vfst`): Promise<void> {
  if (!isPage) throw new Error('A worker has no downloads: post what save() returns to its page.');
  const href = URL.createObjectURL(await save());
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser reads it until then
}

const own = { status, start, stop, flush, save, download };
const present = scope[GLOBAL] as HookOptions | typeof own | undefined;
// a second copy of this module, as of another bundle, is the first one's
const api = present && 'save' in present ? present : own;
if (api === own) {
  Object.defineProperty(globalThis, GLOBAL, { value: own, configurable: true, writable: true });
  start((present as HookOptions | undefined) ?? {});
}
export default api;
