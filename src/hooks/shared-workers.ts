/**
 * SharedWorkers where scripts can't be changed on their way in. All pages of the origin start one
 * from the same blob: URL, whose script runs our hook before the app's, so that it stays one
 * worker. The background decides which URL that is. Until it has, and until the worker's hook sends
 * its first message, the app has a port of ours that it can already use:
 *
 *   app   port ------------ theirs  --+
 *                                     |  over a port of our own, once the worker's hook speaks
 *   ours  SharedWorker(blob:).port ---+-->  hook in the worker --> connect event with `theirs`
 *
 * A worker that can't run this way runs natively. Then its port and `theirs` forward all messages.
 */
import { Patches } from '../record/patches.ts';
import { apply, construct, defineProperty } from '../record/reflect.ts';
import { bridge } from './port-bridge.ts';
import {
  dataOf,
  dispatch,
  listen,
  NativeErrorEvent,
  NativeEvent,
  NativeEventTarget,
  NativeURL,
  newChannel,
  origin,
  portListen,
  portPost,
  revokeObjectURL,
  unlisten,
  type Listener,
} from './natives.ts';
import { MAX_TEXT } from '../event/definition-check.ts';
import { isBlobRefused, NETWORK_WORKER, NOT_STARTED, REFUSED } from './refusals.ts';
import { convertSharedOnce, isScriptUrl, mustStayTrusted } from './script-address.ts';
import { copyOf } from './supervise.ts';
import { isFromShared, sharedKey, toShared } from './shared-wire.ts';
import { bootstrap } from './worker-bootstrap.ts';
import { absoluteBy } from './worker-repairs.ts';
import {
  MOST_DEAD,
  SHARED_MISMATCH,
  SHARED_WAS_RUNNING,
  type SharedAsk,
} from '../protocol/messages.ts';
import type { Refusal } from '../protocol/page-policy.ts';

type Constructor = new (...args: unknown[]) => SharedWorker;

interface SharedHost {
  /** URL that relative URLs resolve against. */
  base(): string;
  /** Which URL is for this worker? @returns '' = it runs natively */
  ask(ask: SharedAsk): Promise<string>;
  /** What the policies of this page refuse. */
  refusals(): Refusal[];
}
/** Events of SharedWorkers for a recording. */
interface Recorded {
  /** Id of this page's thread. */
  readonly page: string;
  /** A message of a worker's hook over its line. */
  hears(said: unknown): void;
  /** The app started one that brings the hook. @param worker its sharedKey */
  expects(worker: string, url: string): void;
  /** One runs natively. @param script from the app @param name its name */
  note(reason: string, script: unknown, name: string): void;
}
/** The app's arguments. */
interface Asked {
  args: unknown[];
  url: string;
  name: string;
  isModule: boolean;
  /** Fields of `SharedAsk`. */
  key: string;
  traits: string;
  /** The port that the app holds, and its other end. */
  worker: EventTarget;
  theirs: MessagePort;
}

/** Reason for a native worker, whatever the answer: we start none beside it. */
const NATIVE: SharedAsk = { key: '', traits: '', url: '', dead: [] };
const EXTENDED = 'it outlives its pages (extendedLifetime).';
const SAME_SITE = 'it uses sameSiteCookies.';
const LONG = 'its address and its name are too long.';
const COOKIES: readonly unknown[] = ['all', 'none'];
const CREDENTIALS: readonly unknown[] = ['omit', 'same-origin', 'include'];
type Options = WorkerOptions & { extendedLifetime?: unknown; sameSiteCookies?: unknown };
const dictionary = (options: unknown): Options =>
  (Object(options) === options ? options : {}) as Options;
/** @param options converted (convertOnce), or only a name */
export const nameOf = (options: unknown): string =>
  typeof options === 'string' ? options : (dictionary(options).name ?? '');
const DATA = "a data: or blob: URL isn't shared between pages.";

