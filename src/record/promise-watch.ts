/**
 * Observes how a platform promise settles. The app gets the same promise, at the same time, and
 * with the same `unhandledrejection` as without us.
 *
 * Our reaction marks a promise as handled, which would suppress the event, so we need to know
 * whether the app also reacts to it. Every way to react (await, then, Promise.all, passing it to
 * the platform) first reads `promise.constructor`. An own accessor detects that once and removes
 * itself. If a promise rejects that the app hasn't touched, our derived promise also rejects
 * unhandled. The browser then reports that one, and the event is changed to name the app's promise.
 *
 * Differences from native: the own property until the first access, and V8 skips an optimization
 * for `await` (some ns each).
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

/** Event listening of a realm's global object, in the capture phase. */
interface RejectionTarget {
  addEventListener(type: string, listener: (event: Event) => void, capture: true): void;
  removeEventListener(type: string, listener: (event: Event) => void, capture: true): void;
}

/**
 * Remove the accessor. If the app has frozen the promise, it stays and returns the native value.
 */
const drop = (promise: object): unknown => Reflect.deleteProperty(promise, 'constructor');

/**
 * Watches promises of one realm. Its listeners must be registered before the app's, so construct it
 * at the start.
 */
export class PromiseWatch {
  /** Promises that still have the accessor, or whose derived promise has rejected. */
  private readonly watched = new WeakMap<Promise<unknown>, Watched>();
  /** The app's promise for a derived promise that has rejected. */
  private readonly branches = new WeakMap<Promise<unknown>, Promise<unknown>>();
  /**
   * Shared by all promises, because a separate accessor would give each promise its own hidden
   * class.
   */
  private readonly accessor: PropertyDescriptor;
  private open = 0;
  private ending = false;

  /** @param target the realm's global object; null if it has no events (Node) */
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
   * Call `settled` once the promise settles, before the app's own reactions run. A value that isn't
   * a promise counts as settled. `settled` must not throw.
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

  /** Stop listening once the pending promises have settled. */
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
    // A late reaction: the derived promise counts as handled from here on, so the browser reports
    // nothing, or `rejectionhandled` if it already reported.
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
