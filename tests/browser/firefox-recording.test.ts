/**
 * Recording in Firefox's real toolbox, as thoroughly as in Chromium: captured data, access revoked
 * midway, a background that stops, a page that hangs, and every view with the same numbers as
 * `summary`.
 */
import { showView } from './show-view.ts';
import type { Page } from 'puppeteer-core';
import { afterEach, describe, expect, test } from 'vitest';
import type { DrivenFirefox } from '../../src/drive/firefox.ts';
import type { FirefoxPanel } from '../../src/drive/firefox-panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import type { TestId } from '../../src/drive/panel-control.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { messages } from '../../src/analysis/messages/messages.ts';
import { requests } from '../../src/analysis/messages/requests.ts';
import { privacyReport } from '../../src/analysis/privacy/privacy-report.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { CAPTURE_DEFAULTS, type CaptureOptions } from '../../src/event/capture.ts';
import type { AppServer } from '../server/server.mjs';
import { recorded, savedStore, savedSummary, state } from './extension-harness.ts';
import { arrived, freshTab, inFirefox, siteAccessInFirefox } from './firefox-harness.ts';
import {
  byChannel,
  GOLDEN,
  GOLDEN_EXACT,
  GOLDEN_REQUESTS,
  goldenLines,
  goldenMessages,
  UNSAID,
} from './golden-messages.ts';
import { inTheLab } from '../contract/helpers/in-the-lab.ts';
import { executedBeforeClose, labWorkload } from './lab-workload.ts';
import { makeFrames } from './opened-documents.ts';
import { countOf, marksOf, threadOf } from './threads-harness.ts';
import {
  CANCELED,
  canceledAtWork,
  LAST_MESSAGES,
  missingWrites,
  MOST_MISSING,
  terminatedAtReply,
} from './last-messages.ts';
import { longTest } from './long-test.ts';
import { shownEvents } from './shown-events.ts';

const ENGINE = '/journeyapps-wa-sqlite/?vfs=OPFSCoopSync';
let server: AppServer;
let driven: DrivenFirefox;
let page: Page;
let panel: FirefoxPanel;
let labels = 0;

inFirefox((tab) => ({ server, driven, page, panel } = tab));
afterEach(async () => {
  await panel?.setStored({ ...CAPTURE_DEFAULTS });
});

const shows = (id: string, start: string): Promise<unknown> =>
  panel.waitFor('document.querySelector(args[1])?.textContent.trim().startsWith(args[2])', [
    `[data-testid="${id}"]`,
    start,
  ]);
/** The app inserts rows, each in its own transaction. */
const inserts = (n: number): Promise<unknown> =>
  page.evaluate(
    (rows) =>
      (window as unknown as { run(w: string, o: object): Promise<unknown> }).run('own-sql', {
        n: rows,
      }),
    n,
  );

