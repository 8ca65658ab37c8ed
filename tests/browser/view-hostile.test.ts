// A trace whose page uses hostile text everywhere: in every view it stays text, runs nothing,
// changes no text direction, and displaces nothing.
import { describe, expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { hostileStore } from '../traces/hostile.ts';
import { id, ViewerPage } from './viewer-page.ts';

const viewer = new ViewerPage(async () => ({
  'hostile.vfst': new Uint8Array(await (await saveTrace(hostileStore())).arrayBuffer()),
}));

/**
 * What a hostile text could have caused in the page. `turning`: texts and hints with a
 * text-direction override.
 */
const harm = () => {
  const turns = /[\u202a-\u202e\u2066-\u2069]/;
  const texts = [...document.querySelectorAll('*')].flatMap((e) => [
    ...[...e.childNodes]
      .filter((n) => n.nodeType === Node.TEXT_NODE)
      .map((n) => n.textContent ?? ''),
    ...['title', 'aria-label'].map((name) => e.getAttribute(name) ?? ''),
  ]);
  return {
    ran: 'hit' in window,
    markup: document.querySelectorAll('body img, #view script').length,
    turning: texts.filter((text) => turns.test(text)).length,
    wide: document.scrollingElement!.scrollWidth > innerWidth,
    long: texts.filter((text) => text.length > 100_000).length,
    seen: texts.some((text) => text.includes('<img src=x onerror="window.hit=1">')),
  };
};
const NONE = { ran: false, markup: 0, turning: 0, wide: false, long: 0, seen: true };

const open = async (view: string): Promise<void> => {
  await viewer.open(`open=/traces/hostile.vfst#tab=${view}`, 900, 640);
  await viewer.page.waitForSelector(id('file-name'));
  await viewer.page.waitForSelector(`${id(`tab-${view}`)}[aria-selected=true]`);
  await viewer.page.waitForFunction(
    () => !document.querySelector('[aria-busy=true], [data-testid=loading]'),
  );
};

describe('hostile text', () => {
  it("in Events, and in an event's details", async () => {
    await open('events');
    await viewer.page.waitForSelector(id('event-row'));
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
    await viewer.page.click(id('event-row'));
    await viewer.page.waitForSelector(id('details-statement'));
    await viewer.page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.startsWith('Selected'),
      {},
      id('announcer'),
    );
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
  });

  it('in Errors, and in the statements behind an error', async () => {
    await open('errors');
    await viewer.page.waitForSelector(id('errors-row'));
    expect(await viewer.page.$$eval(id('errors-row'), (rows) => rows.length)).toBeGreaterThan(3);
    const rows = await viewer.page.$$(id('errors-row'));
    await rows.at(-1)!.click(); // of a call that a statement survived
    await viewer.page.waitForSelector(`${id('error-details')} .statement`);
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
    // our own text after the statement reads from left to right
    const order = await viewer.page.$eval(`${id('error-details')} .statement`, (p) => {
      const left = (e: Element): number => [...e.getClientRects()].at(-1)!.left;
      return left(p.querySelector('code')!) < left(p.querySelector('small')!);
    });
    expect(order).toBe(true);
  });

  it('in the result of a query', async () => {
    await open('sql');
    await viewer.page.waitForSelector('.cm-content');
    await viewer.page.click(id('sql-example'));
    await viewer.page.waitForSelector(id('sql-count'));
    await viewer.page.click('.cm-content');
    await viewer.page.keyboard.down('Control');
    await viewer.page.keyboard.press('a');
    await viewer.page.keyboard.up('Control');
    await viewer.page.keyboard.type(
      'SELECT object, statement, count(*) AS n FROM events WHERE object IS NOT NULL GROUP BY object',
    );
    await viewer.page.click(id('sql-run'));
    await viewer.page.waitForSelector(
      `${id('sql-result')} [role=columnheader]:nth-child(2) [data-testid=sort-1]`,
    );
    await viewer.page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('<img'),
      {},
      id('sql-result'),
    );
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
    await viewer.page.select(id('sql-chart'), 'bars');
    await viewer.page.waitForSelector(id('sql-bars'));
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
  });

  it('in Compare, next to another trace', async () => {
    await open('compare');
    const input = await viewer.page.waitForSelector(id('compare-input'), { hidden: true });
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(
      'tests/traces/golden/opfs-coop-sync.vfst',
    );
    await viewer.page.waitForSelector(id('compare-warning'));
    await viewer.page.waitForSelector(id('compare-numbers-row'));
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
  });

  it('in the details of a transaction', async () => {
    await open('transactions');
    await viewer.page.waitForSelector(id('transactions-row'));
    await viewer.page.click(id('transactions-row'));
    await viewer.page.waitForSelector(`${id('waterfall')} .slice.sql`);
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
  });

  it('in the details of a statement', async () => {
    await open('statements');
    await viewer.page.waitForSelector(id('statements-row'));
    const parts = new Set<string>();
    for (const row of await viewer.page.$$(id('statements-row'))) {
      await row.click();
      await viewer.page.waitForSelector(id('statement-text'));
      for (const name of await viewer.page.$$eval('[data-testid^="statement-"]', (all) =>
        all.map((e) => (e as HTMLElement).dataset.testid!),
      ))
        parts.add(name);
      expect(await viewer.page.evaluate(harm)).toEqual(NONE);
    }
    expect([...parts]).toEqual(
      expect.arrayContaining(['statement-text', 'statement-stack', 'statement-values']),
    );
  });

  it('under the pointer on the timeline', async () => {
    await open('timeline');
    await viewer.page.waitForSelector(`${id('timeline')}[data-frame]:not([data-waiting])`);
    const { x, y, height } = (await (await viewer.page.$(
      '.lane-box:has([data-testid="buttons-0:vfs"])',
    ))!.boundingBox())!;
    const { left, width } = await viewer.page.$eval(id('timeline'), (e) => {
      const box = e.getBoundingClientRect();
      return { left: box.left, width: box.width };
    });
    expect(x).toBeLessThan(left);
    for (let at = left + 20; at < left + width && !(await viewer.page.$(id('tooltip'))); at += 5) {
      await viewer.page.mouse.move(at, y + height / 2);
      await viewer.page.evaluate(
        () =>
          new Promise<void>((done) =>
            requestAnimationFrame(() => requestAnimationFrame(() => done())),
          ),
      );
    }
    await viewer.page.waitForSelector(id('tooltip'));
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
    expect((await viewer.text(id('tooltip'))).length).toBeLessThan(500);
  });

  it('while stepping through the events of a finding', async () => {
    await open('answer');
    await viewer.page.waitForSelector(`${id('finding-show')}:not(:disabled)`);
    const findings = await viewer.page.$$eval(id('finding'), (all) =>
      all.map((e) => (e as HTMLElement).dataset.rule!),
    );
    for (const rule of findings) {
      await viewer.page.$eval(id('tab-answer'), (e) => (e as HTMLElement).click());
      const show = `[data-rule="${rule}"] ${id('finding-show')}`;
      await viewer.page.waitForSelector(show);
      await viewer.page.$eval(show, (e) => (e as HTMLElement).click());
      await viewer.page.waitForSelector(id('evidence'));
      const { seen: _, ...found } = await viewer.page.evaluate(harm);
      expect(found, rule).toEqual({ ran: false, markup: 0, turning: 0, wide: false, long: 0 });
    }
  });

  it('in the palette', async () => {
    await open('settings');
    await viewer.page.keyboard.down('Control');
    await viewer.page.keyboard.press('k');
    await viewer.page.keyboard.up('Control');
    await viewer.page.type(id('palette-input'), 'img');
    await viewer.page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('<img'),
      {},
      id('palette-entry'),
    );
    expect(await viewer.page.evaluate(harm)).toEqual(NONE);
  });

  it.each(['answer', 'timeline', 'transactions', 'statements', 'files', 'locks', 'cache', 'wal'])(
    'in %s',
    async (view) => {
      await open(view);
      await viewer.page.waitForFunction(
        () => (document.querySelector('#view')?.textContent?.length ?? 0) > 60,
      );
      // not all of them show text of the page
      const { seen: _, ...found } = await viewer.page.evaluate(harm);
      expect(found).toEqual({ ran: false, markup: 0, turning: 0, wide: false, long: 0 });
    },
  );
});
