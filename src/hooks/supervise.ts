/**
 * Watches a wrapped worker until its hook says ready. The app must not pay for a page policy that hurts only our bootstrap (a CSP
 * without blob: refuses by an error event after the constructor returned; a blob worker inherits a CSP that forbids wasm): then a
 * native worker takes over behind the object that the app already holds. Until then the app's messages are held back.
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

/** An error and a message that a worker sends one after the other arrive closer together than this. */
const OVERTAKEN_MS = 100;
/** What our importScripts adds to the message of a syntax error. */
const IMPORT_SCRIPTS =
  /(?<=^Uncaught SyntaxError: )Failed to execute 'importScripts' on 'WorkerGlobalScope': /;

interface Wrapped {
  readonly id: string;
  /** The script's URL as the app means it. */
  readonly url: string;
  readonly bootstrap: Bootstrap;
  /** Start the app's worker without us. */
  makeNative(reason: string): Worker;
  /** The hook runs; the port brings its records. */
  onReady(port: MessagePort | undefined): void;
  /** A native worker runs in its place: end the one with the hook. */
  discard(): void;
  /** A held message could not be posted. */
  onLost(error: unknown): void;
  /** Ready, replaced or terminated: nothing is held back any more. */
  onSettled(): void;
  /** A message of the worker's hook, other than ready and unfit. */
  onMessage(message: FromWorker): void;
}

/** What cloning a message threw, in the words of postMessage where they are the platform's. */
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

/** State of one wrapped worker; `post` and `terminate` stand in for the methods of the Worker object. */
export class Supervised {
  /** What the app has posted, until its script runs: a native worker may have to get it. */
  private held: [data: unknown, transfer: Transferable[]][] | null = [];
  /** How many of them the worker has. */
  private sent = 0;
  private ready = false;
  private spare: Worker | null = null;
  private over = false;
  /** The worker, once it has methods of its own. */
  private left: Partial<NativeMethods> | null = null;
  /** An exception that came before ready. */
  private early: ErrorEvent | null = null;

  constructor(
    private readonly worker: Worker,
    private readonly wrapped: Wrapped,
    private readonly native: NativeMethods,
  ) {
    // before what listens to the app's messages, those of messages.ts, too
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
    // what isn't a call at all throws natively
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
    args = [args[0], transfer]; // an iterator gives its items once
    if (transfer.some((one) => Object(one) !== one)) return natively(); // is refused before the message is read
    if (transfer.some(movesOnce)) {
      this.flush(true); // a copy could not be posted: it goes at once, behind what came before
      return natively();
    }
    let copy: { data: unknown; transfer: Transferable[] };
    try {
      copy = clone({ data: args[0], transfer }, { transfer }); // a snapshot now, as postMessage takes one
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

  /** The prototype's methods are native again: a worker that a native one stands in for, or may have to, needs them on itself. */
  leaveBehind(): void {
    // the app may have frozen it
    if ((!this.spare && !this.held) || !Object.isExtensible(this.worker)) return;
    const postMessage = (...args: unknown[]): unknown => this.post(args);
    const terminate = (): void => this.terminate();
    this.left = Object.assign(this.worker, { postMessage, terminate });
  }

  /** The recording is over: nothing is held back any more where the hook runs. */
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
   * Post what is held. Before the app's script runs, only what a native worker could still get after this one had it: what is
   * transferred is gone, and what comes behind it waits, too.
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

  /** One that cannot be posted takes no other with it. */
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

  /** Is it importScripts of ours that failed? Then no line of the app has run. */
  private hasNotLoaded({ filename }: ErrorEvent): boolean {
    const { imports, script } = this.wrapped.bootstrap;
    // Firefox and Safari may leave the mark out
    const unmarked = NATIVES_DRIVEN && filename + WRAPPED === script;
    return imports && (filename === script || unmarked);
  }

  private onError(event: Event): void {
    if (!event.isTrusted) return; // ours, passed on from the native worker
    const error = event instanceof NativeErrorEvent ? event : null;
    if (this.spare) {
      if (error && this.wrapped.bootstrap.urls.includes(error.filename)) stop(event); // the hook's own way out of an unfit worker
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

  /** Let an error of the app's script have the place and the words that it has natively; the event stays the browser's. */
  private putRight(error: ErrorEvent): void {
    const { bootstrap, url } = this.wrapped;
    const [bare] = url.split('#');
    if (bootstrap.urls.includes(error.filename))
      amend(error, 'lineno', error.lineno - bootstrap.linesBefore);
    else if (error.filename !== bare && error.filename !== url) return;
    amend(error, 'filename', url); // importScripts leaves out the #fragment
    amend(error, 'message', error.message.replace(IMPORT_SCRIPTS, '')); // a syntax error in the app's own script
  }

  /**
   * An exception before ready: either no script ran at all (a module that does not link), or the app's script threw and its error
   * has overtaken the hook's message. In that case a native worker would run the script a second time: wait and see.
   */
  private waitForReady(error: ErrorEvent): void {
    this.early = error;
    setTimeout(() => {
      if (this.held) this.takeOver('');
    }, OVERTAKEN_MS);
  }

  /** No terminate() of the wrapped worker here: WebKit would drop the events that we dispatch on it. */
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

/** Data channels can be transferred once in their life. */
const movesOnce = (object: unknown): boolean =>
  typeof RTCDataChannel === 'function' && object instanceof RTCDataChannel;

/** An error event as the app is to hear it. */
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