describe('captured data', () => {
  async function capturing(capture: Partial<CaptureOptions>): Promise<TraceStore> {
    await startRecording(panel, { capture });
    const url = server.origin(`capture-${++labels}`) + ENGINE;
    await driven.load(page, url);
    await state(page, 'ready');
    await inserts(9);
    await arrived(panel, page);
    await stopRecording(panel);
    return savedStore(driven, panel);
  }

  longTest('level 0: calls, and no text of a statement', async () => {
    const store = await capturing({ capture: 0 });
    expect(privacyReport(store)).toMatchObject({ level: 0, capturedLevel: 0 });
    expect(summaryOf(store)).toMatchObject({
      dropped: 0,
      faults: 0,
      commits: 10,
      statements: { distinct: null },
    });
  });

  test('level 2 and stacks: literals, and the place in the app that prepared each statement', async () => {
    const store = await capturing({ capture: 2, stacks: true });
    expect(privacyReport(store)).toMatchObject({ level: 2, capturedLevel: 2 });
    expect(privacyReport(store).sqlWithLiterals).toBeGreaterThan(0);
    const stacks = store.threads.flatMap((t) =>
      [...t.definitions.values()].flatMap((d) => (d.kind === 'stack' ? [JSON.stringify(d)] : [])),
    );
    expect(stacks.length).toBeGreaterThan(0);
    for (const stack of stacks) {
      expect(stack).toContain('/journeyapps-wa-sqlite/');
      expect(stack).not.toContain('vfscopeHook');
    }
  });

  test("instructions: the Lab's own count of its workload", async () => {
    await startRecording(panel, { capture: { instructions: true } });
    await driven.load(page, `${server.origin(`capture-${++labels}`)}/hook-cases/`);
    await page.evaluate(labWorkload());
    await arrived(panel, page);
    await stopRecording(panel);
    const store = await savedStore(driven, panel);
    const [atClose] = await inTheLab({ vfs: 'MemoryVFS' }, 'total');
    expect(store.threads.flatMap(executedBeforeClose)).toEqual([atClose]);
    expect(summaryOf(store)).toMatchObject({ dropped: 0, faults: 0 });
  });

  test('messages between threads: every one of a known app, in order, and without their contents', async () => {
    await startRecording(panel, { capture: { messages: true } });
    await driven.load(page, `${server.origin(`capture-${++labels}`)}/hook-cases/`);
    await page.evaluate(goldenMessages, '/hook-cases/messages.js');
    await arrived(panel, page);
    await stopRecording(panel);
    const store = await savedStore(driven, panel);
    for (const kind of ['page', 'worker'] as const)
      expect(byChannel(goldenLines(store, kind))).toEqual(byChannel(GOLDEN[kind]));
    const facts = new Facts(store);
    const exact = facts.get(messages).filter(({ pairing }) => pairing === 'exact');
    expect(exact).toHaveLength(GOLDEN_EXACT);
    expect(facts.get(requests).map(({ pairing }) => pairing)).toEqual(GOLDEN_REQUESTS);
    // all texts in a file
    const texts = store.threads.map(({ info, said }) => ({ info, said }));
    expect(JSON.stringify(texts)).not.toContain(UNSAID);
  });

  longTest('level 3: the values that statements ran with', async () => {
    await startRecording(panel, { capture: { capture: 3 } });
    await driven.load(page, `${server.origin(`capture-${++labels}`)}/demo/?vfs=OPFSCoopSync`); // adds 12 notes, with bound values
    await state(page, 'ready');
    await arrived(panel, page);
    await stopRecording(panel);
    const store = await savedStore(driven, panel);
    expect(privacyReport(store)).toMatchObject({ level: 3, capturedLevel: 3 });
    const worker = store.threads.find(({ info }) => info.kind === 'worker')!;
    const { events } = worker;
    const insert = worker.said.find(
      (d) => d.kind === 'sql' && d.text.startsWith('INSERT INTO notes(title'),
    )!.id;
    const runs = Array.from({ length: events.count }, (_, row) => row).filter(
      (row) => events.op[row] === Op.sqlStep && events.object[row] === insert,
    );
    const bound = new Map(
      worker.said.flatMap((d) => (d.kind === 'values' ? [[d.of, d.values] as const] : [])),
    );
    const values = runs.flatMap((row) => {
      const found = bound.get(events.seq[row]!);
      return found ? [found] : [];
    });
    expect(values).toHaveLength(12);
    for (const [title, body, tag, created, updated] of values) {
      for (const text of [title, body, tag]) expect(text).toMatch(/^'.+['…]/s);
      expect(created).toMatch(/^\d{13}$/);
      expect(updated).toBe(created);
    }
  });

  longTest('one layer, in a buffer of another size', async () => {
    const store = await capturing({ layers: ['vfs'], buffer: 256 });
    const summary = summaryOf(store);
    expect(summary.statements.count).toBeNull();
    expect(summary.web).toMatchObject({
      opfs: { reads: null, writes: null, flushes: null },
      locks: { requests: null },
    });
    expect(summary).toMatchObject({
      dropped: 0,
      faults: 0,
      commits: 10,
      environment: { capture: { layers: ['vfs'], buffer: 256 } },
    });
  });
});

