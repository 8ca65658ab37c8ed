/**
 * Watches a wrapped worker until its hook says ready. The app must not pay for a page policy that hurts only our bootstrap (a CSP
 * without blob: refuses by an error event after the constructor returned; a blob worker inherits a CSP that forbids wasm): then a
 * native worker takes over behind the object that the app already holds. Until then the app's messages are held back.
 */
import { clone, dispatch, listen, NativeErrorEvent, NativeEvent, NativeMessageEvent, setTimeout } from './natives.ts';
import { isFromWorker, type FromWorker } from './creator-wire.ts';
import type { Bootstrap } from './worker-bootstrap.ts';

/** An error and a message that a worker sends one after the other arrive closer together than this. */
const OVERTAKEN_MS = 100;
/** What our importScripts adds to the message of a syntax error. */
const IMPORT_SCRIPTS = /(?<=^Uncaught SyntaxError: )Failed to execute 'importScripts' on 'WorkerGlobalScope': /;

export interface Wrapped {
  readonly id: string;
  /** The script's URL as the app means it. */
  readonly url: string;
  readonly bootstrap: Bootstrap;
  /** Start the app's worker without us. */
  makeNative(reason: string): Worker;
  /** The hook runs; the port brings its records. */
  onReady(port: MessagePort | undefined): void;
  /** Ready, replaced or terminated: nothing is held back any more. */
  onSettled(): void;
  /** A message of the worker's hook, other than ready and unfit. */
  onMessage(message: FromWorker): void;
}

export interface NativeMethods {
  postMessage: (data: unknown, options?: StructuredSerializeOptions | Transferable[]) => void;
  terminate: () => void;
}

/** State of one wrapped worker; `post` and `terminate` stand in for the methods of the Worker object. */
export class Supervised {
  private held: [unknown, Transferable[]][] | null = [];
  private spare: Worker | null = null;
  private over = false;
  /** An exception that came before ready. */
  private early: ErrorEvent | null = null;

  constructor(
    private readonly worker: Worker,
    private readonly wrapped: Wrapped,
    private readonly native: NativeMethods,
  ) {
    listen(worker, 'message', (event) => this.onMessage(event as MessageEvent));
    listen(worker, 'error', (event) => this.onError(event));
  }

  /** Is the app's script running in a native worker after all? */
  get isNative(): boolean {
    return this.spare !== null;
  }
  /** Has the worker not answered yet? */
  get isPending(): boolean {
    return this.held !== null;
  }

  /** worker.postMessage as the app calls it. @throws what the native call throws */
  post(args: unknown[]): unknown {
    const { native, worker } = this;
    if (this.spare) return Reflect.apply(native.postMessage, this.spare, args);
    if (!this.held || this.over) return Reflect.apply(native.postMessage, worker, args);
    const options = args[1] as StructuredSerializeOptions | Transferable[] | undefined;
    let copy: { data: unknown; transfer: Transferable[] };
    try {
      const transfer = Array.isArray(options) ? options : (options?.transfer ?? []);
      copy = clone({ data: args[0], transfer }, { transfer }); // a snapshot now, as postMessage takes one
    } catch {
      return Reflect.apply(native.postMessage, worker, args); // throws the right error
    }
    this.held.push([copy.data, copy.transfer]);
    return undefined;
  }

  /** worker.terminate() as the app calls it. */
  terminate(): void {
    this.over = true;
    this.settle();
    Reflect.apply(this.native.terminate, this.spare ?? this.worker, []);
  }

  /** The prototype's methods are native again: a worker that a native one stands in for needs them on itself. */
  leaveBehind(): void {
    if (!this.spare) return;
    const postMessage = (...args: unknown[]): unknown => this.post(args);
    const terminate = (): void => this.terminate();
    Object.assign(this.worker, { postMessage, terminate });
  }

  private onMessage(event: MessageEvent): void {
    const { data } = event as { data: unknown };
    if (!event.isTrusted || !isFromWorker(data, this.wrapped.id)) return;
    stop(event);
    if (data.k === 'unfit') this.takeOver(data.reason);
    else if (data.k !== 'ready') this.wrapped.onMessage(data);
    else if (this.held) {
      for (const [message, transfer] of this.held) Reflect.apply(this.native.postMessage, this.worker, [message, transfer]);
      this.settle();
      this.wrapped.onReady(event.ports[0]);
      if (this.early) dispatch(this.worker, copyOf(this.early));
    }
  }

  private settle(): void {
    if (!this.held) return;
    this.held = null;
    this.wrapped.onSettled();
  }

  private onError(event: Event): void {
    if (!event.isTrusted) return; // ours, passed on from the native worker
    const { bootstrap, url } = this.wrapped;
    const fromUs = event instanceof NativeErrorEvent && bootstrap.urls.includes(event.filename);
    if (this.spare) {
      if (fromUs) stop(event); // the hook's own way out of an unfit worker
      return;
    }
    if (this.held) {
      stop(event);
      if (event instanceof NativeErrorEvent && !this.early) this.waitForReady(event);
      else if (!this.early) this.takeOver('');
    } else if (fromUs && url.startsWith('blob:')) {
      // the app's own error behind our prefix: put its place right, the event stays the browser's
      amend(event, 'filename', url);
      amend(event, 'lineno', event.lineno - bootstrap.linesBefore);
    } else if (fromUs) {
      stop(event); // importScripts failed: natively an event without text
      dispatch(this.worker, new NativeEvent('error', { cancelable: true })); // before terminate: WebKit drops events afterwards
      this.terminate();
    } else if (event instanceof NativeErrorEvent && event.filename === url) {
      amend(event, 'message', event.message.replace(IMPORT_SCRIPTS, '')); // a syntax error in the app's own script
    }
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
        const { data, ports, origin } = event as MessageEvent<unknown>;
        dispatch(this.worker, new NativeMessageEvent(type, { data, ports: [...ports], origin }));
      });
    listen(spare, 'error', (event) => {
      if (!dispatch(this.worker, copyOf(event))) event.preventDefault();
    });
    for (const [data, transfer] of held) Reflect.apply(this.native.postMessage, spare, [data, transfer]);
  }
}

function copyOf(event: Event): Event {
  if (!(event instanceof NativeErrorEvent)) return new NativeEvent('error', { cancelable: true });
  const { message, filename, lineno, colno } = event;
  return new NativeErrorEvent('error', { message, filename, lineno, colno, error: event.error as unknown, cancelable: true });
}

function amend(event: ErrorEvent, name: 'filename' | 'lineno' | 'message', value: string | number): void {
  if (event[name] !== value) Object.defineProperty(event, name, { value, configurable: true, enumerable: true });
}

function stop(event: Event): void {
  event.stopImmediatePropagation();
  event.preventDefault();
}
