/**
 * Watches a wrapped worker until its hook reports ready. The app must not suffer from a page policy
 * that only affects our bootstrap: a CSP without blob: refuses it by an error event after the
 * constructor returned, and a blob worker inherits a CSP that forbids wasm. In these cases a native
 * worker takes over behind the object that the app already holds. Until then the app's messages are
 * held back.
 */
import {
  clone,
  dataOf,
  dispatch,
  listen,
  NativeErrorEvent,
  NativeEvent,
  NativeMessageEvent,
  portsOf,
  setTimeout,
} from './natives.ts';
import { isFromWorker, type FromWorker } from './creator-wire.ts';
import type { Bootstrap } from './worker-bootstrap.ts';
import { WRAPPED } from '../protocol/native-workers.ts';
import { apply, define } from '../record/reflect.ts';
import { NATIVES_DRIVEN } from './source.ts';

/** An error and a message that a worker sends one after the other arrive within this time. */
const OVERTAKEN_MS = 100;
/** The prefix that our importScripts adds to the message of a syntax error. */
const IMPORT_SCRIPTS =
  /(?<=^Uncaught SyntaxError: )Failed to execute 'importScripts' on 'WorkerGlobalScope': /;

interface Wrapped {
  readonly id: string;
  /** The URL of the script that the app wants. */
  readonly url: string;
  readonly bootstrap: Bootstrap;
  /** Start the app's worker without us. */
  makeNative(reason: string): Worker;
  /** The hook runs. Its records come over the port. */
  onReady(port: MessagePort | undefined): void;
  /** A native worker runs in its place: end the hooked one. */
  discard(): void;
  /** A held message could not be posted. */
  onLost(error: unknown): void;
  /** Ready, replaced, or terminated: messages aren't held back any more. */
  onSettled(): void;
  /** A message of the worker's hook, except ready and unfit. */
  onMessage(message: FromWorker): void;
}

/** The error from cloning a message, with postMessage's text if it is the platform's. */
function ofPostMessage(error: unknown): unknown {
  if (!(error instanceof DOMException)) return error;
  const { message, name } = error;
  const words = message.replace(
    /^Failed to execute 'structuredClone' on '\w+'/,
    "Failed to execute 'postMessage' on 'Worker'",
  );
  return words === message ? error : new DOMException(words, name);
}

export interface NativeMethods {
  postMessage: (data: unknown, options?: StructuredSerializeOptions | Transferable[]) => void;
  terminate: () => void;
}

/** State of one wrapped worker. `post` and `terminate` replace the methods of the Worker object. */
export class Supervised {
  /** The app's messages until its script runs. A native worker may need them. */
  private held: [data: unknown, transfer: Transferable[]][] | null = [];
  /** How many of them the worker has received. */
  private sent = 0;
  private ready = false;
  private spare: Worker | null = null;
  private over = false;
  /** The worker, after it got its own methods. */
  private left: Partial<NativeMethods> | null = null;
  /** An exception before ready. */
  private early: ErrorEvent | null = null;

  constructor(
    private readonly worker: Worker,
    private readonly wrapped: Wrapped,
    private readonly native: NativeMethods,
  ) {
    // before the listeners to the app's messages, including those of messages.ts
    listen(worker, 'message', (event) => this.onMessage(event), true);
    listen(worker, 'error', (event) => this.onError(event));
  }

  /** Is the app's script running in a native worker after all? */
  get isNative(): boolean {
    return this.spare !== null;
  }

  /** worker.postMessage as the app calls it. @throws what the native call throws */
  post(args: unknown[]): unknown {
    const { held } = this;
    const options = args[1] as
      (StructuredSerializeOptions & Iterable<Transferable>) | null | undefined;
    const natively = (): unknown => apply(this.native.postMessage, this.spare ?? this.worker, args);
    // a call with invalid arguments throws natively
    if (
      !held ||
      this.spare ||
      this.over ||
      !args.length ||
      (options && Object(options) !== options)
    )
      return natively();
    let list: Iterable<Transferable> = options ?? [];
    const iterator =
      list[Symbol.iterator] ?? (({ transfer: list = [] } = options!), list?.[Symbol.iterator]);
    if (!iterator) return natively();
    const transfer = [...{ [Symbol.iterator]: () => apply(iterator, list, []) }] as Transferable[];
    args = [args[0], transfer]; // an iterator returns its items only once
    // is refused before the message is read
    if (transfer.some((one) => Object(one) !== one)) return natively();
    if (transfer.some(movesOnce)) {
      this.flush(true); // copying it failed: it is sent at once, after the earlier ones
      return natively();
    }
    let copy: { data: unknown; transfer: Transferable[] };
    try {
      // a snapshot taken now, as postMessage does
      copy = clone({ data: args[0], transfer }, { transfer });
    } catch (e) {
      throw ofPostMessage(e); // the native call would run the message's getters again
    }
    held.push([copy.data, copy.transfer]);
    this.flush(false);
    return undefined;
  }

  /** worker.terminate() as the app calls it. */
  terminate(): void {
    this.over = true;
    this.settle();
    apply(this.native.terminate, this.spare ?? this.worker, []);
  }

  /**
   * The prototype's methods are native again. A worker that a native one replaces, or may replace,
   * needs methods on itself.
   */
  leaveBehind(): void {
    // the app may have frozen it
    if ((!this.spare && !this.held) || !Object.isExtensible(this.worker)) return;
    const postMessage = (...args: unknown[]): unknown => this.post(args);
    const terminate = (): void => this.terminate();
    this.left = Object.assign(this.worker, { postMessage, terminate });
  }