test("frames that the page writes itself are recorded and restored, in a tab that isn't recorded at once, and no listener sees vfscope", async () => {
  const hooked = (of: Page): Promise<string[]> => of.evaluate(() => window.frameCases.hooked());
  await startRecording(panel);
  await driven.load(page, `${server.origin(`opened-${++labels}`)}/hook-cases/`);
  await recorded(page);
  await page.evaluate(makeFrames);
  const names = await page.evaluate(() => window.frameCases.names);
  expect(await hooked(page)).toEqual(names);
  await page.evaluate(() => window.frameCases.mark('own'));

  const other = await driven.browser.newPage();
  await driven.load(other, `${server.origin(`unrelated-${labels}`)}/hook-cases/`);
  await other.evaluate(makeFrames);
  await expect.poll(() => hooked(other), { timeout: 30_000 }).toEqual([]);
  expect(await other.evaluate(() => window.frameCases.heard)).toEqual([]);

  await arrived(panel, page);
  await stopRecording(panel);
  await expect.poll(() => hooked(page), { timeout: 30_000 }).toEqual([]);
  expect(await page.evaluate(() => window.frameCases.heard)).toEqual([]);
  const marks = (await savedStore(driven, panel)).threads.flatMap((thread) =>
    marksOf(thread).map(({ name }) => name),
  );
  expect(marks.filter((name) => name.startsWith('own')).sort()).toEqual(
    names.map((name) => `own ${name}`).sort(),
  );
});

test.each(['', '/coi'])(
  'a worker that closes itself is recorded to the end of its task, page %s',
  async (variant) => {
    await startRecording(panel);
    await driven.load(page, `${server.origin(`closes-${++labels}`)}${variant}/hook-cases/`);
    await recorded(page);
    await page.evaluate(async () => {
      const worker = new Worker('closes.js?asked');
      const asked = (what: string): Promise<unknown> =>
        new Promise((done) => {
          worker.onmessage = done;
          worker.postMessage(what);
        });
      // from the second turn on its connection carries data
      for (let i = 0; i < 20; i++) await asked('turn');
      await asked('close');
    });
    await arrived(panel, page);
    await stopRecording(panel);
    const { threads } = await savedStore(driven, panel);
    const worker = threads.find(({ info }) => info.url.includes('closes.js'))!;
    expect(worker.ended).toBe('closed');
    expect(marksOf(worker).map(({ name }) => name)).toEqual([
      'case',
      ...Array.from({ length: 30 }, () => 'closed'),
    ]);
  },
);

// Firefox itself, without extensions, sometimes loses what a nested worker answers: 6 of 372 times
test(
  'a worker of a SharedWorker loses nothing when the page that relays for them reloads',
  { retry: 2, timeout: 20_000 },
  async () => {
    const origin = server.origin(`nesting-${++labels}`);
    const load = async (tab: Page): Promise<void> => {
      await driven.load(tab, `${origin}/hook-cases/`);
      await recorded(tab);
    };
    const ask = (tab: Page, mark: string): Promise<string> =>
      tab.evaluate(
        (said) =>
          new Promise<string>((done) => {
            const { port } = new SharedWorker('nesting.js');
            port.onmessage = ({ data }) => done((data as { said: string }).said);
            port.postMessage(said);
          }),
        mark,
      );
    try {
      await driven.load(page, `${origin}/hook-cases/`);
      await startRecording(panel, { scope: 'origin' });
      await load(page);
      await ask(page, '0'); // this page relays
      const other = await driven.browser.newPage();
      await load(other);
      for (let i = 1; i <= 60; i++) {
        expect(await ask(other, String(i))).toBe(String(i));
        if (i % 20 === 0) await load(page);
      }
      await page.bringToFront();
      await arrived(panel, page);
      await stopRecording(panel);
      const { threads } = await savedStore(driven, panel);
      const shared = threads.filter(({ info }) => info.kind === 'shared-worker');
      const inner = threads.filter(({ info }) => info.name === 'inner');
      expect(shared).toHaveLength(1);
      expect(
        inner.map(({ info, dropped, missing, ended }) => [info.parent, dropped, missing, ended]),
      ).toEqual([[shared[0]!.info.id, 0, 0, 'stopped']]);
      expect(marksOf(inner[0]!).map(({ name }) => name)).toEqual(
        Array.from({ length: 61 }, (_, i) => String(i)),
      );
      await other.close();
    } finally {
      await panel.evaluate(
        `if (!document.querySelector('[data-testid="record"]')) document.querySelector('[data-testid="stop"]').click();`,
      );
      await panel.choose('scope', 'tab');
    }
  },
);

