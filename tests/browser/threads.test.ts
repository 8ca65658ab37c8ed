/**
 * Every way to start a worker or frame, through the extension and the real panel: each is either a
 * thread of the saved trace with its own events, or a notice in the panel with its name, the cause,
 * and the next step.
 */
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { Op } from '../../src/event/event.ts';
import { isCached } from '../../src/trace/thread-end.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { eventsSaid, launch, moreEvents, recorded, restored, state } from './extension-harness.ts';
import { serveCases } from './hooks-harness.ts';
import { countOf, marksOf, notice, saved, threadOf } from './threads-harness.ts';

declare const start: Record<string, (origin?: string) => Promise<unknown>>;

let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
let panel: Panel;
let origin: string;
let labels = 0;
const PATH = '/hook-cases/threads/';

beforeAll(async () => {
  server = await createServer();
  driven = await launch();
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await driven.browser.newPage();
  origin = server.origin(`threads-${++labels}`);
});
afterEach(async () => {
  await page.close();
});

/** Starts threads of these kinds one after another. @returns what each reported */
const started = (kinds: string[], foreign = ''): Promise<unknown[]> =>
  page.evaluate(
    async (names, other) => {
      const said: unknown[] = [];
      for (const name of names) said.push(await start[name]!(other));
      return said;
    },
    kinds,
    foreign,
  );
/** Number of marks that only the sandboxed frame and the prerendered page make. */
const MANY = 200;
/** Resolves when the panel has more events than this. */
const eventsAbove = (count: number): Promise<unknown> =>
  panel.frame.waitForFunction(
    (least) => {
      const title =
        document.querySelector('[data-testid="live-events"]')?.parentElement?.title ?? '';
      return (
        Number(/Calls recorded: ([\d,]+) so far/.exec(title)?.[1]?.replaceAll(',', '') ?? 0) > least
      );
    },
    { polling: 50 },
    count,
  );
/** Unchecks "Reload and record". */
async function withoutReload(): Promise<void> {
  await panel.frame.evaluate(() => {
    const box = document.querySelector<HTMLInputElement>('[data-testid="reload"]')!;
    if (box.checked) box.click();
  });
}

describe.each(['', '/coi'])('workers of a page %s', (variant) => {
  test('each is recorded, or noted with its cause', async () => {
    panel = await openPanel(page);
    await startRecording(panel);
    await goTo(page, origin + variant + PATH);
    await started(['classic', 'module', 'blob', 'data', 'nested', 'pool', 'shared', 'service']);
    for (const text of [
      /A worker is not recorded \(a data: URL\): a data: URL has no origin.*Make it from a Blob/,
      /A service worker is not recorded \(service\.js\): only the command "vfscope record" can record service workers/,
    ])
      await notice(panel, text);
    await stopRecording(panel);
    const { store, summary } = await saved(driven, panel);
    const first = store.threads.find((t) => t.info.kind === 'page')!;
    const labeled = [
      'classic',
      'module',
      'blob',
      'nested',
      'nested inner',
      ...Array.from({ length: 8 }, (_, i) => `pool ${i}`),
    ];
    for (const label of labeled) {
      const thread = threadOf(store, label);
      expect(thread.info).toMatchObject({ kind: 'worker', name: label });
      expect(thread.info.parent).toBe(
        label === 'nested inner' ? threadOf(store, 'nested').info.id : first.info.id,
      );
      if (label !== 'nested') expect(countOf(thread, Op.idbOpen), label).toBe(1);
      expect(thread.ended, label).toBe('stopped');
    }
    const shared = threadOf(store, 'shared');
    expect(shared.info).toMatchObject({
      kind: 'shared-worker',
      name: 'shared',
      url: `${origin}${variant}${PATH}shared.js`,
      parent: null,
    });
    expect(shared.ended).toBe('stopped');
    expect(store.threads).toHaveLength(labeled.length + 2);
    expect(summary.faults).toBe(0);
    const { note } = summary.threads.find(({ kind }) => kind === 'page')!;
    for (const url of [`${origin}${variant}${PATH}service.js`, 'data:text/javascript'])
      expect(note).toContain(url);
  });
});

