// The shell, the Overview, Compare, exports, and Settings in an ordinary tab, on a synthetic trace
// and on a fake page.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, ElementHandle, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import { plain, shortPaths } from '../../src/text/clean.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { EXPORT_FORMATS } from '../../src/protocol/export-formats.ts';
import { countOf, formatAs } from '../../src/text/numbers.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { failedCalls } from '../../src/analysis/errors/failed-calls.ts';
import { servePanel } from '../../tools/dev/panel.mjs';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { actionsOf } from '../../src/analysis/answer/actions.ts';
import { diffOf, findingsOf, headlineNumbers, headlineOf } from '../traces/analyses.ts';
import { shownStatements } from '../../src/analysis/report/diff-table.ts';
import { totalDelta } from '../../src/analysis/report/diff.ts';
import { showTimeline } from './viewer-page.ts';
import { builtPanel } from './built-panel.ts';

const id = (name: string): string => `[data-testid="${name}"]`;
const SHOTS = process.env.VFSCOPE_SHOTS; // a folder that receives pictures for review
const HOSTILE = '/<img src=x onerror=alert(1)>\u202e"\'.db';

let browser: Browser;
let server: Awaited<ReturnType<typeof servePanel>>;
let folder: string;
let context: BrowserContext;
let page: Page;
let failures: string[] = [];
const store = trace(60);
const failing = trace(60, 3);

/**
 * Autocommits of one page each, with a rollback journal, on a file with a deceptive name.
 * @param failed number of failing statements at the end
 */
function trace(n: number, failed = 0): TraceStore {
  const made = newStore();
  const t = new ThreadBuilder(made, { name: 'db' });
  t.say({
    kind: 'environment',
    id: 0,
    url: 'https://app.example/',
    threadKind: 'worker',
    crossOriginIsolated: true,
    clockStepUs: 5,
    userAgent: 'Chrome/151',
    hidden: null,
    capture: CAPTURE_DEFAULTS,
  });
  const db = t.file(HOSTILE);
  const journal = t.file(`${HOSTILE}-journal`, 'journal');
  const stored = t.define({ kind: 'opfs-file', path: '/stored' });
  const insert = t.define({ kind: 'sql', text: 'INSERT INTO note VALUES (?)' });
  for (let i = 0; i < n; i++) {
    t.call('sqlStep', { object: insert, context: 1, aux: i + 1, result: 101, dur: 10 }, () => {
      t.call('xLock', { object: db, context: 1, aux: 1, dur: 5 });
      t.call('xRead', { object: db, context: 1, offset: 4096, length: 4096, dur: 50 });
      t.call('xLock', { object: db, context: 1, aux: 2, dur: 5 });
      t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512, dur: 10 });
      t.call('xWrite', { object: db, context: 1, offset: 4096, length: 4096, dur: 10 }, () =>
        t.call('opfsWrite', { object: stored, offset: 4096, length: 4096, result: 4096, dur: 30 }),
      );
      t.call('xSync', { object: db, context: 1, dur: 400 });
      t.call('xDelete', { object: journal, context: 1, dur: 10 });
      t.call('xUnlock', { object: db, context: 1, aux: 0, dur: 5 });
    });
    t.idle(20);
  }
  for (let i = 0; i < failed; i++)
    t.call('sqlStep', { object: insert, context: 1, aux: n + i + 1, result: 10, dur: 10 });
  t.send();
  return made;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vfscope-overview-'));
  const traces: Record<string, string> = {};
  for (const [name, made] of [
    ['a.vfst', store],
    ['b.vfst', trace(15)],
    ['failing.vfst', failing],
  ] as const) {
    traces[name] = join(folder, name);
    await writeFile(traces[name], Buffer.from(await (await saveTrace(made)).arrayBuffer()));
  }
  const out = await builtPanel();
  server = await servePanel({ out, traces });
  browser = await launchPlainBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  context = await browser.createBrowserContext();
});
afterEach(async () => {
  await context.close();
  const seen = failures;
  failures = [];
  expect(seen).toEqual([]);
});