export class SharedWorkers {
  /** Set while this page is recorded. */
  recorded: Recorded | null = null;
  private readonly patches = new Patches();
  private native!: Constructor;
  /** They live as long as the page, whether the app holds them or not. */
  private readonly held = new Set<SharedWorker>();
  /** Workers that wait for permission to start. */
  private pending = 0;
  /** Why this page can't start ours, after one failed to start. */
  private refused = '';
  /** A policy refuses one of our URLs: the app must not see it. */
  private readonly onRefused = (event: Event): void => {
    if (!isBlobRefused(event)) return;
    event.stopImmediatePropagation();
    this.refused = REFUSED.blob;
  };

  constructor(private readonly host: SharedHost) {}

  install(): void {
    const native = (globalThis as { SharedWorker?: Constructor }).SharedWorker;
    if (typeof native !== 'function') return;
    this.native = native;
    const ours: Constructor = new Proxy(native, {
      construct: (target, args: unknown[], newTarget) => {
        convertSharedOnce(args);
        const as = (newTarget === ours ? target : newTarget) as Constructor;
        const cause = this.whyNative(args);
        if (cause === null) return this.make(args, as);
        // throws the error that the app must see
        const worker = construct(target, args, as) as SharedWorker;
        if (cause) {
          const name = nameOf(args[1]);
          this.recorded?.note(cause, args[0], name);
          const key = sharedKey(this.urlOf(args[0]), name);
          // '' stands for all
          if (cause !== DATA)
            void this.host.ask({ ...NATIVE, key: key.length > MAX_TEXT ? '' : key });
        }
        return worker;
      },
    });
    this.patches.value(globalThis, 'SharedWorker', () => ours);
    this.patches.value(native.prototype, 'constructor', () => ours);
  }

  private urlOf(script: unknown): string {
    return absoluteBy(() => this.host.base())(script) as string;
  }

  /** @returns names of properties that the app has frozen */
  restore(): string[] {
    return this.patches.restore();
  }

  /** '' = it fails by itself; null = it runs as ours. */
  private whyNative(args: unknown[]): string | null {
    const refused = this.host.refusals();
    const isTrusted = mustStayTrusted(args, refused);
    const [script, options] = args;
    const isText = typeof script === 'string';
    // the platform may throw synchronously
    if (isText && (isTrusted || refused.includes('types'))) return REFUSED.types;
    if ((!isText && !isScriptUrl(script)) || typeof options === 'symbol') return '';
    if (Object(options) !== options) args[1] = `${(options as string | null) ?? ''}`; // a primitive is its name
    const { type, credentials, extendedLifetime, sameSiteCookies } = dictionary(options);
    if (
      (type !== undefined && type !== 'classic' && type !== 'module') ||
      (credentials !== undefined && !CREDENTIALS.includes(credentials)) ||
      (sameSiteCookies !== undefined && !COOKIES.includes(sameSiteCookies))
    )
      return '';
    if (extendedLifetime) return EXTENDED;
    if (sameSiteCookies !== undefined) return SAME_SITE;
    const url = this.urlOf(script);
    if (!NativeURL.canParse(url)) return '';
    if (/^(data|blob):/.test(url)) return DATA;
    if (new NativeURL(url).origin !== origin) return '';
    return sharedKey(url, nameOf(options)).length > MAX_TEXT ? LONG : null;
  }

  /** The worker object that the app gets at once. */
  private make(args: unknown[], as: Constructor): SharedWorker {
    const [script, options] = args as [string, string | WorkerOptions | undefined];
    const { ours: port, theirs } = newChannel();
    const worker = construct(NativeEventTarget, [], as) as EventTarget & SharedWorker;
    defineProperty(worker, 'port', { value: port, configurable: true });
    let handler: unknown = null;
    const onError: Listener = (event) =>
      void (typeof handler === 'function' && apply(handler as () => void, worker, [event]));
    defineProperty(worker, 'onerror', {
      configurable: true,
      get: () => handler,
      set(value: unknown) {
        const next = Object(value) === value ? value : null;
        // a handler's position among the listeners is where it was last set after null
        if (next === null) unlisten(worker, 'error', onError);
        else if (handler === null) listen(worker, 'error', onError);
        handler = next;
      },
    });
    const url = this.urlOf(script);
    const { type = 'classic', credentials = 'same-origin' } = dictionary(options);
    const name = nameOf(options);
    const isModule = type === 'module';
    const [key, traits] = [sharedKey(url, name), isModule ? `${type} ${credentials}` : type];
    let cause = typeof script === 'string' ? '' : REFUSED.types; // why this page starts none
    const refused = this.host.refusals();
    for (const what of [...NETWORK_WORKER, 'shared'] as const)
      if (!cause && refused.includes(what)) cause = REFUSED[what];
    void this.start({ args, url, name, isModule, key, traits, worker, theirs }, [], cause);
    return worker;
  }

