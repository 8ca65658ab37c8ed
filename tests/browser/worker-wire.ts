// Lets a test control messages from the store's worker: count answers, hold them back, or turn them
// into failures.
import type { Page } from 'puppeteer-core';
import { expect } from 'vitest';

interface Reply {
  id: number;
  ok: boolean;
  error?: { name: string; message: string };
}
interface WireState {
  /** By name of the query or method. */
  names: Map<number, string>;
  /** When each arrived, ms. */
  heard: Map<string, number[]>;
  held: Map<string, (() => void)[]>;
  failing: Map<string, string>;
}
type Wired = typeof globalThis & { wire: WireState };

interface Wire {
  /** From now on, hold its answers back. */
  hold(name: string): Promise<void>;
  /** Release held answers, and stop holding. */
  release(name: string): Promise<void>;
  /** From now on, answer it with a failure. */
  fail(name: string, why: string): Promise<void>;
  /** When it was sent, ms of the worker's clock. */
  heard(name: string): Promise<number[]>;
  /** Waits until it was sent this often. */
  asked(name: string, times: number): Promise<void>;
}

/** @param page with the viewer in it, loaded */
export async function wireOf(page: Page): Promise<Wire> {
  const store = page.workers().find((worker) => worker.url().includes('store-worker'))!;
  await store.evaluate(() => {
    const wire: WireState = {
      names: new Map(),
      heard: new Map(),
      held: new Map(),
      failing: new Map(),
    };
    (globalThis as Wired).wire = wire;
    addEventListener(
      'message',
      ({ data }: MessageEvent<{ id: number; method: string; args: unknown[] }>) => {
        const name = data.method === 'query' ? String(data.args[0]) : data.method;
        wire.names.set(data.id, name);
        wire.heard.set(name, [...(wire.heard.get(name) ?? []), performance.now()]);
      },
    );
    const post = postMessage.bind(globalThis) as (
      message: unknown,
      transfer: Transferable[],
    ) => void;
    const deliver = (message: Reply, transfer: Transferable[] = []): void => {
      const name = wire.names.get(message.id) ?? '';
      const why = wire.failing.get(name);
      const said: Reply =
        why === undefined
          ? message
          : { id: message.id, ok: false, error: { name: 'Error', message: why } };
      const go = (): void => post(said, why === undefined ? transfer : []);
      const held = wire.held.get(name);
      if (held) held.push(go);
      else go();
    };
    // the session receives a request first, and may have answered it before it arrives here
    globalThis.postMessage = ((message: Reply, transfer?: Transferable[]) =>
      void setTimeout(deliver, 0, message, transfer)) as typeof postMessage;
  });
  const heard = (name: string): Promise<number[]> =>
    store.evaluate((n) => (globalThis as Wired).wire.heard.get(n) ?? [], name);
  return {
    heard,
    hold: (name) => store.evaluate((n) => void (globalThis as Wired).wire.held.set(n, []), name),
    release: (name) =>
      store.evaluate((n) => {
        const { held } = (globalThis as Wired).wire;
        const all = held.get(n) ?? [];
        held.delete(n);
        for (const go of all) go();
      }, name),
    fail: (name, why) =>
      store.evaluate((n, w) => void (globalThis as Wired).wire.failing.set(n, w), name, why),
    asked: (name, times) =>
      expect
        .poll(async () => (await heard(name)).length, { timeout: 30_000 })
        .toBeGreaterThanOrEqual(times),
  };
}
