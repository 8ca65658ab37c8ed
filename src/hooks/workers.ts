/**
 * The Worker constructor of this realm while a recording runs: every worker that it makes runs our
 * hook before its first line, or stays native with a note about why. shared-workers.ts handles
 * SharedWorkers; service workers are only noted.
 */
import { MARK } from '../protocol/messages.ts';
import { WRAPPED } from '../protocol/native-workers.ts';
import type { Refusal } from '../protocol/page-policy.ts';
import { Patches } from '../record/patches.ts';
import type { Recorder } from '../record/recorder.ts';
import { BlobScripts } from './blob-scripts.ts';
import type { ToWorker } from './creator-wire.ts';
import {
  createObjectURL,
  listen,
  NativeURL,
  origin,
  randomId,
  revokeObjectURL,
  unlisten,
} from './natives.ts';
import { FilteredWorkers, type WorkerEvents } from './filtered-workers.ts';
import { NATIVES_DRIVEN, NATIVES_HOOKED, WORKERS_FILTERED } from './source.ts';
import { expectHook, forgetNatives } from './driven-natives.ts';
import type { SharedRelay } from './shared-relay.ts';
import { Supervised, type NativeMethods } from './supervise.ts';
import { bootstrap } from './worker-bootstrap.ts';
import { WorkerNotes, wrapOtherWorkers } from './other-workers.ts';
import { convertWorkerOnce, mustStayTrusted } from './script-address.ts';
import { ANY_WORKER, isBlobRefused, NETWORK_WORKER, REFUSED } from './refusals.ts';
import { absoluteBy } from './worker-repairs.ts';
import { apply, construct } from '../record/reflect.ts';

export interface WorkerHost extends WorkerEvents {
  readonly recorder: Recorder;
  /** URL that relative URLs resolve against. */
  base(): string;
  /** What the policies of this thread refuse, as far as known. */
  refusals(): Refusal[];
  /** On a page whose workers bring the hook: a worker requests its script from that address. */
  requests?(url: string): void;
  /** Where shared and service workers bring the hook in their script. */
  readonly sharedRelay?: SharedRelay | null;
  /** SharedWorkers run with our script, or report why not. */
  readonly wrapsShared?: boolean;
}

const { blob: CSP, types: TRUSTED_TYPES } = REFUSED;
const DATA = 'a data: URL has no origin, so no storage to record. Make it from a Blob.';
const NOT_STARTED =
  "vfscope couldn't start it: its script is missing or isn't JavaScript, or the CSP blocks blob: workers.";
type Decision =
  | { native: string }
  | { native: null; filtered: string }
  | { native: null; filtered?: undefined; url: string; blob: Blob | undefined };
type WorkerConstructor = new (...args: unknown[]) => Worker;

export class Workers {
  private readonly patches = new Patches();
  private readonly blobs = new BlobScripts();
  /** By Worker object, while the app holds it. */
  private readonly supervised = new WeakMap<object, Supervised>();
  /** By thread id, for workers whose hook runs or is about to run. */
  readonly living = new Map<string, WeakRef<Worker>>();
  private readonly notes: WorkerNotes;
  /** Why this page gets no more wrapped workers. */
  private refused = '';
  private pending = 0;
  /** Our own reports, to hide from the app. */
  private toSwallow = 0;
  /** How many reports on our refused bootstraps are still to come. */
  private atOnce = 0;
  private stopped = false;
  private native!: NativeMethods;
  /** Workers that come with the hook in their script; null where none do. */
  private readonly filtered: FilteredWorkers | null;

  constructor(private readonly host: WorkerHost) {
    this.notes = new WorkerNotes(host.recorder, () => host.base());
    this.filtered = NATIVES_HOOKED
      ? new FilteredWorkers({
          id: host.id,
          onChild: (port) => host.onChild(port),
          onMessage: (message) => host.onMessage(message),
          onTerminated: (id) => {
            this.living.delete(id);
            host.onTerminated(id);
          },
          onReady: (worker, id) => {
            this.living.set(id, new WeakRef(worker));
            if (this.stopped) this.tell(worker, id, 'restore');
          },
          requests: (script) => {
            const url = absoluteBy(() => host.base())(String(script)) as string;
            if (!NATIVES_DRIVEN) host.requests?.(url);
            else if (!this.stopped) expectHook(url);
          },
          note: (reason, script) => this.notes.note(reason, script),
        })
      : null;
  }

