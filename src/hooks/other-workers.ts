/**
 * Workers that we don't start: notes about those that stay native, and SharedWorkers and service
 * workers where they stay native.
 */
import { Patches } from '../record/patches.ts';
import type { Recorder } from '../record/recorder.ts';
import { SHARED_WAS_RUNNING } from '../protocol/messages.ts';
import type { SharedRelay } from './shared-relay.ts';
import { sharedKey } from './shared-wire.ts';
import { nameOf } from './shared-workers.ts';
import { convertOnce, convertWorkerOnce, isScriptUrl } from './script-address.ts';
import { NATIVES_HOOKED, WORKERS_FILTERED } from './source.ts';
import { absoluteBy } from './worker-repairs.ts';
import { apply, construct } from '../record/reflect.ts';

const SERVICE = 'only the command "vfscope record" can record service workers.';
// only used where the hook is part of the script: other browsers don't have to parse it
const SHARED_UNSEEN = WORKERS_FILTERED
  ? 'it was running before the recording began, or its script came without our hook. Close every page that uses it, then reload this one while you record.'
  : NATIVES_HOOKED && SHARED_WAS_RUNNING;
const SERVICE_UNSEEN = WORKERS_FILTERED
  ? 'it was installed before the recording began. Unregister it (about:debugging) and reload the page while you record to see what it stores.'
  : NATIVES_HOOKED && "vfscope's hook started too late in it. Record again.";
type WorkerTopic = 'worker-native' | 'service-worker-native';
/** Maximum notes of a thread. */
const MOST_NOTES = 200;

/** Adds a note about why the worker of a script isn't recorded, once for each cause. */
export class WorkerNotes {
  private readonly noted = new Set<string>();

  /** @param base URL that relative URLs resolve against */
  constructor(
    private readonly recorder: Recorder,
    private readonly base: () => string,
  ) {}

  /** Never throws. @param script what the app gave as the worker's script */
  note(reason: string, script: unknown, topic: WorkerTopic = 'worker-native'): void {
    try {
      this.noteOnce(reason, script, topic);
    } catch (e) {
      this.recorder.fault('a note on a worker', e);
    }
  }

  private noteOnce(reason: string, script: unknown, topic: WorkerTopic): void {
    const text = String(script);
    const url = text.startsWith('data:')
      ? `${text.slice(0, 60)}...`
      : String(absoluteBy(this.base)(text)).slice(0, 1000);
    const key = `${url}\0${reason}`;
    if (this.noted.has(key) || this.noted.size >= MOST_NOTES) return;
    this.noted.add(key);
    this.recorder.note(topic, `Not recorded: ${reason}`, url);
  }
}

/**
 * Watch the SharedWorkers and service workers that the app starts: they are recorded where their
 * script brings the hook, else noted.
 * @param host `sharedRelay`, where it does
 */
export function wrapOtherWorkers(
  patches: Patches,
  host: {
    base(): string;
    requests?(url: string): void;
    readonly sharedRelay?: SharedRelay | null;
    readonly wrapsShared?: boolean;
  },
  notes: WorkerNotes,
): void {
  const asked = (
    unseen: string,
    unheard: string | false,
    script: unknown,
    name: string,
    topic?: WorkerTopic,
  ): void => {
    const sharedRelay = NATIVES_HOOKED ? host.sharedRelay : null;
    const url = absoluteBy(() => host.base())(String(script)) as string;
    if (WORKERS_FILTERED) host.requests?.(url);
    if (sharedRelay && unheard && /^https?:/.test(url))
      sharedRelay.expect(sharedKey(url, name), () => notes.note(unheard, script, topic));
    else notes.note(unseen, script, topic);
  };
  const scope = globalThis as unknown as Record<string, unknown>;
  if (typeof scope.SharedWorker === 'function' && !host.wrapsShared) {
    const native = scope.SharedWorker as new (...args: unknown[]) => object;
    const ours: typeof native = new Proxy(native, {
      construct: (target, args: unknown[], newTarget) => {
        convertWorkerOnce(args);
        const worker = construct(target, args, newTarget === ours ? target : newTarget) as object;
        asked(SHARED_WAS_RUNNING, SHARED_UNSEEN, args[0], nameOf(args[1]));
        return worker;
      },
    });
    patches.value(globalThis, 'SharedWorker', () => ours);
    patches.value(native.prototype as object, 'constructor', () => ours);
  }
  const container = (scope.ServiceWorkerContainer as { prototype?: object } | undefined)?.prototype;
  patches.method(container, 'register', (native, self, args) => {
    convertOnce(args);
    const registered = apply(native, self, args);
    if (typeof args[0] === 'string' || isScriptUrl(args[0]))
      asked(SERVICE, SERVICE_UNSEEN, args[0], '', 'service-worker-native');
    return registered;
  });
}