test('access to web pages revoked during a recording: reported, the recording is intact, the app continues', async () => {
  await startRecording(panel);
  await driven.load(page, server.origin(`revoked-${++labels}`) + ENGINE);
  await recorded(page);
  await state(page, 'ready');
  await inserts(40);
  await arrived(panel, page);
  try {
    await siteAccessInFirefox(driven, false);
    await panel.waitFor(`document.body.innerText.includes('vfscope has no access to ')`);
    await inserts(5);
    await stopRecording(panel);
    const { files, dropped } = await savedSummary(driven, panel);
    expect(dropped).toBe(0);
    expect(files.find(({ kind }) => kind === 'main-db')?.vfs.xSync).toBeGreaterThan(40);
  } finally {
    await siteAccessInFirefox(driven, true);
  }
});

test('a recording continues when the event page is suspended, and the next page and its worker are recorded', async () => {
  await startRecording(panel);
  await driven.load(page, server.origin(`suspended-${++labels}`) + ENGINE);
  await state(page, 'ready');
  const suspend = (): Promise<unknown> =>
    driven.chrome.run(
      `await extension.extension.terminateBackground();
       return extension.extension.backgroundState;`,
    );
  expect(await suspend()).not.toBe('running');
  await inserts(4);
  await arrived(panel, page);
  await suspend();
  await driven.load(page, server.origin(`suspended-${++labels}`) + ENGINE);
  await recorded(page);
  await state(page, 'ready');
  await inserts(9);
  await arrived(panel, page);
  await stopRecording(panel);
  const summary = await savedSummary(driven, panel);
  expect(summary).toMatchObject({ commits: 5 + 10, dropped: 0, faults: 0 });
  expect(summary.threads.map(({ kind }) => kind).sort()).toEqual([
    'page',
    'page',
    'worker',
    'worker',
  ]);
});

longTest(
  'relayed by an event page that ends again and again, every call arrives once',
  async () => {
    await startRecording(panel, { transport: 'runtime' });
    try {
      await driven.load(page, server.origin(`ends-${++labels}`) + ENGINE);
      await recorded(page);
      await state(page, 'ready');
      const work = inserts(300);
      for (let times = 0; times < 8; times++)
        await driven.chrome.run(
          `for (const end = Date.now() + args[0]; extension.extension.backgroundState !== 'running'; await new Promise((done) => setTimeout(done, 10)))
           if (Date.now() > end) throw new Error('the event page does not come back: ' + extension.extension.backgroundState);
         await extension.extension.terminateBackground();`,
          15_000,
        );
      await work;
      await arrived(panel, page);
      await stopRecording(panel);
      const summary = await savedSummary(driven, panel);
      expect(summary).toMatchObject({ commits: 301, dropped: 0, faults: 0 });
      expect(summary.files.find(({ kind }) => kind === 'main-db')!.vfs.xSync).toBe(301);
      expect(summary.threads.map(({ kind }) => kind).sort()).toEqual(['page', 'worker']);
    } finally {
      await panel.setTransport('port');
    }
  },
);

