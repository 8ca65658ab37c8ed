/** Helpers of view tests that read from a page and type into it. */
import { id, type viewHarness } from './view-harness.ts';

/** For the harness's current page. */
export const readingOf = (panel: ReturnType<typeof viewHarness>) => ({
  /** Number of a table's rows, without its heading. */
  rowsOf: async (table: string): Promise<number> =>
    Number(await panel.page.$eval(id(table), (e) => e.getAttribute('aria-rowcount'))) - 1,
  texts: (selector: string): Promise<string[]> =>
    panel.page.$$eval(selector, (all) => all.map((e) => e.textContent?.trim() ?? '')),
  async fill(field: string, text: string): Promise<void> {
    await panel.page.$eval(id(field), (e) => (e as HTMLInputElement).select());
    await panel.page.keyboard.press('Backspace');
    await panel.page.type(id(field), text);
  },
  says: (selector: string, words: string): Promise<unknown> =>
    panel.page.waitForFunction(
      (s: string, w: string) => document.querySelector(s)?.textContent?.includes(w),
      {},
      selector,
      words,
    ),
});