test('frames: same site, another site, srcdoc, about:blank, sandboxed', async () => {
  panel = await openPanel(page);
  await startRecording(panel);
  await goTo(page, origin + PATH);
  const foreign = server.origin(`foreign-${labels}`);
  expect(await started(['sameSite', 'crossSite', 'srcdoc', 'blank', 'sandboxed'], foreign)).toEqual(
    [...['done', 'done', 'done', 'done', 'threw: SecurityError']],
  );
  await eventsAbove(MANY);
  await stopRecording(panel);
  const { store } = await saved(driven, panel);
  const top = store.threads.find((t) => t.info.kind === 'page')!;
  const urls = {
    'same-site': `${origin}${PATH}frame.html?label=same-site`,
    'cross-site': `${foreign}${PATH}frame.html?label=cross-site`,
    srcdoc: 'about:srcdoc',
    blank: 'about:blank',
    sandboxed: `${origin}${PATH}frame.html?label=sandboxed&marks=${MANY}`,
  };
  for (const [label, url] of Object.entries(urls)) {
    const thread = threadOf(store, `frame ${label}`);
    const { info } = thread;
    expect(info).toMatchObject({ kind: 'frame', url });
    // a cross-origin frame can't know which page embeds it
    expect(info.parent).toBe(['cross-site', 'sandboxed'].includes(label) ? null : top.info.id);
    // refused in the opaque origin, and recorded that way
    expect(countOf(thread, Op.idbOpen), label).toBe(1);
  }
  expect(store.threads).toHaveLength(6);
});

describe('a recording that begins on a running page', () => {
  test('reports what it lacks, in the panel and in the file, and records what starts later', async () => {
    await goTo(page, origin + PATH);
    await started(['classic', 'blob']);
    panel = await openPanel(page);
    await withoutReload();
    await startRecording(panel);
    await recorded(page);
    await started(['module']);
    const text = await notice(panel, /The page was running already/);
    expect(text).toContain('workers that were running before the recording began are not recorded');
    expect(text).toContain('Reload the page while you record');
    await stopRecording(panel);
    const { store, summary } = await saved(driven, panel);
    expect(store.threads.map((t) => t.info.name)).toEqual(['', 'module']);
    expect(summary.threads[0]!.note).toContain('Reload the page');
    await restored(page);
  });

  test('names the SQLite that was already loaded', async () => {
    await goTo(page, `${origin}/sqlite-org/?vfs=kvvfs`); // runs in the page itself
    await state(page, 'ready');
    await page.evaluate(() => (window as unknown as { prepare(): Promise<unknown> }).prepare());
    panel = await openPanel(page);
    await withoutReload();
    await startRecording(panel);
    await notice(
      panel,
      /SQLite was loaded before the recording began \(sqlite3\.wasm\).*Reload the page while you record/,
    );
    await stopRecording(panel);
  });
});

test('DevTools closed, opened again, and Record without a reload: both recordings are complete', async () => {
  await goTo(page, origin + PATH);
  panel = await openPanel(page);
  await startRecording(panel); // reloads
  await recorded(page);
  await page.waitForFunction(() => document.readyState === 'complete', { polling: 50 });
  await started(['classic']);
  await moreEvents(panel);
  await panel.frame.page().close();
  await restored(page);
  for (const name of ['module', 'blob']) {
    panel = await openPanel(page);
    await withoutReload();
    await startRecording(panel);
    await recorded(page);
    await started([name]);
    await stopRecording(panel);
    await restored(page);
    const { store } = await saved(driven, panel);
    expect(countOf(threadOf(store, name), Op.idbOpen)).toBe(1);
    expect(store.threads).toHaveLength(2);
    await panel.frame.page().close();
  }
});

describe('back/forward cache', () => {
  let cacheable: Awaited<ReturnType<typeof serveCases>>;
  let url: string;
  beforeAll(async () => {
    cacheable = await serveCases(); // without no-store, which keeps pages out of that cache
    url = cacheable.url('plain').replace('/?', '/threads/index.html?');
  });
  afterAll(() => cacheable?.close());
  const mark = (name: string): Promise<unknown> =>
    page.evaluate((text) => void performance.mark(text), name);
  /** The page is connected to the panel: if it leaves earlier, its events are lost. */
  const connected = async (name: string): Promise<void> => {
    const before = await eventsSaid(panel);
    await mark(name);
    await moreEvents(panel, before);
  };
  const persisted = (): Promise<boolean> =>
    page.evaluate(() => (window as unknown as { cameBack?: boolean }).cameBack === true);

  test('a page that is left and restored continues in its own thread', async () => {
    panel = await openPanel(page);
    await startRecording(panel);
    await goTo(page, url);
    await page.evaluate(() =>
      addEventListener('pageshow', (e) => Object.assign(window, { cameBack: e.persisted })),
    );
    await connected('before');
    await goTo(page, `${url}&elsewhere`);
    await recorded(page); // late events of the previous page don't count as this one's
    await connected('elsewhere');
    await page.goBack();
    await recorded(page);
    await mark('after');
    expect(await persisted()).toBe(true);
    await stopRecording(panel);
    const { store } = await saved(driven, panel);
    const names = store.threads.map((t) => marksOf(t).map(({ name }) => name));
    expect(names).toContainEqual(['before', 'after']);
    expect(names.flat()).toContain('elsewhere');
  });

  test("a page that goes into it has sent all that the app's last listeners did", async () => {
    panel = await openPanel(page);
    await startRecording(panel);
    await goTo(page, url);
    await page.evaluate(() => {
      const types = ['pagehide', 'visibilitychange', 'freeze'];
      for (const target of [document, window])
        for (const type of types) target.addEventListener(type, () => performance.mark(type));
    });
    await connected('before');
    await goTo(page, `${url}&elsewhere`);
    await recorded(page);
    await stopRecording(panel);
    const { store, summary } = await saved(driven, panel);
    const left = store.threads.find((t) => marksOf(t).length > 0)!;
    const last = ['pagehide', 'visibilitychange', 'visibilitychange', 'freeze'];
    expect(marksOf(left).map(({ name }) => name)).toEqual(['before', ...last]);
    expect(isCached(left)).toBe(true);
    expect(summary.unknownTails).toBe(0);
  });

  test('a page that is restored after its recording has no hooks', async () => {
    panel = await openPanel(page);
    await startRecording(panel);
    await goTo(page, url);
    await recorded(page);
    await connected('before');
    await goTo(page, `${url}&elsewhere`);
    await stopRecording(panel);
    // Chromium reloads it, because removing a webRequest listener empties its cache of pages
    await page.goBack();
    await restored(page);
  });
});

