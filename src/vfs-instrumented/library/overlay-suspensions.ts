/** When Asyncify (wa-sqlite 1.x) takes a call's stack away: the call answers, but not with its answer. */
export class Suspensions {
  /** So many so far. */
  count = 0;

  /** Asyncify's handleAsync begins a promise and unwinds, or hands over what it brought: only the first is a suspension. */
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
      set: (f: typeof inner) => (inner = f), // registering sets Asyncify's own
    });
  }
}
