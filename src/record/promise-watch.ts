/**
 * Learns how a promise of the platform settles, while the app gets that very promise, at the same time, and with the same
 * `unhandledrejection` as without us.
 *
 * A reaction of ours marks a promise as handled, which would silence the event. So: does the app react to it as well? Every way
 * to react (await, then, Promise.all, handing it to the platform) first reads `promise.constructor`; an own accessor sees
 * that once and removes itself. If a promise rejects that the app has not touched, our own branch rejects too, unhandled, and the
 * browser speaks for it, and the event is made to name the app's promise.
 *
 * What differs from native: the own property until the first touch; and V8 gives up a shortcut for `await` (some ns each).
 */
import { react } from './reaction.ts';
import { apply, define, defineProperty } from './reflect.ts';

const NativePromise = Promise;
const nativeThen = Promise.prototype.then;
const ignore = (): void => {}; // marks a promise as handled

interface Watched {
  touched: boolean;
  announced: boolean;
  branch: Promise<unknown>;
}

/** The listening of a realm's global object, in capture. */
interface RejectionTarget {
  addEventListener(type: string, listener: (event: Event) => void, capture: true): void;
  removeEventListener(type: string, listener: (event: Event) => void, capture: true): void;
}

/** The accessor goes, unless the app has frozen the promise: then it goes on answering what it answers natively. */
const drop = (promise: object): unknown => Reflect.deleteProperty(promise, 'constructor');

/** Watches promises of one realm. The listeners must be registered before the app's: construct at the start. */
export class PromiseWatch {
  /** Promises that still have the accessor, or whose branch has rejected. */
  private readonly watched = new WeakMap<Promise<unknown>, Watched>();
  /** The app's promise behind a branch that has rejected. */
  private readonly branches = new WeakMap<Promise<unknown>, Promise<unknown>>();
  /** One for all promises: with an accessor of its own each promise would get a hidden class of its own. */
  private readonly accessor: PropertyDescriptor;
  private open = 0;
  private ending = false;

  /** @param target the realm's global object; null where it has no events (Node) */
  constructor(private readonly target: RejectionTarget | null) {
    const touch = (promise: Promise<unknown>): void => this.touch(promise);
    this.accessor = {
      configurable: true,
      enumerable: false,
      get(this: Promise<unknown>) {
        touch(this);
        return NativePromise;
      },
      set(this: Promise<unknown>, value: unknown) {
        touch(this);
        define(this, 'constructor', value, true);
      },
    };
    target?.addEventListener('unhandledrejection', this.onRejection, true);
    target?.addEventListener('rejectionhandled', this.onRejection, true);
  }

  /**
   * Call `settled` once the promise settles, before the app's own reactions run. What is not a promise counts as settled now.
   * `settled` must not throw.
   */
  watch(value: unknown, settled: (ok: boolean, value: unknown) => void): void {
    if (!(value instanceof NativePromise)) {
      settled(true, value);
      return;
    }
    const ok = (v: unknown): void => {
      this.release(value, watched);
      settled(true, v);
    };
    const failed = (reason: unknown): void => {
      settled(false, reason);
      if (watched.touched) {
        this.release(value, watched);
        return;
      }
      this.branches.set(watched.branch, value);
      throw reason; // see the head of the file
    };
    this.open++;
    const watched: Watched = { touched: false, announced: false, branch: react(value, ok, failed) };
    this.watched.set(value, watched);
    void defineProperty(value, 'constructor', this.accessor);
  }

  /** Stop listening once the promises still under way have settled. */
  restore(): void {
    this.ending = true;
    this.unlisten();
  }

  private touch(promise: Promise<unknown>): void {
    drop(promise);
    const watched = this.watched.get(promise);
    if (!watched || watched.touched) return;
    watched.touched = true;
    if (!this.branches.has(watched.branch)) return;
    // A late reaction: the branch counts as handled from now on, so the browser says nothing, or `rejectionhandled` if it spoke.
    void apply(nativeThen, watched.branch, [undefined, ignore]);
    if (!watched.announced) this.close();
  }

  private release(promise: Promise<unknown>, watched: Watched): void {
    if (!watched.touched) drop(promise);
    this.close();
  }

  private close(): void {
    this.open--;
    this.unlisten();
  }

  private unlisten(): void {
    if (!this.ending || this.open > 0) return;
    this.target?.removeEventListener('unhandledrejection', this.onRejection, true);
    this.target?.removeEventListener('rejectionhandled', this.onRejection, true);
  }

  private readonly onRejection = (event: Event): void => {
    const promise = this.branches.get((event as PromiseRejectionEvent).promise);
    if (!promise) return;
    define(event, 'promise', promise);
    const watched = this.watched.get(promise)!;
    if (watched.announced) return;
    watched.announced = true;
    this.close();
  };
}
