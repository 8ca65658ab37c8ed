/**
 * Complete third-party apps with their own SQLite (for Actual, everything is third-party), and how
 * their users use them.
 */
import type { Page } from 'puppeteer-core';
import { actualStored, useActual } from './actual-run.ts';
import { WAIT, type Rest } from './waiting.ts';

export interface RealApp {
  /** Its origins: their label starts with it. */
  readonly name: string;
  readonly path: string;
  readonly tabs: number;
  /** The tabs show the app, just opened under an origin without storage. At the end it is idle. */
  use(pages: readonly Page[], rest: Rest): Promise<void>;
  /** What the app has stored, according to a tab that has just opened it. */
  stored?(page: Page): Promise<unknown>;
  /** One of its workers waits for work with endless timeouts, so it is never idle. */
  polls?: true;
  /** Its page ends a worker while it works. */
  terminates?: true;
  /** It waits until the date has changed. */
  waitsByDate?: true;
  /** How much it commits at once depends on its speed, so two runs store different bytes. */
  batchesByTime?: true;
  /** Texts that the server appends to its files, by file name. */
  behind?: Readonly<Record<string, string>>;
}

/** Waits until all tabs show this many items, and this many of them open. */
const shown = (pages: readonly Page[], all: number, open: number): Promise<unknown> =>
  Promise.all(
    pages.map((page) =>
      page.waitForFunction(
        (...counts) => {
          const text = (id: string): string => document.getElementById(id)!.textContent;
          const { state } = document.body.dataset;
          if (state === 'error') throw new Error(text('error'));
          return state === 'ready' && text('all') === counts[0] && text('open') === counts[1];
        },
        WAIT,
        String(all),
        String(open),
      ),
    ),
  );

/** The list's text, once it exists. */
async function listed(page: Page): Promise<string[]> {
  await page.waitForFunction(() => document.body.dataset['state'] === 'ready', WAIT);
  return page.$$eval('li', (items) =>
    items.map((item) => `${item.querySelector('input')!.checked} ${item.textContent.trim()}`),
  );
}

/**
 * Add and check off in each tab in turn, then in all at once, and clear. @param atOnce false: the
 * tabs take turns here, too
 */
const listUse =
  (atOnce: boolean) =>
  async (pages: readonly Page[]): Promise<void> => {
    const click = (selector: string) => (page: Page) =>
      page.$eval(selector, (element) => (element as HTMLElement).click());
    let all = 0;
    let open = 0;
    await shown(pages, 0, 0);
    for (const page of pages) {
      await click('#many')(page);
      await shown(pages, (all += 50), (open += 50));
      await page.$eval('#name', (input) => ((input as HTMLInputElement).value = 'One by hand'));
      await click('#add')(page);
      await shown(pages, ++all, ++open);
      await click('li:has(input:not(:checked)) input')(page);
      await shown(pages, all, --open);
    }
    for (const group of atOnce ? [pages] : pages.map((page) => [page])) {
      await Promise.all(group.map(click('#many')));
      await shown(pages, (all += 50 * group.length), (open += 50 * group.length));
    }
    await click('#clear')(pages[0]!);
    await shown(pages, open, open);
  };
const useList = listUse(true);

export const REAL_APPS: readonly RealApp[] = [
  {
    name: 'actual',
    path: '/',
    tabs: 1,
    use: ([only], rest) => useActual(only!, rest),
    stored: actualStored,
    terminates: true,
  },
  { name: 'evolu', path: '/evolu/', tabs: 1, use: useList, stored: listed },
  { name: 'powersync', path: '/powersync/', tabs: 2, use: useList, stored: listed },
  {
    name: 'powersync-opfs',
    path: '/powersync/?vfs=OPFSCoopSyncVFS',
    tabs: 2,
    use: useList,
    stored: listed,
  },
  // events that two tabs commit at once sometimes keep LiveStore busy for minutes: each side
  // rebases its events on the other's
  {
    name: 'livestore',
    path: '/',
    tabs: 2,
    use: listUse(false),
    stored: listed,
    batchesByTime: true,
  },
  { name: 'vite', path: '/', tabs: 1, use: useList, stored: listed },
  { name: 'webpack', path: '/', tabs: 1, use: useList, stored: listed },
  { name: 'esbuild', path: '/', tabs: 1, use: useList, stored: listed },
  { name: 'rollup', path: '/', tabs: 1, use: useList, stored: listed },
  {
    name: 'sqlocal',
    path: '/coi/sqlocal/',
    tabs: 2,
    use: useList,
    stored: listed,
    polls: true,
    waitsByDate: true,
  },
];
export const realApp = (called: string): RealApp => REAL_APPS.find(({ name }) => name === called)!;