  /** Wrap the constructors. Without Worker (in some worker scopes), does nothing. */
  install(): void {
    const scope = globalThis as unknown as Record<string, unknown>;
    wrapOtherWorkers(this.patches, this.host, this.notes);
    const NativeWorker = scope.Worker as WorkerConstructor | undefined;
    if (typeof NativeWorker !== 'function') return;
    this.blobs.install(this.patches);
    const { postMessage, terminate } = NativeWorker.prototype as unknown as NativeMethods;
    this.native = { postMessage, terminate };
    this.patches.method(NativeWorker.prototype as object, 'postMessage', (native, self, args) => {
      const supervised = this.supervised.get(self as object);
      return supervised ? supervised.post(args) : apply(native, self, args);
    });
    this.patches.method(NativeWorker.prototype as object, 'terminate', (native, self, args) => {
      const supervised = this.supervised.get(self as object);
      if (supervised) supervised.terminate();
      else apply(native, self, args);
      this.filtered?.terminated(self as object);
      return undefined;
    });
    const wrapped: WorkerConstructor = new Proxy(NativeWorker, {
      construct: (target, args, newTarget) =>
        this.construct(
          target,
          args,
          newTarget === wrapped ? target : (newTarget as WorkerConstructor),
        ),
    });
    this.patches.value(globalThis, 'Worker', () => wrapped);
    this.patches.value(NativeWorker.prototype as object, 'constructor', () => wrapped);
    listen(globalThis, 'securitypolicyviolation', this.onViolation, true);
  }

  /**
   * Restore the native constructors and tell the living workers that the recording is over.
   * @returns names of properties that the app has frozen
   */
  restore(): string[] {
    this.stopped = true;
    this.filtered?.judge(null);
    for (const [id, ref] of this.living) {
      const worker = ref.deref();
      if (!worker) continue;
      const supervised = this.supervised.get(worker);
      if (!supervised?.isNative) this.tell(worker, id, 'restore');
      supervised?.release();
      supervised?.leaveBehind();
    }
    this.stopWatching();
    if (NATIVES_DRIVEN) forgetNatives();
    return this.patches.restore();
  }

  /** Note why a worker isn't recorded. */
  note(reason: string, script: unknown): void {
    this.notes.note(reason, script);
  }

  private tell(worker: Worker, id: string, k: ToWorker['k']): void {
    const message: ToWorker = { mark: MARK, k, id };
    apply(this.native.postMessage, worker, [message]);
  }

  /** Until then a violation may still be ours. */
  private stopWatching(): void {
    if (this.stopped && this.pending === 0)
      unlisten(globalThis, 'securitypolicyviolation', this.onViolation, true);
  }

  private construct(
    target: WorkerConstructor,
    args: unknown[],
    newTarget: WorkerConstructor,
  ): Worker {
    const makeNative = (): Worker => construct(target, args, newTarget) as Worker;
    if (this.stopped) return makeNative();
    let decision: Decision;
    try {
      decision = this.decide(args);
    } catch (e) {
      this.host.recorder.fault('new Worker', e);
      decision = { native: '' };
    }
    if (decision.native !== null) {
      // throws the error that the app must see, before anything is noted
      const worker = makeNative();
      // its script may bring the hook anyway, whose messages are not for the app
      const waits = NATIVES_DRIVEN && decision.native !== DATA;
      if (WORKERS_FILTERED || waits) this.filtered!.follow(worker, args[0], decision.native);
      if (decision.native && !waits && !(WORKERS_FILTERED && decision.native === TRUSTED_TYPES))
        this.notes.note(decision.native, args[0]);
      return worker;
    }
    if (decision.filtered !== undefined) {
      const worker = makeNative();
      this.filtered?.follow(worker, decision.filtered);
      return worker;
    }
    try {
      return this.wrap(target, args, newTarget, decision.url, decision.blob);
    } catch (e) {
      if (e instanceof DOMException && e.name === 'SecurityError') {
        this.refused = CSP; // WebKit refuses synchronously and reports later
        this.atOnce++;
      }
      if (e instanceof TypeError && 'trustedTypes' in globalThis) {
        // enforced policies: the app's text fails as ours did, and only its own failure may show
        this.refused = TRUSTED_TYPES;
        this.toSwallow++;
      }
      const worker = makeNative();
      const cause = `it cannot be wrapped: ${e instanceof Error ? e.message : String(e)}.`;
      if (NATIVES_DRIVEN) this.filtered!.follow(worker, args[0], cause);
      else this.notes.note(cause, args[0]);
      return worker;
    }
  }

