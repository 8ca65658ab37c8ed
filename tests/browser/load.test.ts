/**
 * The recorder under load, in the real panel: every call of an app that makes as many as it can is
 * either in the trace or counted as dropped. `npm run bench -- load` measures rates and memory.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { FULL } from '../full.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { openApp, prepareApp, runApp } from '../oracle/baseline.ts';
import { runTraced } from '../oracle/tracing.ts';
import { launch, savedStore } from './extension-harness.ts';
import { LoadDriver } from './load-driver.ts';
import { longTest } from './long-test.ts';

const MB = 1e6;
let server: AppServer;
let driven: DrivenBrowser;

beforeAll(async () => {
  server = await createServer();
});
afterAll(() => server?.close());
beforeEach(async () => {
  driven = await launch();
});
afterEach(() => driven?.close());

function calls(store: TraceStore, op: number): number {
  let n = 0;
  for (const { events } of store.threads)
    for (let row = 0; row < events.count; row++) if (events.op[row] === op) n++;
  return n;
}

describe('load', () => {
  let load: LoadDriver;
  beforeEach(async () => {
    load = await LoadDriver.open(driven, `${server.url}/load/`);
  });

  test('SQLite calls its VFS 40,000 times a second, and nothing is lost', async () => {
    await load.start();
    const { reads, calls: made } = await load.run('scan', { rate: 40_000, seconds: 4 });
    await load.stop();
    const store = await load.saved();
    expect(store.dropped).toBe(0);
    expect(calls(store, Op.xRead)).toBe(reads);
    expect(made).toBeGreaterThan(50_000);
  });

  longTest(
    'a recording that comes to its limit: the panel warns, then keeps the newest half, and what is saved can be opened',
    async () => {
      const { frame } = load.panel;
      const limits = { events: 60_000, bytes: 2 ** 31, words: 2 ** 25, disk: 0 };
      await frame.evaluate((small) => {
        const { postMessage } = Worker.prototype;
        Worker.prototype.postMessage = function (
          this: Worker,
          message: { method?: string; args?: object[] },
          options?: StructuredSerializeOptions,
        ) {
          if (message.method === 'begin') message.args = [{ ...message.args![0], limits: small }];
          postMessage.call(this, message, options);
        } as typeof postMessage;
      }, limits);
      await load.start();
      const notice = (start: string): Promise<unknown> =>
        frame.waitForFunction(
          (text) =>
            [...document.querySelectorAll('[data-testid="notice"]')].some((one) =>
              one.textContent?.trim().startsWith(text),
            ),
          { timeout: 30_000, polling: 50 },
          start,
        );
      // slow enough for a picture of the panel between the two notices, at one picture per second
      const running = load.run('storage', { rate: 6_000, seconds: 13 });
      await notice('This recording is at ');
      await notice('This recording reached its limit (60,000 events). ');
      await running;
      await load.stop();
      const store = await load.saved();
      // batches until the limit is checked
      expect(store.eventCount).toBeLessThanOrEqual(limits.events + 10_000);
      expect(store.eventCount).toBeGreaterThan(limits.events / 3);
      expect(store.dropped).toBe(0);
    },
  );

  longTest(
    'SQLite asks its VFS as fast as it can: what this machine cannot take is counted',
    async () => {
      await load.start();
      const { reads } = await load.run('scan', { seconds: 4 });
      await load.stop();
      const store = await load.saved();
      const recorded = calls(store, Op.xRead);
      expect(recorded).toBeLessThanOrEqual(reads!);
      // other records may be among the dropped ones
      expect(recorded + store.dropped).toBeGreaterThanOrEqual(reads!);
      expect(recorded).toBeGreaterThan(50_000);
    },
  );

  longTest(
    '200,000 calls a second without SQLite, for five seconds: each is kept, or counted as dropped',
    async () => {
      await load.start();
      const made = await load.run('storage', { rate: 200_000, seconds: 5 });
      await load.stop();
      const store = await load.saved();
      // a busy machine may not keep up, but then every missing call has been counted
      const missing = made.calls - calls(store, Op.localStorageGet);
      expect(missing).toBeGreaterThanOrEqual(0);
      expect(missing).toBeLessThanOrEqual(store.dropped);
      if (store.dropped === 0) expect(missing).toBe(0);
      expect(made.calls).toBeGreaterThan(200_000);
    },
  );

  longTest("the flight recorder's memory is flat under load", async () => {
    await load.start(1);
    await load.run('notify', { rate: 100_000, seconds: 4 }); // warm-up
    const before = { ...(await load.memory()), ...(await load.counts()) };
    await load.run('notify', { rate: 100_000, seconds: 4 });
    await load.panel.frame.waitForFunction(
      (earlier) => {
        const title =
          document
            .querySelector('[data-testid="live-seen"]')
            ?.parentElement?.getAttribute('title') ?? '';
        return Number(/beginning: ([\d,]+)/.exec(title)?.[1]?.replaceAll(',', '')) > earlier;
      },
      { polling: 100 },
      before.seen + 100_000,
    );
    const after = { ...(await load.memory()), ...(await load.counts()) };
    expect(after.dropped).toBe(0);
    expect(after.kept).toBeLessThan(after.seen / 2);
    // columns grow by doubling, so one more or less is 8 MB. If the second run's recording were
    // retained, it would be 24 MB.
    for (const part of ['page', 'panel', 'store'] as const)
      expect(after[part], part).toBeLessThan(before[part] + 16 * MB);
    await load.stop();
  });
});

describe('bursts', () => {
  longTest(
    'PGlite walks all files of its server after each statement: each of these requests is in the trace',
    async () => {
      const page = await driven.firstPage();
      const panel = await openPanel(page);
      await startRecording(panel);
      await openApp(page, `${server.origin('burst')}/pglite/?vfs=idb`);
      await prepareApp(page);
      // a burst after each statement, 100,000 requests in total with FULL
      const n = FULL ? 60 : 30;
      const { counts } = await runTraced(page, () =>
        runApp(page, 'portable', { n, autocommits: n }),
      );
      await stopRecording(panel);
      const store = await savedStore(driven, panel);
      expect(store.dropped).toBe(0);
      const between = (prefix: string): number => {
        for (const { events, definitions } of store.threads)
          for (let row = 0; row < events.count; row++) {
            const name =
              events.op[row] === Op.mark ? definitions.get(events.object[row]!) : undefined;
            if (name?.kind === 'name' && name.text.startsWith(prefix)) return events.t0[row]!;
          }
        throw new Error(`the trace holds no mark ${prefix}`);
      };
      const [from, to] = [between('oracle-begin'), between('oracle-end')];
      let requests = 0;
      for (const { events } of store.threads)
        for (let row = events.lowerBound(from); row < events.count && events.t0[row]! <= to; row++)
          if (events.op[row]! >= Op.idbGet && events.op[row]! <= Op.idbCursorDelete) requests++;
      expect(requests).toBe(Object.values(counts.idb.requests).reduce((sum, n) => sum + n, 0));
      expect(store.eventCount).toBeGreaterThan(FULL ? 100_000 : 40_000);
    },
  );
});
