/**
 * State that outlives the service worker and ends with the browser session. Changes run one after
 * the other, so two simultaneous events can't overwrite each other's.
 */
import { api } from './extension-api.ts';

export class SessionState<T> {
  private queue: Promise<unknown> = Promise.resolve();

  /**
   * @param initial the value before the first change
   * @param onValue receives the value after each change, before the caller does
   */
  constructor(
    private readonly key: string,
    private readonly initial: () => T,
    private readonly onValue: (value: T) => void = () => {},
  ) {}

  async read(): Promise<T> {
    return this.change((value) => value);
  }

  /**
   * Apply a change and store the result.
   * @param change may be asynchronous and changes its argument in place; when it throws, nothing is
   * stored
   * @returns what `change` returns
   */
  change<R>(change: (value: T) => R | Promise<R>): Promise<R> {
    const run = this.queue.then(async () => {
      const stored: Record<string, unknown> = await api.storage.session.get(this.key);
      const value = (stored[this.key] as T | undefined) ?? this.initial();
      const before = JSON.stringify(value);
      const result = await change(value);
      if (JSON.stringify(value) !== before) await api.storage.session.set({ [this.key]: value });
      this.onValue(value);
      return result;
    });
    // the caller gets the error; the next change starts from what is stored
    this.queue = run.catch(() => undefined);
    return run;
  }
}