async function open(query: string, width = 1000): Promise<void> {
  page = await context.newPage();
  page.on('pageerror', (error) =>
    failures.push(error instanceof Error ? error.message : String(error)),
  );
  page.on('dialog', (dialog) => failures.push(`dialog: ${dialog.message()}`));
  await page.setViewport({ width, height: 800 });
  await page.goto(`${server.url}?test&${query}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  if (!query.includes('#')) await showTimeline(page);
}
async function openTrace(name: string, more = ''): Promise<void> {
  await open(`open=/traces/${name}${more}`);
  await page.waitForSelector(id('file-name'));
}
const text = (selector: string): Promise<string> =>
  page.$eval(selector, (e) => e.textContent?.trim() ?? '');
const waitText = (selector: string, wanted: string): Promise<unknown> =>
  page.waitForFunction(
    (s: string, w: string) => document.querySelector(s)?.textContent?.trim() === w,
    {},
    selector,
    wanted,
  );
const activeTab = (name: string): Promise<unknown> =>
  page.waitForSelector(`${id(`tab-${name}`)}[aria-selected=true]`);
const chord = async (key: 'k'): Promise<void> => {
  await page.keyboard.down('Control');
  await page.keyboard.press(key);
  await page.keyboard.up('Control');
};
const shot = async (name: string): Promise<void> => {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`) as `${string}.png` });
};

