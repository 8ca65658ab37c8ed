/** Actual Budget (@actual-app/web), used as its visitors do: its demo, all accounts, reports, the budget. The demo's payees and amounts are random. */
import type { Page } from 'puppeteer-core';
import { WAIT, type Rest } from './waiting.ts';

/** Follow the link, or press the button, with this name once it exists. */
async function press(page: Page, name: string): Promise<void> {
  await page.waitForFunction(
    (text) => {
      const found = [...document.querySelectorAll<HTMLElement>('a, button')].find(
        (element) => element.innerText.split('\n')[0]!.trim() === text,
      );
      found?.click();
      return found !== undefined;
    },
    WAIT,
    name,
  );
}

/** Waits until the page at this path shows all of these texts. */
const shows = (page: Page, path: string, ...texts: string[]): Promise<unknown> =>
  page.waitForFunction(
    (start, all) =>
      location.pathname.startsWith(start) &&
      all.every((text) => document.body.innerText.includes(text)),
    WAIT,
    path,
    texts,
  );

/** The page shows Actual, just opened under an origin without storage. */
export async function useActual(page: Page, rest: Rest): Promise<void> {
  await press(page, 'Try the demo');
  await shows(page, '/budget', 'House Asset', 'To Budget:');
  await press(page, 'All accounts');
  await shows(page, '/accounts', 'Payee');
  await page.waitForSelector('[data-testid="transaction-table"] [data-testid="row"]', WAIT);
  await press(page, 'Reports');
  await shows(page, '/reports', 'Net Worth', 'Cash Flow');
  await press(page, 'Budget');
  await shows(page, '/budget', 'To Budget:');
  await rest();
}

/**
 * Interval between two reads of a page. A page that shows its numbers one by one has changed by
 * then.
 */
const LOOKS = 20;

/** What Actual has stored, as its budget shows it after reopening. */
export async function actualStored(page: Page): Promise<string> {
  await shows(page, '/budget', 'House Asset', 'To Budget:');
  const said = await page.waitForFunction(
    (looks) => {
      const state = ((window as { said?: { text: string; same: number } }).said ??= {
        text: '',
        same: 0,
      });
      const text = document.body.innerText;
      state.same = text === state.text ? state.same + 1 : 0;
      state.text = text;
      return state.same >= looks && text;
    },
    WAIT,
    LOOKS,
  );
  return (await said.jsonValue()) as string;
}
