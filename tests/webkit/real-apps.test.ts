/**
 * PowerSync in WebKit, through Safari's two scripts: its SharedWorker is recorded, each storage call as the app's own scripts count it, while
 * the app is closed and opened again. It is the one real app (tests/oracle/real-apps.ts) that WebKitGTK can run, with vfscope or without: the
 * others need OPFS handles that work, or a SharedArrayBuffer in a nested worker.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { expectAsCounted } from '../browser/record-real.ts';
import { realApp } from '../oracle/real-apps.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launchIsolated, SITES, type IsolatedWebKit } from './isolated-page.ts';
import { RECORDED, Recording } from './isolated-recording.ts';

let driven: IsolatedWebKit;
beforeAll(async () => void (driven = await launchIsolated(RECORDED)));
afterAll(() => driven?.close());

const APP_MS = 90_000;

test(
  'PowerSync',
  async () => {
    const app = realApp('powersync');
    const server: AppServer = await createServer({ counted: true });
    const page = driven.page.asPuppeteer();
    const recording = new Recording(driven.page);
    /** No call for a second, and the page was asked ten times: what was made is here. */
    const rest = async (): Promise<void> => {
      let [records, same, since] = [-1, 0, 0];
      await recording.until(() => {
        const now = recording.batches.reduce((sum, { count }) => sum + count, 0);
        same = now === records ? same + 1 : 0;
        if (same === 0) since = performance.now();
        records = now;
        expect(same).toBeGreaterThan(10);
        expect(performance.now() - since).toBeGreaterThan(1000);
      });
    };
    try {
      const url = `${server.origin(`${app.name}.${SITES.shared}`)}${app.path}`;
      await recording.load(url);
      await recording.meanwhile(app.use([page], rest), APP_MS);
      await rest();
      const seen = await app.stored?.(page);
      await recording.load(url); // closed and opened again while it is recorded
      expect(await recording.meanwhile(Promise.resolve(app.stored?.(page)), APP_MS)).toEqual(seen);
      await rest();
      await recording.stopped();
      const store = recording.store();
      const { threads, dropped } = summaryOf(store);
      expect(dropped).toBe(0);
      expectAsCounted(app, store, server);
      expect(threads.filter(({ kind }) => kind === 'shared-worker')).toHaveLength(2);
    } finally {
      recording.close();
      await server.close();
    }
  },
  3 * APP_MS,
);