describe('the Answer', () => {
  it('moves a dismissed action below the list, and restores each on its own', async () => {
    await openTrace('a.vfst', '#tab=answer');
    const rules = (selector: string): Promise<string[]> =>
      page.$$eval(selector, (all) => all.map((e) => (e as HTMLElement).dataset['rule']!));
    const actions = actionsOf(findingsOf(store)).map(({ rule }) => rule);
    expect(actions.length).toBeGreaterThan(1);
    await page.waitForSelector(id('finding'));
    await page.click(id('finding-dismiss'));
    await page.click(id('finding-dismiss'));
    expect(await rules(id('finding'))).toEqual(actions.slice(2));
    expect(await text(id('fold-dismissedList'))).toBe('Dismissed (2)');
    await page.click(id('fold-dismissedList'));
    await page.waitForSelector(`${id('dismissed')} li`);
    expect(await rules(`${id('dismissed')} li`)).toEqual(actions.slice(0, 2));
    await page.click(id('finding-restore'));
    await waitText(id('fold-dismissedList'), 'Dismissed (1)');
    expect(await rules(id('finding'))).toEqual(actions.filter((_, i) => i !== 1));
  });

  it('lets arrow keys move along the strip: Enter shows the moment, with Shift it narrows to the range', async () => {
    await openTrace('a.vfst', '#tab=answer');
    await page.waitForSelector(id('busy-strip'));
    await page.focus(id('busy-strip'));
    await page.keyboard.press('End');
    for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowLeft');
    const moment = parseFloat(await text(id('busy-tip'))) * 1e6;
    const { fromUs, toUs } = headlineOf(store);
    const at = (share: number): number => fromUs + share * (toUs - fromUs);
    expect(moment).toBeGreaterThan(at(0.7));
    expect(moment).toBeLessThan(at(0.9));
    await page.keyboard.down('Shift');
    for (let i = 0; i < 30; i++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.up('Shift');
    const [from, to] = (await text(id('busy-tip'))).split(' – ').map((t) => parseFloat(t) * 1e6);
    expect(to).toBe(moment);
    expect(from).toBeGreaterThan(at(0.4));
    expect(from).toBeLessThan(at(0.6));
    await page.keyboard.press('Enter');
    await page.waitForSelector(id('range-chip'));
    expect(await page.$(id('busy-tip'))).toBeNull();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await activeTab('timeline');
    const shown = await page.$eval(id('timeline'), (e) => Number((e as HTMLElement).dataset['to']));
    expect(shown).toBeGreaterThan(toUs);
  });

  it("shows the analyses' own numbers, settings, and findings", async () => {
    await openTrace('a.vfst');
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await activeTab('answer');
    await page.waitForSelector(id('finding'));
    await waitText(id('answer'), plain(headlineOf(store).text));
    await page.waitForSelector(id('fold-details'));
    await page.click(id('fold-details'));
    await page.waitForSelector(id('thread-time'));
    const unknown: string[] = [];
    for (const { id: name, title, value, unit } of headlineNumbers(store))
      if (value === null) unknown.push(title);
      else expect(await text(id(`number-${name}`)), name).toBe(formatAs(value, unit));
    expect(unknown).toContain('Checkpoints');
    expect(await text(`${id('headline')} + ${id('not-known')}`)).toBe(`n/a: ${unknown.join(', ')}`);
    const findings = findingsOf(store);
    expect(findings.length).toBeGreaterThan(0);
    expect(
      await page.$$eval(id('finding'), (items) =>
        items.map((item) => (item as HTMLElement).dataset.rule),
      ),
    ).toEqual(actionsOf(findings).map(({ rule }) => rule));
    const database = await text(id('database'));
    expect(database).toContain(plain(HOSTILE));
    expect(database).toContain('4 KiB');
    expect(database).toContain('delete');
    expect(
      await text(`${id('database')} ${id('not-known')} [title*="no PRAGMA synchronous"]`),
    ).toBe('synchronous');
    expect(await page.$$eval(id('thread-time'), (bars) => bars.length)).toBe(1);
    await page.click(id('time-whole'));
    await page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('Idle'),
      {},
      id('thread-time'),
    );
    await page.click(id('finding-title'));
    const [first] = actionsOf(findings);
    expect(await text(id('finding-title'))).toBe(plain(first!.findings[0]!.advice));
    // a name with a text-direction override doesn't change the direction of the sentence around it
    expect(await text(id('finding-seen'))).toContain(shortPaths(plain(first!.findings[0]!.title)));
    await shot('overview');
  });

  it('is counted on its tab, as failed calls are on that of Errors, or of its collapsed group', async () => {
    await openTrace('failing.vfst');
    const actions = actionsOf(findingsOf(failing)).length;
    const { events } = new Facts(failing).get(failedCalls);
    expect(events).toBeGreaterThan(0);
    const failed = countOf(events, 'failed call');
    const badge = (of: string): string => `${id(of)} ${id('tab-badge')}`;
    const named = (of: string): Promise<string | null> =>
      page.$eval(id(of), (e) => e.getAttribute('aria-label'));
    await page.waitForSelector(badge('tab-answer'));
    await waitText(badge('tab-answer'), String(actions));
    expect(await named('tab-answer')).toBe(`Answer ${countOf(actions, 'action')}`);
    await waitText(badge('group-Raw'), `${events} failed`);
    expect(await named('group-Raw')).toBe(`Raw ${failed}`);
    expect(await page.$(badge('tab-events'))).toBeNull();
    await page.$eval(id('tab-answer'), (e) => (e as HTMLElement).click());
    await page.waitForSelector(id('finding-dismiss'));
    await page.$eval(id('finding-dismiss'), (e) => (e as HTMLElement).click());
    if (actions > 1) await waitText(badge('tab-answer'), String(actions - 1));
    else await page.waitForSelector(badge('tab-answer'), { hidden: true });
    await page.keyboard.press('g');
    await page.keyboard.press('x');
    await waitText(badge('tab-errors'), String(events));
    expect(await page.$(id('group-Raw'))).toBeNull();
    // the same number as in the view
    await page.waitForFunction(
      (s: string, words: string) => document.querySelector(s)?.textContent?.startsWith(words),
      {},
      id('error-count'),
      failed,
    );
    // without failures there is no count
    await openTrace('a.vfst');
    await page.waitForSelector(badge('tab-answer'));
    expect(await page.$(badge('group-Raw'))).toBeNull();
    expect(await named('group-Raw')).toBe('Raw');
  });

  it('steps through the evidence of a finding, and copies the report', async () => {
    await openTrace('a.vfst');
    await page.$eval(id('tab-answer'), (e) => (e as HTMLElement).click());
    await page.waitForSelector(id('finding-show'));
    const { events } = actionsOf(findingsOf(store))[0]!.findings[0]!.evidence;
    await page.click(id('finding-show'));
    await activeTab('timeline');
    await waitText(id('evidence-at'), `1 of ${events.length}`);
    await page.waitForSelector(id('details'));
    await page.keyboard.press('n');
    await waitText(id('evidence-at'), `2 of ${events.length}`);
    await page.keyboard.down('Shift');
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await page.keyboard.up('Shift');
    await waitText(id('evidence-at'), `${events.length} of ${events.length}`);
    await page.click(id('evidence-all'));
    await page.click(id('evidence-close'));
    await page.waitForSelector(id('evidence'), { hidden: true });
    await context.overridePermissions(new URL(server.url).origin, [
      'clipboard-read',
      'clipboard-write',
    ]);
    await page.$eval(id('tab-answer'), (e) => (e as HTMLElement).click());
    await page.waitForSelector(id('copy-markdown'));
    await page.click(id('copy-markdown'));
    await page.waitForSelector(`${id('toast')}[role=status]`);
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain('### vfscope trace');
    expect(copied).toContain('- Commits: 60\n- Syncs per commit: 1\n');
    if (!(await page.$(id('finding-agent')))) await page.click(id('finding-title'));
    await page.click(id('finding-agent'));
    await waitText(id('toast'), 'The finding is on the clipboard. Paste it to your coding agent.');
    const forAgent = await page.evaluate(() => navigator.clipboard.readText());
    expect(forAgent).toMatch(/^# vfscope finding F\d\d\n[^]*Untrusted data/);
  });
});

describe('the command palette', () => {
  it("finds views, commands, and the trace's content, and shows it", async () => {
    await openTrace('a.vfst');
    await chord('k');
    await page.waitForSelector(id('palette-input'));
    await page.type(id('palette-input'), 'insert note');
    await waitText(`${id('palette-entry')} .text`, 'INSERT INTO note VALUES (?)');
    await page.keyboard.press('Enter');
    await page.waitForSelector(id('palette'), { hidden: true });
    await waitText(id('details-name'), 'sqlite3_step');
    await chord('k');
    await page.type(id('palette-input'), 'view compare');
    await page.keyboard.press('Enter');
    await activeTab('compare');
    await chord('k');
    await page.type(id('palette-input'), 'nothing of that name');
    await page.waitForFunction(
      (s: string) => document.querySelectorAll(s).length === 0,
      {},
      id('palette-entry'),
    );
    await page.keyboard.press('Escape');
    await page.waitForSelector(id('palette'), { hidden: true });
  });
});

describe('exports', () => {
  it('every format is offered and written; an anonymized copy has no words of the app', async () => {
    await openTrace('a.vfst');
    const formats = Object.keys(EXPORT_FORMATS).filter((format) => format !== 'vfst');
    await page.click(id('export'));
    expect(
      await page.$$eval(`${id('export-menu')} button:not(:disabled)`, (all) =>
        all.map((e) => (e as HTMLElement).dataset.testid),
      ),
    ).toEqual([...formats, 'share'].map((one) => `export-${one}`));
    await page.keyboard.press('Escape');
    for (const [i, format] of formats.entries()) {
      await page.waitForSelector(`${id('export')}:not(:disabled)`);
      await page.click(id('export'));
      await page.click(id(`export-${format}`));
      await page.waitForFunction((n: number) => window.panel.saved.length === n, {}, i + 1);
    }
    const saved = await page.evaluate(() =>
      window.panel.saved.map(({ name, data }) => ({ name, size: data.size, type: data.type })),
    );
    expect(saved.map(({ name }) => name)).toEqual(
      formats.map((f) => `a.${EXPORT_FORMATS[f as keyof typeof EXPORT_FORMATS].ending}`),
    );
    for (const { name, size } of saved) expect(size, name).toBeGreaterThan(1000);
    await page.waitForSelector(`${id('export')}:not(:disabled)`);
    await page.click(id('export'));
    await page.click(id('export-share'));
    await page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('3 file names'),
      {},
      id('privacy'),
    );
    await page.click(id('export-run'));
    await page.waitForFunction(
      (n: number) => window.panel.saved.length === n,
      {},
      formats.length + 1,
    );
    const bytes = await page.evaluate(async () => {
      const { name, data } = window.panel.saved.at(-1)!;
      return { name, bytes: [...new Uint8Array(await data.arrayBuffer())] };
    });
    expect(bytes.name).toBe('sanitized-trace.vfst');
    const { store: clean, header } = await readTrace(new Blob([Uint8Array.from(bytes.bytes)]));
    expect(header.sanitized).toBe(true);
    expect(clean.eventCount).toBe(store.eventCount);
    expect(JSON.stringify(clean.threads[0]!.said)).not.toContain('img src');
  });
});

