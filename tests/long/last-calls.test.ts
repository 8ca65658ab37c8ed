/**
 * Workers that are terminated right after their last reply, on a page that isn't isolated: every
 * call is in the recording, in Chromium the same number as in its own tracing, in Firefox no fewer
 * than the app's own scripts count. Also workers that are terminated while they work.
 */
import type { Page } from 'puppeteer-core';
import { expect, test } from 'vitest';
import { goTo, openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { Op } from '../../src/event/event.ts';
import { CANCELED, canceledAtWork, missingWrites, MOST_MISSING } from '../browser/last-messages.ts';
import { launch, recorded, savedStore } from '../browser/extension-harness.ts';
import { recordInFirefox, recordTraced } from '../browser/record-real.ts';
import { countOf } from '../browser/threads-harness.ts';
import type { RealApp } from '../oracle/real-apps.ts';
import { createServer } from '../server/server.mjs';

declare global {
  var closeDatabase: () => Promise<void>;
}

const RUNS = 100;
const ITEMS = 50;

/** Resolves when the todos exist and the page knows them. */
const ready = (page: Page, least: number): Promise<unknown> =>
  page.waitForFunction(
    (n) =>
      document.body.dataset['state'] === 'ready' &&
      Number(document.getElementById('all')!.textContent) >= n,
    { polling: 20, timeout: 60_000 },
    least,
  );

const RECORDED_BY = [
  ['Chromium', recordTraced],
  ['Firefox', recordInFirefox],
] as const;

/** PowerSync, opened and closed `RUNS` times. */
const CLOSED: RealApp = {
  name: 'powersync-close',
  path: '/powersync/?vfs=OPFSCoopSyncVFS',
  tabs: 1,
  terminates: true,
  async use([page], rest) {
    for (let run = 0; run < RUNS; run++) {
      if (run > 0) await page!.reload();
      await ready(page!, 0);
      if (run > 0) {
        await page!.evaluate(() =>
          document.querySelectorAll<HTMLElement>('#list input').forEach((box) => box.click()),
        );
      }
      await page!.$eval('#many', (button) => (button as HTMLElement).click());
      await ready(page!, ITEMS);
      await page!.evaluate(() => closeDatabase());
    }
    await rest();
  },
};

test.each(RECORDED_BY)(
  `PowerSync's close(), which terminates its worker, in %s: ${RUNS} of ${RUNS} runs are whole`,
  async (_, record) => {
    const store = await record(CLOSED);
    const workers = store.threads.filter(({ info }) => info.kind === 'worker');
    expect(workers).toHaveLength(RUNS + 1); // at the end the app is opened again, and stays open
    const closed = workers.slice(0, RUNS);
    expect(new Set(closed.map(({ ended }) => ended))).toEqual(new Set(['terminated']));
    expect(closed.map((worker) => countOf(worker, Op.xClose) > 0)).toEqual(closed.map(() => true));
  },
);

test('of a worker that is canceled at work at most the last 50 ms are missing', async () => {
  const made = new Map<string, number>();
  const [server, driven] = await Promise.all([createServer(), launch()]);
  try {
    const page = await driven.firstPage();
    const panel = await openPanel(page);
    await startRecording(panel);
    await goTo(page, `${server.origin('canceled')}/hook-cases/`);
    await recorded(page);
    for (let run = 0; run < CANCELED; run++)
      made.set(`w${run}`, await page.evaluate(canceledAtWork, `w${run}`, 300 + 7 * run));
    await stopRecording(panel);
    const missing = missingWrites(await savedStore(driven, panel), made);
    expect(Math.max(...missing), missing.join()).toBeLessThanOrEqual(MOST_MISSING);
    expect(Math.min(...missing)).toBeGreaterThanOrEqual(0);
  } finally {
    await driven.close();
    await server.close();
  }
});

/** Each in its own frame, with a worker that runs `STATEMENTS` statements. */
const VFSS = ['OPFSCoopSync', 'AccessHandlePool', 'OPFSAdaptive', 'IDBBatchAtomic', 'MemoryAsync'];
const STATEMENTS = 40_000;

const FIVE_VFSS: RealApp = {
  name: 'five-vfs',
  path: '/nothing',
  tabs: 1,
  terminates: true,
  async use([page], rest) {
    await page!.evaluate(
      async (vfss, statements) => {
        const one = async (vfs: string): Promise<void> => {
          const frame = document.createElement('iframe');
          frame.src = `/journeyapps-wa-sqlite/?vfs=${vfs}`;
          document.body.append(frame);
          await new Promise((done) => (frame.onload = done));
          const app = frame.contentWindow as unknown as {
            run?(workload: string, options: object): Promise<unknown>;
            shutdown(): void;
          };
          while (!app.run) await new Promise(requestAnimationFrame);
          await app.run('sql', {
            name: `${vfs}.db`,
            unchecked: true,
            sql: [
              'CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT)',
              'BEGIN',
              [statements / 8, "INSERT INTO t VALUES(NULL, printf('%0120d', $i))"],
              'COMMIT',
              'BEGIN',
              [statements, `SELECT body FROM t WHERE id = ($i * 7919) % ${statements / 8} + 1`],
              'COMMIT',
            ],
          });
          app.shutdown();
        };
        await Promise.all(vfss.map(one));
      },
      VFSS,
      STATEMENTS,
    );
    await rest();
  },
};

test.each(RECORDED_BY)(
  `five VFSs at once, a worker each, over a million events, in %s: all are whole`,
  async (_, record) => {
    const store = await record(FIVE_VFSS);
    expect(store.eventCount).toBeGreaterThan(1_000_000);
    const workers = store.threads.filter(({ info }) => info.kind === 'worker');
    expect(workers.map(({ ended }) => ended)).toEqual(VFSS.map(() => 'terminated'));
    // 1 CREATE, 2 BEGIN, 2 COMMIT, and each step of a SELECT that found its row
    const steps = 5 + STATEMENTS / 8 + 2 * STATEMENTS;
    for (const worker of workers) expect(countOf(worker, Op.sqlStep)).toBe(steps);
    expect(workers.map((worker) => countOf(worker, Op.xClose) > 0)).toEqual(VFSS.map(() => true));
  },
);
