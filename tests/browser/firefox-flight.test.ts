/**
 * The flight recorder in Firefox's real toolbox: while armed, it drops old events as the app works.
 * Contention between two connections, the page's console, or an exception of the app freezes it.
 */
import type { Page } from 'puppeteer-core';
import { afterEach, describe, expect, test } from 'vitest';
import { some } from '../full.ts';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import type { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import type { TestId } from '../../src/drive/panel-control.ts';
import { resultText } from '../../src/trace/describe.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import type { AppServer } from '../server/server.mjs';
import { savedStore, state } from './extension-harness.ts';
import { inFirefox } from './firefox-harness.ts';
import { longTest } from './long-test.ts';

const KEPT_US = 1e6;
let server: AppServer;
let driven: DrivenFirefox;
let page: Page;
let panel: FirefoxPanel;
let labels = 0;

inFirefox((tab) => ({ server, driven, page, panel } = tab));

const shows = (id: string, start: string): Promise<unknown> =>
  panel.waitFor('document.querySelector(args[1])?.textContent.trim().startsWith(args[2])', [
    `[data-testid="${id}"]`,
    start,
  ]);
const textOf = (id: string): Promise<string> => panel.textOf(id as TestId);

describe('flight recorder', () => {
  const load = (kind: string, options: object = {}): Promise<unknown> =>
    page.evaluate(
      (name, o) =>
        (window as unknown as { load(k: string, o: object): Promise<unknown> }).load(name, o),
      kind,
      options,
    );

  /** Armed with the last second, while the app works until older calls have been dropped. */
  async function armed(): Promise<void> {
    await panel.choose('keep-kind' as TestId, 'seconds');
    await panel.choose('keep-amount' as TestId, String(KEPT_US / 1e6));
    await startRecording(panel);
    await driven.load(page, `${server.origin(`flight-${++labels}`)}/load/`);
    await state(page, 'ready');
    await shows('flight-state', 'Armed');
    await page.evaluate(
      () =>
        void (window as unknown as { load(k: string, o: object): unknown }).load('commits', {
          rate: 1000,
          seconds: 120,
        }),
    );
    await panel.waitFor(
      `(() => {
         const exact = (id, pattern) =>
           Number(pattern.exec(document.querySelector('[data-testid="live-' + id + '"]')?.parentElement?.title ?? '')?.[1]?.replaceAll(',', '') ?? NaN);
         return exact('seen', /beginning: ([\\d,]+)/) > 2 * exact('events', /recorded: ([\\d,]+)/);
       })()`,
      [],
      90_000,
    );
  }
  afterEach(() => panel.choose('keep-kind' as TestId, 'everything')); // the panel stores the choice
  /** The recording continues. Opening the frozen part stops it. */
  async function openFrozen(): Promise<void> {
    await shows('flight-frozen', 'Frozen at');
    expect((await textOf('flight-state')).trim()).toBe('Armed');
    await panel.press('flight-open' as TestId);
    await panel.find('record');
    await panel.find('details-name' as TestId); // details of the trigger: the part is open
  }
  const threadsWith = (store: TraceStore, op: number): string[] =>
    store.threads
      .filter(({ events }) => events.op.subarray(0, events.count).includes(op))
      .map(({ info }) => info.kind);
  const startsOf = (store: TraceStore): number[] =>
    store.threads.flatMap(({ events }) => [...events.t0.subarray(0, events.count)]);

  test('contention between two connections: frozen at SQLITE_BUSY, with the last second before it', async () => {
    await armed();
    await page.evaluate(() => (window as unknown as { halt(): void }).halt());
    await state(page, 'done');
    expect(await load('conflict')).toMatchObject({ error: expect.stringContaining('locked') });
    await openFrozen();
    expect(await textOf('flight-trigger')).toBe('SQLITE_BUSY from xLock on load.db');
    const store = await savedStore(driven, panel);
    const worker = store.threads.find((t) => t.info.kind === 'worker')!;
    const { events } = worker;
    const busy = Array.from({ length: events.count }, (_, row) => row).filter(
      (row) =>
        events.op[row] === Op.xLock &&
        resultText(Op.xLock, events.result[row]!, 0) === 'SQLITE_BUSY',
    );
    expect(busy).toHaveLength(1);
    const triggerUs = events.t0[busy[0]!]!;
    expect(Math.min(...startsOf(store))).toBeGreaterThanOrEqual(triggerUs - KEPT_US);
    // later events are in the recording, not in the part
    expect(store.extent()[1]).toBeLessThan(triggerUs + KEPT_US);
    expect(worker.received).toBeGreaterThan(1.5 * events.count);
    expect(store.dropped).toBe(0);
  });

  longTest('the console of the page freezes it', async () => {
    await armed();
    await page.evaluate(() => performance.mark('vfscope:freeze'));
    await openFrozen();
    expect(await textOf('flight-trigger')).toBe("performance.mark('vfscope:freeze')");
    const store = await savedStore(driven, panel);
    expect(threadsWith(store, Op.mark)).toEqual(['page']);
  });

  test.each(
    some([
      [
        'page',
        "setTimeout(() => { throw new Error('no way'); })",
        'an exception of the page: Error: no way',
      ],
      [
        'worker',
        'new Worker(URL.createObjectURL(new Blob([\'throw new TypeError("nor here")\'])))',
        'an exception of the page: TypeError: nor here',
      ],
    ]),
  )('an exception of the app freezes it: in the %s', async (kind, script, said) => {
    await armed();
    await page.evaluate(`void (${script})`);
    await openFrozen();
    expect(await textOf('flight-trigger')).toBe(said);
    const store = await savedStore(driven, panel);
    expect(threadsWith(store, Op.error)).toContain(kind);
    expect(store.dropped).toBe(0);
  });

  longTest('stopped by hand it keeps the end', async () => {
    await armed();
    await stopRecording(panel);
    await shows('flight-state', 'Stopped: the last 1 s');
    const store = await savedStore(driven, panel);
    const [from, to] = store.extent();
    expect(to - from).toBeLessThanOrEqual(KEPT_US + 1e5);
    expect(to - from).toBeGreaterThan(KEPT_US / 2);
  });
});
