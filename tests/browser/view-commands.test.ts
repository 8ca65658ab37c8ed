// Commands and their effects: menus, dialogs, borders, exports, and reports, also during a
// recording.
import { describe, expect, it } from 'vitest';
import { holdMessages } from './held-messages.ts';
import { id, viewHarness } from './view-harness.ts';

const panel = viewHarness(['checkpoint-storm', 'opfs-wl-two-tabs']);
const focused = (): Promise<string | undefined> =>
  panel.page.evaluate(() => (document.activeElement as HTMLElement).dataset.testid);
const saved = (): Promise<string[]> =>
  panel.page.evaluate(() => window.panel.saved.map(({ name }) => name));
/** The panel on a separate page that is recorded and keeps making events until the test ends. */
async function record(): Promise<void> {
  await panel.page.goto(`${panel.url}?test&live`);
  await panel.page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  await panel.click(id('record'));
  await panel.waitFor(`${id('stop')}:not(:disabled)`);
  await panel.page.evaluate(() => {
    window.panel.app.work(20);
    setInterval(() => window.panel.app.work(1), 20);
  });
  await panel.waitFor(id('pause'));
}

/** Resolves when the recording has more events than before. */
async function grown(): Promise<void> {
  const events = await panel.page.$eval(id('live-events'), (e) => e.textContent);
  await panel.page.waitForFunction(
    (s: string, was: string | null) => document.querySelector(s)!.textContent !== was,
    {},
    id('live-events'),
    events,
  );
}

describe('a menu', () => {
  it('does nothing until an item is chosen: arrows move through it, Enter chooses, Escape closes it', async () => {
    const { page } = panel;
    await panel.open('checkpoint-storm', 'events', 400);
    await page.focus(id('export'));
    await page.keyboard.press('ArrowDown');
    await panel.waitFor(`${id('export-chrome')}:focus`);
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toBe('export-perfetto');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp'); // wraps around, past disabled items
    expect(await focused()).toBe('export-share');
    const box = (await (await page.$(id('export-menu')))!.boundingBox())!;
    expect([box.x >= 0, box.x + box.width <= 400, box.height > 100]).toEqual([true, true, true]);
    await page.keyboard.press('Escape');
    await page.waitForSelector(id('export-menu'), { hidden: true });
    expect(await focused()).toBe('export');
    expect(await saved()).toEqual([]);
    await page.keyboard.press('Enter');
    await panel.waitFor(`${id('export-chrome')}:focus`);
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => window.panel.saved.length === 1);
    expect(await saved()).toEqual(['checkpoint-storm.csv']);
    await page.waitForSelector(id('export-menu'), { hidden: true });
  });

  it('of examples replaces the query by the selected one, and floats over the editor', async () => {
    const { page } = panel;
    await panel.open('checkpoint-storm', 'sql');
    await panel.waitFor('.cm-content');
    const query = (): Promise<string> => page.$eval('.cm-content', (e) => e.textContent!);
    const before = await query();
    await page.focus(id('sql-examples'));
    await page.keyboard.press('ArrowDown');
    await panel.waitFor(`${id('sql-examples-0')}:focus`);
    await page.keyboard.press('End');
    expect(await query()).toBe(before);
    const seen = await page.evaluate(() => {
      const { x, y, width, height } = document.activeElement!.getBoundingClientRect();
      return document.activeElement!.contains(
        document.elementFromPoint(x + width / 2, y + height / 2),
      );
    });
    expect(seen).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForFunction(
      (was: string) => document.querySelector('.cm-content')!.textContent !== was,
      {},
      before,
    );
    expect(await page.evaluate(() => document.activeElement!.closest('.cm-editor') !== null)).toBe(
      true,
    );
  });
});