test('a prerendered page is recorded from its first line', async () => {
  panel = await openPanel(page);
  await startRecording(panel);
  await goTo(page, origin + PATH);
  const next = `${origin}${PATH}prerendered.html`;
  await page.evaluate((url) => {
    const rules = Object.assign(document.createElement('script'), { type: 'speculationrules' });
    rules.textContent = JSON.stringify({
      prerender: [{ source: 'list', urls: [url], eagerness: 'immediate' }],
    });
    document.head.append(rules);
  }, next);
  await eventsAbove(MANY); // of the page that isn't visible yet
  await page.evaluate((url) => void setTimeout(() => (location.href = url)), next);
  // activation puts another frame in the tab, which DevTools follow
  const inTab = (code: string): Promise<unknown> =>
    panel.frame.evaluate(
      (text) =>
        new Promise((done) =>
          chrome.devtools.inspectedWindow.eval(text, (...[said]) => done(said)),
        ),
      code,
    );
  const recordedPage = `Symbol.for('vfscope.thread') in globalThis && !document.prerendering ? location.href : ''`;
  await expect.poll(() => inTab(recordedPage), { timeout: 30_000 }).toBe(next);
  await inTab(`void performance.mark('seen')`);
  await stopRecording(panel);
  const { store } = await saved(driven, panel);
  const thread = store.threads.find((t) => t.info.url === next)!;
  const names = marksOf(thread).map(({ name }) => name);
  expect([names[0], names.length, names.at(-1)]).toEqual(['prerendering', MANY + 2, 'seen']);
});

test('two tabs of an origin share one clock', async () => {
  const other = await driven.browser.newPage();
  try {
    await goTo(page, origin + PATH);
    panel = await openPanel(page);
    await startRecording(panel, { scope: 'origin' });
    await recorded(page);
    await page.waitForFunction(() => document.readyState === 'complete', { polling: 50 });
    await goTo(other, origin + PATH);
    await recorded(other);
    const rounds = 20;
    // each tab answers the other's mark with one: mark n + 1 is made after mark n, whatever a clock
    // shows
    const listen = (tab: Page): Promise<unknown> =>
      tab.evaluate((total) => {
        const channel = new BroadcastChannel('turns');
        const turn = (n: number): void => {
          performance.mark(`turn ${n}`);
          channel.postMessage(n);
        };
        channel.onmessage = ({ data }: MessageEvent<number>) => {
          if (data < total - 1) turn(data + 1);
          if (data >= total - 2) document.body.dataset['state'] = 'over';
        };
        Object.assign(window, { turn });
      }, rounds);
    await Promise.all([listen(page), listen(other)]);
    await page.evaluate(() => (window as unknown as { turn(n: number): void }).turn(0));
    await Promise.all([state(page, 'over'), state(other, 'over')]);
    await stopRecording(panel);
    const { store } = await saved(driven, panel);
    const turns = store.threads
      .flatMap((t) =>
        marksOf(t).map(({ name, t0 }) => ({
          thread: t.index,
          t0,
          n: Number(/^turn (\d+)$/.exec(name)?.[1] ?? NaN),
        })),
      )
      .filter(({ n }) => n < rounds)
      .sort((a, b) => a.n - b.n);
    expect(turns.map(({ n }) => n)).toEqual(Array.from({ length: rounds }, (_, i) => i));
    expect(new Set(turns.map(({ thread }) => thread)).size).toBe(2);
    const step = Math.max(...store.threads.map((t) => t.environment?.clockStepUs ?? 0));
    for (let i = 1; i < turns.length; i++) {
      expect(turns[i]!.thread).not.toBe(turns[i - 1]!.thread);
      expect(turns[i]!.t0 - turns[i - 1]!.t0, `turn ${i}`).toBeGreaterThanOrEqual(-step);
    }
  } finally {
    await other.close();
  }
});