test('a worker that is terminated at its last message has sent everything before it', async () => {
  await startRecording(panel);
  await driven.load(page, server.origin(`replies-${++labels}`) + '/hook-cases/');
  await recorded(page);
  const first = 20; // calls of its first turns, before it has a connection to the panel
  for (const [work, n, door] of LAST_MESSAGES)
    await page.evaluate(terminatedAtReply, work, n, door, first);
  await arrived(panel, page);
  await stopRecording(panel);
  const store = await savedStore(driven, panel);
  const threads = LAST_MESSAGES.map(([work, n, door]) => threadOf(store, `${work} ${n} ${door}`));
  const calls = threads.map((thread) => countOf(thread, Op.atomicsNotify));
  expect(calls.slice(0, -1)).toEqual(LAST_MESSAGES.slice(0, -1).map(([, n]) => first + n));
  // the last one is terminated while it works
  expect(calls.at(-1)).toBeGreaterThanOrEqual(first + LAST_MESSAGES.at(-1)![1]);
  expect(threads.map(({ ended }) => ended)).toEqual(threads.map(() => 'terminated'));
});

/**
 * Workers that do all of their work in their first tasks, and are terminated at their only reply.
 */
async function coldWorkers(runs: number): Promise<void> {
  await startRecording(panel);
  await driven.load(page, server.origin(`cold-${++labels}`) + '/hook-cases/');
  await recorded(page);
  const made = new Map<string, number>();
  for (let run = 0; run < runs; run++)
    for (const [work, n, door] of LAST_MESSAGES.slice(0, -1))
      made.set(
        `${work} ${n} ${door} ${run}`,
        await page.evaluate(terminatedAtReply, work, n, door, 0, ` ${run}`),
      );
  await arrived(panel, page);
  await stopRecording(panel);
  const { threads } = await savedStore(driven, panel);
  // and one that another worker starts
  const workers = threads.filter(({ info }) => made.has(info.name));
  expect(new Map(workers.map((one) => [one.info.name, countOf(one, Op.atomicsNotify)]))).toEqual(
    made,
  );
  expect(workers.map(({ ended, lost, notes }) => [ended, lost, notes])).toEqual(
    workers.map(() => ['terminated', 0, []]),
  );
}
test('a worker that is terminated at its first message is recorded, with everything that it did', () =>
  coldWorkers(1));
longTest('the same 60 times', () => coldWorkers(6));

longTest('of a worker that is canceled at work at most the last 50 ms are missing', async () => {
  await startRecording(panel);
  await driven.load(page, server.origin(`replies-${++labels}`) + '/hook-cases/');
  await recorded(page);
  const made = new Map<string, number>();
  for (let run = 0; run < CANCELED; run++)
    made.set(`w${run}`, await page.evaluate(canceledAtWork, `w${run}`, 300 + 7 * run));
  await arrived(panel, page);
  await stopRecording(panel);
  const missing = missingWrites(await savedStore(driven, panel), made);
  expect(Math.max(...missing), missing.join()).toBeLessThanOrEqual(MOST_MISSING);
  expect(Math.min(...missing)).toBeGreaterThanOrEqual(0);
});

test('a page whose worker hangs while it is recorded affects only its own tab', async () => {
  await startRecording(panel);
  await driven.load(page, server.origin(`hangs-${++labels}`) + ENGINE);
  await recorded(page);
  await page.evaluate(() => void new Worker(URL.createObjectURL(new Blob(['for (;;);']))));
  ({ page, panel } = await freshTab(driven));
  await panel.find('record');
  await startRecording(panel);
  await driven.load(page, server.origin(`hangs-not-${++labels}`) + ENGINE);
  await state(page, 'ready');
  await inserts(3);
  await arrived(panel, page);
  await stopRecording(panel);
  const summary = await savedSummary(driven, panel);
  expect(summary).toMatchObject({ commits: 4, dropped: 0 });
  expect(summary.threads.map(({ kind }) => kind).sort()).toEqual(['page', 'worker']);
});

