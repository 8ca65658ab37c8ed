/**
 * The flight recorder in the real DevTools: while armed, it drops old events as the app works.
 * Contention between two connections freezes it, and the saved file has the last second before it
 * and the call that froze it.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { saveTrace, startRecording, stopRecording } from '../../src/drive/session.ts';
import { resultText } from '../../src/trace/describe.ts';
import { Op } from '../../src/event/event.ts';
import { readTrace, type ReadResult } from '../../src/trace/file/read.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, restored, state } from './extension-harness.ts';
import { longTest } from './long-test.ts';

const KEPT_US = 1e6;
const polling = 50;
let server: AppServer;
let folder: string;
let driven: DrivenBrowser;
let page: Page;
let panel: Panel;

beforeAll(async () => {
  server = await createServer();
  folder = await mkdtemp(path.join(tmpdir(), 'vfscope-flight-'));
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  driven = await launch();
  page = await driven.firstPage();
  panel = await openPanel(page);
});
afterEach(async () => {
  await driven?.close();
});

const set = (id: string, value: string): Promise<void> =>
  panel.frame.$eval(
    `[data-testid="${id}"]`,
    (element, text) => {
      (element as HTMLInputElement).value = text;
      element.dispatchEvent(new Event('input', { bubbles: true }));
      element.dispatchEvent(new Event('change', { bubbles: true }));
    },
    value,
  );
const says = (id: string, start: string): Promise<unknown> =>
  panel.frame.waitForFunction(
    (selector, text) => document.querySelector(selector)?.textContent?.trim().startsWith(text),
    { timeout: 30_000, polling },
    `[data-testid="${id}"]`,
    start,
  );

/** Armed with the last second, while the app works until older calls have been dropped. */
async function armed(): Promise<void> {
  await panel.frame.select('[data-testid="keep-kind"]', 'seconds');
  await set('keep-amount', String(KEPT_US / 1e6));
  await startRecording(panel);
  await goTo(page, `${server.url}/load/`);
  await state(page, 'ready');
  await says('flight-state', 'Armed');
  await page.evaluate(
    () =>
      void (window as unknown as { load: (kind: string, o: object) => void }).load('commits', {
        rate: 1000,
        seconds: 120,
      }),
  );
  await panel.frame.waitForFunction(
    () => {
      const exact = (id: string, pattern: RegExp): number => {
        const title =
          document
            .querySelector(`[data-testid="live-${id}"]`)
            ?.parentElement?.getAttribute('title') ?? '';
        return Number(pattern.exec(title)?.[1]?.replaceAll(',', '') ?? NaN);
      };
      return exact('seen', /beginning: ([\d,]+)/) > 2 * exact('events', /recorded: ([\d,]+)/);
    },
    { timeout: 60_000, polling },
  );
}
/** The recording continues. Opening the frozen part stops it. */
async function openFrozen(): Promise<void> {
  await says('flight-frozen', 'Frozen at');
  expect((await panel.textOf('flight-state')).trim()).toBe('Armed');
  await panel.press('flight-open');
  await panel.frame.waitForSelector('[data-testid="record"]', { timeout: 30_000 });
  // details of the trigger: the part is open
  await panel.frame.waitForSelector('[data-testid="details-name"]', { timeout: 30_000 });
}
async function saved(): Promise<ReadResult> {
  const file = path.join(folder, 'flight.vfst');
  await saveTrace(driven, panel, file);
  return readTrace(await readFile(file));
}

describe('flight recorder', () => {
  test('contention between two connections: frozen at SQLITE_BUSY, with the last second before it', async () => {
    await armed();
    await page.evaluate(() => (window as unknown as { halt: () => void }).halt());
    await state(page, 'done');
    const { error } = (await page.evaluate(() =>
      (window as unknown as { load: (kind: string) => Promise<unknown> }).load('conflict'),
    )) as {
      error: string;
    };
    expect(error).toContain('locked');
    await openFrozen();
    await restored(page);
    expect(await panel.textOf('flight-trigger')).toBe('SQLITE_BUSY from xLock on load.db');
    await panel.frame.waitForFunction(
      () => /xLock/.test(document.querySelector('[data-testid="details"]')?.textContent ?? ''),
      {
        timeout: 30_000,
        polling,
      },
    );
    const { store, warnings } = await saved();
    expect(warnings).toEqual([]);
    const worker = store.threads.find((t) => t.info.kind === 'worker')!;
    const { events } = worker;
    const busy = Array.from({ length: events.count }, (_, row) => row).filter(
      (row) =>
        events.op[row] === Op.xLock &&
        resultText(Op.xLock, events.result[row]!, 0) === 'SQLITE_BUSY',
    );
    expect(busy).toHaveLength(1);
    const triggerUs = events.t0[busy[0]!]!;
    for (const t of store.threads)
      for (let row = 0; row < t.events.count; row++)
        expect(t.events.t0[row]).toBeGreaterThanOrEqual(triggerUs - KEPT_US);
    // later events are in the recording, not in the part
    expect(store.extent()[1]).toBeLessThan(triggerUs + KEPT_US);
    expect(events.count).toBeGreaterThan(1000);
    expect(worker.received).toBeGreaterThan(1.5 * events.count);
    expect(store.dropped).toBe(0);
    const texts = new Set(
      [...worker.definitions.values()].flatMap((d) => (d.kind === 'sql' ? [d.text] : [])),
    );
    expect([...texts].some((text) => text.startsWith('BEGIN IMMEDIATE'))).toBe(true);
  });

  longTest('the console of the page freezes it', async () => {
    await armed();
    await page.evaluate(() => performance.mark('vfscope:freeze'));
    await openFrozen();
    expect(await panel.textOf('flight-trigger')).toBe("performance.mark('vfscope:freeze')");
    const { store } = await saved();
    const marked = store.threads.filter((t) =>
      t.events.op.subarray(0, t.events.count).includes(Op.mark),
    );
    expect(marked.map((t) => t.info.kind)).toEqual(['page']);
  });

  longTest('an exception of the app freezes it; Stop saves the last seconds', async () => {
    await armed();
    await page.addScriptTag({ content: "setTimeout(() => { throw new Error('no way'); })" });
    await openFrozen();
    expect(await panel.textOf('flight-trigger')).toContain(
      'an exception of the page: Uncaught Error: no way',
    );

    await armed();
    await stopRecording(panel);
    await says('flight-state', 'Stopped: the last 1 s');
    const { store } = await saved();
    const [from, to] = store.extent();
    expect(to - from).toBeLessThanOrEqual(KEPT_US + 1e5);
    expect(to - from).toBeGreaterThan(KEPT_US / 2);
  });
});
