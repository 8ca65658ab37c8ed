/**
 * The demo app on IndexedDB, used the same way in every browser, and the numbers that must be
 * equal: tests/oracle/demo-idb.json.
 */
import type { Page } from 'puppeteer-core';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';

export const DEMO = '/demo/?vfs=IDBBatchAtomic';
const SEARCH = 'sourdough';
const WAIT = { polling: 50, timeout: 90_000 };

/**
 * Waits until the status line starts like this and the app is idle. @throws the app's message if it
 * failed
 */
async function says(page: Page, start: string): Promise<void> {
  await page.waitForFunction(
    (text: string) => {
      const { state } = document.body.dataset;
      if (state === 'error') return true;
      return state === 'ready' && document.querySelector('#status')?.textContent?.startsWith(text);
    },
    WAIT,
    start,
  );
  const error = await page.evaluate(() =>
    document.body.dataset['state'] === 'error'
      ? document.querySelector('#error-text')!.textContent
      : null,
  );
  if (error !== null) throw new Error(`the demo failed: ${error}`);
}

/**
 * Import 5,000 notes, search, add 100 one by one, check. The page shows the demo, just opened under
 * an origin without storage.
 */
export async function useDemo(page: Page): Promise<void> {
  const click = (id: string): Promise<void> =>
    page.evaluate((name: string) => document.getElementById(name)!.click(), id);
  await says(page, 'Opened in');
  await click('import');
  await says(page, 'Imported 5,000 notes');
  // all at once: typing would run one query per letter
  await page.evaluate((text: string) => {
    const input = document.querySelector<HTMLInputElement>('#search')!;
    input.value = text;
    input.dispatchEvent(new Event('input'));
  }, SEARCH);
  await page.waitForFunction(
    (text: string) =>
      document.body.dataset['state'] === 'ready' &&
      document.querySelector('#summary')?.textContent?.includes(`“${text}”`),
    WAIT,
    SEARCH,
  );
  await click('one-by-one');
  await says(page, 'Added 100 notes');
  await click('check');
  await says(page, 'Integrity: ok');
}

/**
 * Numbers of a recording of this run. Bytes are those of the calls' buffers and of the records in
 * put and get.
 */
export function demoNumbers(store: TraceStore): object {
  const { dropped, files, statements, transactions, commits, web } = summaryOf(store);
  const bytes = { put: 0, get: 0 };
  for (const { events } of store.threads)
    for (let i = 0; i < events.count; i++) {
      if (events.op[i] === Op.idbPut) bytes.put += events.length[i]!;
      else if (events.op[i] === Op.idbGet) bytes.get += events.length[i]!;
    }
  const counted = files.map(
    ({ kind, path, vfs }) =>
      [
        `${kind} ${path}`,
        Object.fromEntries(Object.entries(vfs).filter(([, n]) => n !== 0)),
      ] as const,
  );
  const called = counted.filter(([, vfs]) => Object.keys(vfs).length > 0);
  return {
    dropped,
    files: Object.fromEntries(called),
    statements,
    transactions,
    commits,
    idb: { ...web.idb, putBytes: bytes.put, getBytes: bytes.get },
  };
}