test('every view shows a recording, with the numbers of its summary', async () => {
  await startRecording(panel);
  await driven.load(page, server.origin(`views-${++labels}`) + ENGINE);
  await state(page, 'ready');
  await inserts(30);
  await arrived(panel, page);
  await stopRecording(panel);
  await panel.resize(2000, 700); // so that every column of Files fits
  const store = await savedStore(driven, panel);
  const summary = summaryOf(store);
  const count = (n: number): string => n.toLocaleString('en-US');
  const sum = (call: 'xRead' | 'xWrite' | 'xSync'): number =>
    summary.files.reduce((n, { vfs }) => n + (vfs[call] ?? 0), 0);
  const { statements, transactions, pageCache } = summary;
  const database = summary.files.find(({ kind }) => kind === 'main-db')!;
  /** What each view should show of the recording: the test id, and how its text begins. */
  const said: Record<string, [string, string][]> = {
    answer: [
      ['number-statements', count(statements.count!)],
      ['number-commits', count(summary.commits!)],
      ['number-syncsPerCommit', String(summary.syncsPerCommit)],
    ],
    timeline: [['timeline', '']],
    statements: [
      [
        'statement-count',
        `${count(statements.distinct! + 1)} statements, ${count(statements.count!)} runs`,
      ],
    ],
    flame: [['flame-view', '']],
    transactions: [
      ['transaction-count', `${count(transactions.read! + transactions.write!)} transactions`],
    ],
    files: [],
    cache: [
      ['cache-hits', count(pageCache.hits!)],
      ['cache-misses', count(pageCache.misses!)],
    ],
    wal: [['no-wal', 'No write-ahead log was used']],
    locks: [['locks-view', '']],
    doctor: [['doctor-not-here', "Doctor can't look from here"]],
    events: [['event-count', `${count(shownEvents(store.threads))} events`]],
    errors: [['errors-view', '']],
    sql: [['sql-view', '']],
    compare: [['compare-name', 'nothing yet']],
    settings: [['settings-view', '']],
  };
  const tabs = (await panel.evaluate(
    `return [...document.querySelectorAll('[role="tab"][data-testid^="tab-"]')].map((tab) => tab.dataset.testid.replace('tab-', ''))`,
  )) as string[];
  expect(tabs).toEqual(Object.keys(said));
  for (const tab of tabs) {
    await showView(panel, tab);
    if (tab === 'answer') {
      await panel.waitFor(`document.querySelector('[data-testid="fold-details"]')`);
      await panel.press('fold-details');
    }
    for (const [id, start] of said[tab]!) await shows(id, start);
    for (const [id, n] of [
      ['reads', sum('xRead')],
      ['writes', sum('xWrite')],
      ['syncs', sum('xSync')],
      ['commits', summary.commits!],
    ] as const)
      expect(await panel.textOf(`live-${id}`), tab).toBe(count(n));
    expect(
      await panel.evaluate(
        `return [...document.querySelectorAll('[data-testid="toast"]')].map((e) => e.innerText).filter((text) => !text.startsWith('Your browser is saving'))`,
      ),
      tab,
    ).toEqual([]);
    if (tab === 'timeline')
      await panel.waitFor(`document.querySelector('[data-testid="timeline"][data-frame]')`);
    if (tab === 'files') {
      const row = `['reads', 'writes', 'syncs'].flatMap((c) => document.querySelector('[data-kind="main-db"] [data-column=' + c + ']')?.innerText.trim() ?? [])`;
      const cells = await panel.waitFor(`(${row}).length === 3 && ${row}`);
      const { xRead, xWrite, xSync } = database.vfs;
      expect(cells).toEqual([xRead, xWrite, xSync].map((n) => count(n ?? -1)));
    }
    if (tab === 'sql') {
      await panel.press('sql-run' as TestId);
      const operations = new Set(
        store.threads.flatMap(({ events }) => [...events.op.subarray(0, events.count)]),
      );
      await shows('sql-count', `${operations.size} rows`);
      const syncs = `[...document.querySelectorAll('[data-testid="sql-view"] :is(tr, [role="row"])')]
        .map((r) => [...r.children].map((c) => c.innerText.trim())).find((cells) => cells.includes('xSync'))?.join(' ')`;
      expect(await panel.waitFor(syncs)).toContain(`xSync vfs ${sum('xSync')} `);
    }
  }
}, 240_000);