  /**
   * @param dead URLs that failed to start one
   * @param cause why this page starts none: it joins another page's worker, or runs natively
   * @param failed URL that no page can start it from
   */
  private async start(asked: Asked, dead: string[], cause = '', failed = ''): Promise<void> {
    const { url, name, isModule, key, traits } = asked;
    let own: string[] = [];
    try {
      if (!cause)
        own = bootstrap(url, undefined, undefined, isModule, {
          role: 'worker',
          shared: isModule ? 'module' : 'classic',
          base: url,
          id: '',
          name,
          parent: null,
          refused: this.host.refusals(),
        }).urls;
    } catch (e) {
      cause = `recording failed: ${String(e)}.`;
    }
    const [script = failed] = own;
    const closed = cause === REFUSED.types || cause === REFUSED.blob;
    const ask = { key, traits, url: script, dead: dead.slice(-MOST_DEAD), closed };
    const agreed = await this.host.ask(ask);
    if (agreed !== script) own.forEach((one) => revokeObjectURL(one));
    if (agreed === SHARED_MISMATCH) return this.fail(asked);
    if (!agreed) return this.runNatively(asked, cause || SHARED_WAS_RUNNING);
    this.connect(asked, agreed, agreed === script, dead, cause);
  }

  private connect(
    asked: Asked,
    script: string,
    isFresh: boolean,
    dead: string[],
    cause: string,
  ): void {
    if (!this.pending++) listen(globalThis, 'securitypolicyviolation', this.onRefused, true);
    let over = false;
    const once = (then: () => void): void => {
      if (over) return;
      over = true;
      if (!--this.pending) unlisten(globalThis, 'securitypolicyviolation', this.onRefused, true);
      then();
    };
    let worker: SharedWorker | undefined;
    /** @param reason why no page can start it from this URL; '' = only this page can't */
    const instead = (reason: string): void =>
      once(() => {
        this.held.delete(worker!);
        if (this.refused) return void this.start(asked, [], this.refused); // others may start it
        if (reason) revokeObjectURL(script); // none begins from it any more
        void this.start(asked, [...dead, script], reason || cause, reason && script);
      });
    try {
      worker = construct(this.native, [script, ...asked.args.slice(1)]) as SharedWorker;
    } catch {
      this.refused = REFUSED.types;
      return instead('');
    }
    this.held.add(worker);
    const { port } = worker;
    listen(worker, 'error', (event) =>
      event instanceof NativeErrorEvent && event.filename !== script
        ? dispatch(asked.worker, copyOf(event)) // the app's script threw: it runs, and reports that
        : instead(isFresh ? NOT_STARTED : ''),
    );
    /**
     * The recording that the worker was connected for. It receives the worker's last records after
     * Stop, too.
     */
    let recorded: Recorded | null = null;
    portListen(port, (event) => {
      const said = dataOf(event);
      if (!isFromShared(said)) return recorded?.hears(said);
      if (said.k === 'failed') return instead(said.reason);
      once(() => {
        recorded = this.recorded;
        portPost(port, toShared(recorded?.page ?? ''), asked.theirs);
        recorded?.expects(asked.key, asked.url);
      });
    });
  }

  private fail({ worker }: Pick<Asked, 'worker'>): void {
    dispatch(worker, new NativeEvent('error'));
  }

  private runNatively({ args, name, worker, theirs }: Asked, reason: string): void {
    let native: SharedWorker;
    try {
      native = construct(this.native, args) as SharedWorker;
    } catch {
      // it would have thrown synchronously: its arguments were checked
      return this.fail({ worker });
    }
    this.held.add(native);
    listen(native, 'error', () => void dispatch(worker, new NativeEvent('error')));
    bridge(theirs, native.port);
    this.recorded?.note(reason, args[0], name);
  }
}
