/**
 * Detects when Asyncify (wa-sqlite 1.x) takes away a call's stack. The call returns then, but
 * without its result.
 */
export class Suspensions {
  /** Number of suspensions so far. */
  count = 0;

  /**
   * Asyncify's handleAsync begins a promise and unwinds, or returns the promise's result. Only the
   * first is a suspension.
   */
  watch(vfs: Record<string, unknown>): void {
    let inner = vfs.handleAsync as ((f: () => unknown) => unknown) | undefined;
    if (typeof inner !== 'function') return;
    const watched = (f: () => unknown): unknown => {
      let ran = false;
      const answer = inner!(() => {
        ran = true;
        return f();
      });
      if (ran && !(answer instanceof Promise)) this.count++;
      return answer;
    };
    Object.defineProperty(vfs, 'handleAsync', {
      configurable: true,
      enumerable: false,
      get: () => watched,
      set: (f: typeof inner) => (inner = f), // registering sets Asyncify's own handleAsync
    });
  }
}