  /** Why a worker stays native ('' = it will fail by itself), or what to wrap. */
  private decide(args: unknown[]): Decision {
    if (args.length === 0) return { native: '' };
    convertWorkerOnce(args);
    const refused = this.host.refusals();
    if (mustStayTrusted(args, refused)) return { native: TRUSTED_TYPES };
    if (typeof args[0] !== 'string') return { native: '' };
    const url = absoluteBy(() => this.host.base())(args[0]) as string;
    if (!NativeURL.canParse(url)) return { native: '' };
    if (url.startsWith('data:')) return { native: DATA };
    const isBlob = url.startsWith('blob:');
    if (!isBlob && new NativeURL(url).origin !== origin) return { native: '' };
    if (WORKERS_FILTERED && !isBlob) return { native: null, filtered: url };
    // a blob: worker of the app meets the same policies as ours, so only one that refuses all blob:
    // workers counts
    if (
      this.refused &&
      (this.refused === CSP || this.refused === TRUSTED_TYPES || !(WORKERS_FILTERED || isBlob))
    )
      return { native: this.refused };
    for (const what of WORKERS_FILTERED || isBlob ? ANY_WORKER : NETWORK_WORKER)
      if (refused.includes(what)) return { native: REFUSED[what] };
    const blob = WORKERS_FILTERED || isBlob ? this.blobs.get(url) : undefined;
    if (isBlob && !blob)
      return {
        native:
          'its blob: URL was made before the recording or in another frame. Reload the page while you record.',
      };
    if (blob && this.blobs.startsStrict(blob) === undefined && refused.includes('copy'))
      return { native: REFUSED.copy };
    return { native: null, url, blob };
  }

  private wrap(
    target: WorkerConstructor,
    args: unknown[],
    newTarget: WorkerConstructor,
    url: string,
    blob: Blob | undefined,
  ): Worker {
    const { host } = this;
    const options = args[1] as WorkerOptions | undefined;
    const id = randomId();
    const name = options?.name ?? '';
    this.pending++; // from here on, a policy violation is ours
    try {
      const strict = blob && this.blobs.startsStrict(blob);
      const boot = bootstrap(url, blob, strict, options?.type === 'module', {
        role: 'worker',
        base: url,
        id,
        name,
        parent: host.id,
        refused: host.refusals(),
      });
      if (NATIVES_DRIVEN) boot.urls.push((boot.script += WRAPPED)); // errors name it so
      const worker = construct(target, [boot.script, ...args.slice(1)], newTarget) as Worker;
      const supervised = new Supervised(
        worker,
        {
          id,
          url,
          bootstrap: boot,
          makeNative: (reason) => {
            if (reason) this.refused ||= reason;
            const cause = reason || this.refused || NOT_STARTED;
            const script = blob ? createObjectURL(blob) : args[0];
            if (!NATIVES_DRIVEN) this.notes.note(cause, url);
            const native = new target(script, ...args.slice(1));
            if (NATIVES_DRIVEN) this.filtered!.follow(native, script, cause);
            return native;
          },
          onReady: (port) => {
            if (port) host.onChild(port);
          },
          onSettled: () => {
            boot.urls.forEach((ours) => revokeObjectURL(ours));
            this.settled();
          },
          discard: () => this.tell(worker, id, 'close'),
          onLost: (e) => host.recorder.fault('a message to a worker', e),
          onMessage: (message) =>
            message.k === 'failed'
              ? this.notes.note(`its hook failed: ${message.reason}.`, url)
              : host.onMessage(message),
        },
        { ...this.native, terminate: this.terminating(id, worker) },
      );
      this.supervised.set(worker, supervised);
      this.living.set(id, new WeakRef(worker));
      return worker;
    } catch (e) {
      this.settled();
      throw e;
    }
  }

  /** A worker.terminate that reports to us. After it, nothing more can arrive from the worker. */
  private terminating(id: string, worker: Worker): () => void {
    const { native, host, living, filtered } = this;
    return function (this: unknown): void {
      apply(native.terminate, this, []);
      if (NATIVES_DRIVEN) filtered!.terminated(this as object);
      living.delete(id);
      if (this === worker) host.onTerminated(id);
    };
  }

  private settled(): void {
    this.pending--;
    this.stopWatching();
  }

  /**
   * A policy refused our blob. The app must not see it (its console line and its reports can't be
   * hidden).
   */
  private readonly onViolation = (event: Event): void => {
    const { effectiveDirective } = event as SecurityPolicyViolationEvent;
    if (this.toSwallow > 0 && effectiveDirective === 'require-trusted-types-for') {
      this.toSwallow--; // ours was reported before the app's
      event.stopImmediatePropagation();
    }
    const ours = this.pending > 0 || this.atOnce > 0;
    if (!ours || !isBlobRefused(event)) return;
    if (this.atOnce > 0) this.atOnce--;
    this.refused ||= CSP;
    event.stopImmediatePropagation();
  };
}