describe('a comparison', () => {
  const row = (name: string): Promise<string[]> =>
    page.$$eval(`${id('compare-headline')} tr[data-id=${name}] td`, (cells) =>
      cells.map((cell) => cell.textContent!.trim()),
    );

  it('shows a second file next to the first', async () => {
    await openTrace('a.vfst');
    await page.$eval(id('tab-compare'), (e) => (e as HTMLElement).click());
    await page.waitForSelector(id('compare-empty'));
    await ((await page.$(id('compare-input'))) as ElementHandle<HTMLInputElement>).uploadFile(
      join(folder, 'b.vfst'),
    );
    await page.waitForSelector(id('compare-headline'));
    await waitText(id('compare-name'), 'b.vfst');
    expect(await text(id('compare-verdict'))).toMatch(/^Time in SQL: .+ → .+ \([\d.]+× faster\)$/);
    // one bar per statement, with its sign and the word for it
    const bars = await page.$$eval(`${id('compare-bars')} li`, (all) =>
      all.map((e) => ({ us: Number(e.dataset.us), text: e.textContent!.trim() })),
    );
    const moved = shownStatements(diffOf(store, trace(15))).filter(
      (r) => !r.verdict.startsWith('only') && totalDelta(r.time) !== 0,
    );
    expect(bars.length).toBe(Math.min(12, moved.length));
    expect(bars[0]!.us).toBeLessThan(0);
    expect(bars[0]!.text).toMatch(/ [\d.,]+ .?s\s+faster/);
    expect(bars[0]!.text).not.toMatch(/[-−]\d/);
    expect(await row('commits')).toEqual(['4× less', '60', '15']);
    // rows that neither has are left out, and counted
    expect(await row('hitRate')).toEqual([]);
    expect(await text(id('compare-unknown'))).toMatch(
      /^\d+ numbers are unknown in both, and hidden\.$/,
    );
    expect(
      await page.$$eval(`${id('compare-statements-row')} [data-column]`, (cells) =>
        cells.map((c) => c.textContent!.trim()).slice(0, 3),
      ),
    ).toEqual([
      expect.stringMatching(/^[\d.]+× faster: .+ → /),
      'INSERT INTO note VALUES (?)',
      '60 → 15',
    ]);
    // F01 and F07 are in both: 60 and 15 commits, one after another
    const findings = await page.$$eval(id('compare-findings-row'), (rows) =>
      rows.map((r) =>
        ['rule', 'verdict'].map((key) =>
          r.querySelector(`[data-column=${key}]`)!.textContent!.trim(),
        ),
      ),
    );
    expect(new Map(findings as [string, string][])).toEqual(
      new Map(diffOf(store, trace(15)).findings.map((f) => [f.rule, f.verdict])),
    );
    expect(findings).toContainEqual(['F01', 'in both']);
    await shot('compare');
    const verdict = await text(id('compare-verdict'));
    const barsOf = (): Promise<number[]> =>
      page.$$eval(`${id('compare-bars')} li`, (all) => all.map((e) => Number(e.dataset['us'])));
    const before = await barsOf();
    await page.click(id('compare-swap'));
    await waitText(id('compare-name-a'), 'b.vfst');
    await page.waitForFunction(
      (s: string, bars: string, was: string) => {
        const now = document.querySelector(s)?.textContent?.trim();
        return now && now !== was && document.querySelector(bars);
      },
      {},
      id('compare-verdict'),
      `${id('compare-bars')} li`,
      verdict,
    );
    expect((await barsOf()).map((us) => -us)).toEqual(before);
    await page.click(id('compare-swap'));
    await waitText(id('compare-name'), 'b.vfst');
    await page.click(id('compare-close'));
    await page.waitForSelector(id('compare-empty'));
  });

  it('shows a recording next to the previous one', async () => {
    await open('live');
    for (const work of [20, 5]) {
      await showTimeline(page);
      await page.click(id('record'));
      await page.waitForSelector(`${id('stop')}:not(:disabled)`);
      await page.evaluate((n: number) => window.panel.app.work(n), work);
      await page.waitForSelector(`${id('timeline')}[data-frame]`);
      await page.click(id('stop'));
      await page.waitForSelector(`${id('record')}:not(:disabled)`);
    }
    await page.$eval(id('tab-compare'), (e) => (e as HTMLElement).click());
    await page.waitForSelector(id('compare-previous'));
    await page.click(id('compare-previous'));
    await page.waitForSelector(id('compare-headline'));
    const [now, before] = (await row('commits')).slice(1).map(Number);
    expect(before).toBe(4 * now!);
  });
});

