/**
 * Web Locks for one thread. The previous thread died with all its locks, so no other holder exists.
 */

interface Options {
  readonly mode?: 'exclusive' | 'shared';
  readonly ifAvailable?: boolean;
}
interface Grant {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
}
type Callback<T> = (lock: Grant | null) => T | PromiseLike<T>;
interface Waiting {
  readonly lock: Grant;
  readonly start: () => void;
}

export class EmulatedLocks {
  private readonly held = new Set<Grant>();
  private readonly waiting: Waiting[] = [];

  request<T>(name: string, ...rest: [Callback<T>] | [Options, Callback<T>]): Promise<T> {
    const [options, callback] = rest.length === 1 ? [{}, rest[0]] : rest;
    const lock: Grant = { name, mode: options.mode ?? 'exclusive' };
    return new Promise((resolve, reject) => {
      const start = (): void => {
        this.held.add(lock);
        void Promise.resolve()
          .then(() => callback(lock))
          .then(resolve, reject)
          .finally(() => {
            this.held.delete(lock);
            this.grant();
          });
      };
      if (options.ifAvailable && !this.isFree(lock, this.waiting))
        void Promise.resolve()
          .then(() => callback(null))
          .then(resolve, reject);
      else {
        this.waiting.push({ lock, start });
        this.grant();
      }
    });
  }

  query(): Promise<{ held: Grant[]; pending: Grant[] }> {
    return Promise.resolve({
      held: [...this.held],
      pending: this.waiting.map(({ lock }) => lock),
    });
  }

  /** @param ahead earlier requests */
  private isFree({ name, mode }: Grant, ahead: readonly Waiting[]): boolean {
    const excludes = (other: Grant): boolean =>
      other.name === name && (mode === 'exclusive' || other.mode === 'exclusive');
    return ![...this.held, ...ahead.map(({ lock }) => lock)].some(excludes);
  }

  private grant(): void {
    for (let i = 0; i < this.waiting.length;) {
      const { lock, start } = this.waiting[i]!;
      if (this.isFree(lock, this.waiting.slice(0, i))) {
        this.waiting.splice(i, 1);
        start();
      } else i++;
    }
  }
}