  /** The recording is over: where the hook runs, messages aren't held back any more. */
  release(): void {
    if (this.ready) this.runs();
  }

  private onMessage(event: Event): void {
    const data = dataOf(event);
    if (!event.isTrusted || !isFromWorker(data, this.wrapped.id)) return;
    stop(event);
    if (data.k === 'unfit') this.takeOver(data.reason);
    else if (data.k === 'runs') this.runs();
    else if (data.k !== 'ready') this.wrapped.onMessage(data);
    else if (this.held) this.onReady(portsOf(event)[0]);
  }

  private onReady(port: MessagePort | undefined): void {
    const { early, wrapped } = this;
    this.ready = true;
    wrapped.onReady(port);
    if (!wrapped.bootstrap.imports) this.runs();
    else this.flush(false);
    if (!early) return;
    if (this.hasNotLoaded(early)) return this.takeOver('');
    this.runs();
    this.putRight(early);
    dispatch(this.worker, copyOf(early));
  }

  /**
   * Post the held messages. Before the app's script runs, only post those that a native worker
   * could still get afterwards: a message with transferred objects waits, and so do the messages
   * after it.
   */
  private flush(all: boolean): void {
    const { held, worker } = this;
    for (
      ;
      held && this.sent < held.length && (all || (this.ready && !held[this.sent]![1].length));
      this.sent++
    )
      this.send(worker, held[this.sent]!);
  }

  /** If one can't be posted, the others still are. */
  private send(to: Worker, message: unknown[]): void {
    try {
      apply(this.native.postMessage, to, message);
    } catch (e) {
      this.wrapped.onLost(e);
    }
  }

  /** The app's script runs here. */
  private runs(): void {
    this.flush(true);
    this.settle();
    const { left } = this;
    if (left) {
      delete left.postMessage;
      delete left.terminate;
    }
  }

  private settle(): void {
    if (!this.held) return;
    this.held = null;
    this.wrapped.onSettled();
  }

  /** Did our importScripts fail? Then no line of the app has run. */
  private hasNotLoaded({ filename }: ErrorEvent): boolean {
    const { imports, script } = this.wrapped.bootstrap;
    // Firefox and Safari may leave the mark out
    const unmarked = NATIVES_DRIVEN && filename + WRAPPED === script;
    return imports && (filename === script || unmarked);
  }

  private onError(event: Event): void {
    if (!event.isTrusted) return; // our event, forwarded from the native worker
    const error = event instanceof NativeErrorEvent ? event : null;
    if (this.spare) {
      // how the hook leaves an unfit worker
      if (error && this.wrapped.bootstrap.urls.includes(error.filename)) stop(event);
    } else if (this.held && !this.ready) {
      stop(event);
      if (error && !this.early) this.waitForReady(error);
      else if (!this.early) this.takeOver('');
    } else if (error && this.hasNotLoaded(error)) {
      stop(event);
      this.takeOver('');
    } else if (error) {
      this.runs();
      this.putRight(error);
    }
  }

  /**
   * Give an error of the app's script its native position and text. The event stays the browser's.
   */
  private putRight(error: ErrorEvent): void {
    const { bootstrap, url } = this.wrapped;
    const [bare] = url.split('#');
    if (bootstrap.urls.includes(error.filename))
      amend(error, 'lineno', error.lineno - bootstrap.linesBefore);
    else if (error.filename !== bare && error.filename !== url) return;
    amend(error, 'filename', url); // importScripts drops the #fragment
    // a syntax error in the app's own script
    amend(error, 'message', error.message.replace(IMPORT_SCRIPTS, ''));
  }

  /**
   * An exception before ready. Either no script ran at all (a module that doesn't link), or the
   * app's script threw and its error has overtaken the hook's message. In the second case, a native
   * worker would run the script again, so wait and see.
   */
  private waitForReady(error: ErrorEvent): void {
    this.early = error;
    setTimeout(() => {
      if (this.held) this.takeOver('');
    }, OVERTAKEN_MS);
  }

  /**
   * Don't call terminate() on the wrapped worker here: WebKit would drop the events that we
   * dispatch on it.
   */
  private takeOver(reason: string): void {
    const held = this.held ?? [];
    this.settle();
    if (this.over) return;
    const spare = (this.spare = this.wrapped.makeNative(reason));
    for (const type of ['message', 'messageerror'])
      listen(spare, type, (event) => {
        const init = { data: dataOf(event), ports: portsOf(event) };
        dispatch(this.worker, new NativeMessageEvent(type, init));
      });
    listen(spare, 'error', (event) => {
      if (!dispatch(this.worker, copyOf(event))) event.preventDefault();
    });
    for (const message of held) this.send(spare, message);
    this.wrapped.discard();
  }
}

/** Data channels can be transferred only once. */
const movesOnce = (object: unknown): boolean =>
  typeof RTCDataChannel === 'function' && object instanceof RTCDataChannel;

/** An error event for the app. */
export function copyOf(event: Event): Event {
  if (!(event instanceof NativeErrorEvent)) return new NativeEvent('error', { cancelable: true });
  const { message, filename, lineno, colno } = event;
  return new NativeErrorEvent('error', {
    message,
    filename,
    lineno,
    colno,
    error: event.error as unknown,
    cancelable: true,
  });
}

function amend(
  event: ErrorEvent,
  name: 'filename' | 'lineno' | 'message',
  value: string | number,
): void {
  if (event[name] !== value) define(event, name, value);
}

function stop(event: Event): void {
  event.stopImmediatePropagation();
  event.preventDefault();
}