describe('settings', () => {
  it('are stored, and a recording uses them', async () => {
    await open('live');
    await page.$eval(id('tab-settings'), (e) => (e as HTMLElement).click());
    await page.click(id('theme-dark'));
    await page.waitForSelector('.vfscope[data-theme=dark]');
    await page.click(id('capture-2'));
    await page.click(id('layer-setting-web'));
    await page.select(id('settings-keep'), 'seconds');
    await page.waitForSelector(id('flight'));
    const kept = await page.evaluate(
      () => JSON.parse(localStorage.getItem('settings')!) as Record<string, unknown>,
    );
    expect(kept).toMatchObject({
      theme: 'dark',
      capture: 2,
      layers: ['sql', 'vfs', 'query'],
      flight: { kind: 'seconds' },
    });
    await shot('settings');
    await page.reload();
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
    await page.waitForSelector('.vfscope[data-theme=dark]');
    await page.waitForSelector(id('flight'));
    await page.$eval(id('tab-settings'), (e) => (e as HTMLElement).click());
    expect(await page.$eval(id('capture-2'), (e) => (e as HTMLInputElement).checked)).toBe(true);
  });
});

describe('a recording', () => {
  it('continues while the views are paused', async () => {
    await open('live');
    await page.click(id('record'));
    await page.waitForSelector(`${id('stop')}:not(:disabled)`);
    await page.evaluate(() => window.panel.app.work(10));
    await page.waitForSelector(`${id('timeline')}[data-frame]`);
    await page.$eval(id('tab-events'), (e) => (e as HTMLElement).click());
    await page.waitForFunction(
      (s: string) => /\d/.test(document.querySelector(s)?.textContent ?? ''),
      {},
      id('event-count'),
    );
    await page.click(id('pause'));
    await waitText(id('pause'), 'Resume view');
    const held = await text(id('event-count'));
    const reads = await text(id('live-reads'));
    await page.evaluate(() => window.panel.app.work(10));
    await page.waitForFunction(
      (s: string, was: string) => document.querySelector(s)?.textContent?.trim() !== was,
      {},
      id('live-reads'),
      reads,
    );
    expect(await text(id('event-count'))).toBe(held);
    await page.click(id('pause'));
    await page.waitForFunction(
      (s: string, was: string) => document.querySelector(s)?.textContent?.trim() !== was,
      {},
      id('event-count'),
      held,
    );
    await page.click(id('stop'));
    await page.waitForSelector(`${id('record')}:not(:disabled)`);
  });
});

describe('the address of a tab', () => {
  it('has view, range, and selection, and restores them', async () => {
    await openTrace('a.vfst');
    await page.waitForSelector(`${id('timeline')}[data-frame]`);
    await page.keyboard.press('w');
    await chord('k');
    await page.type(id('palette-input'), 'insert note');
    await waitText(`${id('palette-entry')} .text`, 'INSERT INTO note VALUES (?)');
    await page.keyboard.press('Enter');
    await page.waitForSelector(id('details'));
    await page.waitForFunction(() => /from=.*event=0:\d+/.test(location.hash));
    const range = await page.$eval(id('timeline'), (e) =>
      [(e as HTMLElement).dataset.from, (e as HTMLElement).dataset.to].map(Number),
    );
    await page.reload();
    await page.waitForSelector(id('details'));
    await waitText(id('details-name'), 'sqlite3_step');
    await page.waitForFunction(
      (s: string, from: number, to: number) => {
        const { dataset } = document.querySelector<HTMLElement>(s)!;
        return (
          Math.abs(Number(dataset.from) - from) < 0.01 && Math.abs(Number(dataset.to) - to) < 0.01
        );
      },
      {},
      id('timeline'),
      ...(range as [number, number]),
    );
  });
});