it('a dialog is closed by a click outside, not by a text selection that ends there', async () => {
  const { page } = panel;
  await panel.open('checkpoint-storm', 'events');
  await panel.click(id('help'));
  await panel.waitFor(id('key-help'));
  const box = (await (await page.$(id('key-help')))!.boundingBox())!;
  await page.mouse.move(box.x + 40, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(5, box.y + 60, { steps: 3 });
  await page.mouse.up();
  expect(await page.$(id('key-help'))).not.toBeNull();
  await page.mouse.click(5, box.y + 60);
  await page.waitForSelector(id('key-help'), { hidden: true });
});

it("the secondary mouse button doesn't drag borders or select pages", async () => {
  const { page } = panel;
  await panel.open('checkpoint-storm', 'files');
  await panel.waitFor(`${id('page-map')}[data-to-place]`);
  const border = '[aria-label="Border between the map and the table of pages"]';
  const at = (): Promise<string | null> =>
    page.$eval(border, (e) => e.getAttribute('aria-valuenow'));
  const before = await at();
  const line = (await (await page.$(border))!.boundingBox())!;
  await page.mouse.move(line.x + line.width / 2, line.y + line.height / 2);
  await page.mouse.down({ button: 'right' });
  await page.mouse.move(line.x + line.width / 2 - 60, line.y + line.height / 2 - 60, { steps: 3 });
  await page.mouse.up({ button: 'right' });
  expect(await at()).toBe(before);
  const map = (await (await page.$(id('page-map')))!.boundingBox())!;
  const [x, y] = [map.x + map.width / 2, map.y + map.height - 40];
  await page.mouse.click(x, y, { button: 'right' });
  expect(await page.$(id('places-chosen'))).toBeNull();
  await page.mouse.click(x, y);
  await panel.waitFor(id('places-chosen'));
});

it('a click on a lock selects what is under the pointer, although the tracks have moved since it got there', async () => {
  const { page } = panel;
  await panel.open('opfs-wl-two-tabs', 'locks');
  await panel.waitFor(`${id('lock-lanes')}[data-frame]`);
  const track = (await (await page.$(id('lock-track')))!.boundingBox())!;
  const hint = (): Promise<string> => page.$eval(id('lock-track'), (e) => (e as HTMLElement).title);
  const y = track.y + 14;
  let x = track.x + track.width * 0.6;
  for (await page.mouse.move(x, y); !(await hint()); x += 3) await page.mouse.move(x + 3, y);
  const drawn = (): Promise<string> =>
    page.$eval(id('lock-lanes'), (e) => (e as HTMLElement).dataset.frame ?? '');
  let before = await drawn();
  for (const key of ['w', 'w', 'w', 'd'] as const) {
    await page.keyboard.press(key);
    await page.waitForFunction(
      (s: string, was: string) =>
        ![undefined, was].includes(document.querySelector<HTMLElement>(s)!.dataset.frame),
      {},
      id('lock-lanes'),
      before,
    );
    before = await drawn();
  }
  const selected = async (): Promise<string> => {
    await page.mouse.down();
    await page.mouse.up();
    await panel.waitFor(id('field-begin'));
    return page.$eval(id('field-begin'), (e) => e.textContent!);
  };
  const first = await selected();
  await page.keyboard.press('Escape');
  await page.waitForSelector(id('details'), { hidden: true });
  await page.waitForFunction(
    (s: string, width: number, was: string) =>
      document.querySelector(s)!.querySelector('canvas')!.clientWidth === width &&
      document.querySelector<HTMLElement>(s)!.dataset.frame === was,
    {},
    id('lock-lanes'),
    track.width,
    before,
  );
  await page.mouse.move(x, y + 1);
  await page.mouse.move(x, y);
  expect(await hint()).not.toBe('');
  expect(await selected()).toBe(first);
});

describe('an export', () => {
  it("of Events' rows shows that it runs, can be canceled, and can't start twice", async () => {
    const { page } = panel;
    await panel.open('checkpoint-storm', 'events');
    await panel.waitFor(id('event-row'));
    const worker = await holdMessages(page, 'exportLines');
    await panel.click(id('export-rows'));
    await page.waitForFunction(
      (s: string) =>
        document.querySelector(s)?.textContent?.includes('checkpoint-storm-events.csv'),
      {},
      id('loading'),
    );
    await panel.waitFor(id('cancel-open'));
    await panel.waitFor(`${id('export-rows')}:disabled`);
    expect(await worker.kept()).toBe(1);
    await worker.release();
    await page.waitForFunction(() => window.panel.saved.length === 1);
    expect(await saved()).toEqual(['checkpoint-storm-events.csv']);
    await page.waitForSelector(id('loading'), { hidden: true });
  });

  it('only checks the content of a growing trace once at a time', async () => {
    await record();
    const worker = await holdMessages(panel.page, 'privacy');
    await panel.waitFor(`${id('export')}:not(:disabled)`);
    await panel.click(id('export'));
    await panel.waitFor(id('export-share'));
    await panel.click(id('export-share'));
    await panel.waitFor(id('privacy'));
    await grown();
    expect(await worker.kept()).toBe(1);
    await worker.release();
    await panel.page.waitForFunction(
      (s: string) => document.querySelector(s)!.textContent!.includes('The recording contains'),
      {},
      id('privacy'),
    );
  });
});

it('the report can be copied while the recording continues', async () => {
  const { page } = panel;
  await page
    .browserContext()
    .overridePermissions(new URL(panel.url).origin, ['clipboard-read', 'clipboard-write']);
  await record();
  await panel.click(id('tab-answer'));
  await panel.waitFor(id('copy-markdown'));
  const worker = await holdMessages(page, 'markdownReport');
  await panel.click(id('copy-markdown'));
  await expect.poll(() => worker.kept()).toBe(1);
  await grown();
  await worker.pass();
  await panel.waitFor(`${id('toast')}[role=status]`);
  expect(await page.$(id('stop'))).not.toBeNull();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('### vfscope trace');
});

it('a finding shows the first and the last moment of its evidence', async () => {
  await panel.open('checkpoint-storm', 'answer');
  await panel.waitFor(id('finding-title'));
  await panel.click(id('finding-title'));
  await panel.waitFor(id('finding-details'));
  expect(await panel.page.$eval(id('finding-details'), (e) => e.textContent)).toMatch(
    /from \d+\.\d{3,6} s to \d+\.\d{3,6} s on the timeline\./,
  );
});

describe('a result as a line chart', () => {
  const run = async (query: string): Promise<void> => {
    const { page } = panel;
    await panel.open('checkpoint-storm', 'sql');
    await panel.waitFor('.cm-content');
    await page.click('.cm-content');
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type(query);
    await page.keyboard.press('Escape');
    await panel.click(id('sql-run'));
    await panel.waitFor(id('sql-chart'));
  };
  const line = (): Promise<string> =>
    panel.page.$eval(`${id('sql-line')} path`, (e) => e.getAttribute('d')!);

  it('has a place for a single point, however large', async () => {
    await run('SELECT 20000000 AS x, 5 AS y');
    await panel.page.select(id('sql-chart'), 'line');
    await panel.waitFor(id('sql-line'));
    expect(await line()).toMatch(/^M\d+\.\d,\d+\.\d$/);
  });

  it('uses a column of numbers, even if text was selected for bars', async () => {
    await run(
      "SELECT column1 AS n, column2 AS word, column3 AS more FROM (VALUES (1, 'a', 3), (2, 'b', 5))",
    );
    await panel.page.select(id('sql-chart'), 'bars');
    await panel.waitFor(id('sql-bars'));
    await panel.page.select(id('chart-x'), '1');
    await panel.page.select(id('sql-chart'), 'line');
    await panel.waitFor(id('sql-line'));
    expect((await line()).match(/[ML]/g)).toEqual(['M', 'L']);
    expect(
      await panel.page.$eval(
        id('chart-x'),
        (e) => (e as HTMLSelectElement).selectedOptions[0]?.textContent,
      ),
    ).toBe('n');
  });
});
