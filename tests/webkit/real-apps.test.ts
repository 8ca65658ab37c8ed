/**
 * PowerSync in two tabs of WebKit, through Safari's two scripts: its SharedWorker is recorded, each storage call as the app's own scripts
 * count it, while one tab after the other loads again. It is the one real app (tests/oracle/real-apps.ts) that WebKitGTK can run, with
 * vfscope or without: the others need OPFS handles that work, or a SharedArrayBuffer in a nested worker.
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
    /** Carry what all of them say until this is done. */
    const meanwhile = async <T>(work: Promise<T>): Promise<T> => {
      const [done] = await Promise.all([
        work,
        ...recordings.map((recording) => recording.meanwhile(work, APP_MS)),
      ]);
      return done;
    };
    const all = (): Promise<unknown> => Promise.all(recordings.map((one) => one.until(() => {})));
    /** No call for a second, and the pages were asked ten times: what was made is here. */
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
      await load(app.path); // one tab after the other: the other one holds its SharedWorker
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
