/**
 * PowerSync in two tabs of WebKit, through Safari's two scripts: its SharedWorker is recorded, with
 * the storage calls that the app's own scripts count, while one tab after the other reloads. It is
 * the only real app (tests/oracle/real-apps.ts) that WebKitGTK can run, with or without vfscope.
 * The others need working OPFS handles, or a SharedArrayBuffer in a nested worker.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { expectAsCounted } from '../browser/record-real.ts';
import { realApp } from '../oracle/real-apps.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launchIsolated, SITES, type IsolatedWebKit } from './isolated-page.ts';
import { storeOf } from './hooked-app.ts';
import { RECORDED, Recording } from './isolated-recording.ts';

const TABS = 2;
let driven: IsolatedWebKit;
beforeAll(async () => void (driven = await launchIsolated(RECORDED, TABS)));
afterAll(() => driven?.close());

const APP_MS = 90_000;

test(
  'PowerSync',
  async () => {
    const app = realApp('powersync');
    const server: AppServer = await createServer({ counted: true });
    const tabs = [driven.page, ...driven.others];
    const pages = tabs.map((tab) => tab.asPuppeteer());
    const recordings = tabs.map((tab) => new Recording(tab));
    /** Carries the messages of all of them until `work` is done. */
    const meanwhile = async <T>(work: Promise<T>): Promise<T> => {
      const [done] = await Promise.all([
        work,
        ...recordings.map((recording) => recording.meanwhile(work, APP_MS)),
      ]);
      return done;
    };
    const all = (): Promise<unknown> => Promise.all(recordings.map((one) => one.until(() => {})));
    /**
     * Resolves when no call was made for a second and the pages were polled ten times, so all
     * records have arrived.
     */
    const rest = async (): Promise<void> => {
      let [records, same, since] = [-1, 0, 0];
      while (same <= 10 || performance.now() - since <= 1000) {
        await all();
        const now = recordings
          .flatMap(({ batches }) => batches)
          .reduce((sum, { count }) => sum + count, 0);
        same = now === records ? same + 1 : 0;
        if (same === 0) since = performance.now();
        records = now;
      }
    };
    try {
      const origin = server.origin(`${app.name}.${SITES.shared}`);
      const load = async (path: string): Promise<void> => {
        for (const recording of recordings) await recording.load(origin + path);
      };
      await load(app.path);
      await meanwhile(app.use(pages, rest));
      await rest();
      const seen = await app.stored?.(pages[0]!);
      await load(app.path); // one tab after the other, because the other one holds its SharedWorker
      expect(await meanwhile(Promise.resolve(app.stored?.(pages[0]!)))).toEqual(seen);
      await rest();
      await Promise.all(recordings.map((recording) => recording.stopped()));
      const store = storeOf(
        recordings.flatMap(({ hellos }) => hellos),
        recordings.flatMap(({ batches }) => batches),
      );
      const { threads, dropped } = summaryOf(store);
      expect(dropped).toBe(0);
      expectAsCounted(app, store, server);
      expect(threads.filter(({ kind }) => kind === 'shared-worker')).toHaveLength(1);
    } finally {
      for (const recording of recordings) recording.close();
      await server.close();
    }
  },
  3 * APP_MS,
);
