/** A page of a browser that runs already, by its id in the browser's own list. The browser is never closed. */
import type { Browser, Page } from 'puppeteer-core';
import { browserFailed } from '../terminal/failure.ts';

/** Attaches to that page and what belongs to it; other tabs stay alone. @throws CommandFailure (3) */
export async function connectTo(endpoint: string, id: string): Promise<Browser> {
  const { default: puppeteer } = await import('puppeteer-core'); // only where a browser is driven: it takes a while to load
  return puppeteer
    .connect({
      browserURL: endpoint,
      defaultViewport: null, // the page keeps its size
      targetFilter: (one) => one.type() !== 'page' || idOf(one) === id,
    })
    .catch((e: Error) => {
      throw browserFailed(`vfscope can't connect to the browser at ${endpoint}: ${e.message}`);
    });
}
/** puppeteer's own name for it */
const idOf = (target: object): string => (target as { _targetId: string })._targetId;

/** The page itself. @throws CommandFailure (3) where it has gone */
export async function pageOf(browser: Browser, id: string): Promise<Page> {
  const target = await browser
    .waitForTarget((one) => idOf(one) === id, { timeout: 10_000 })
    .catch((e: Error) => {
      throw browserFailed(`The page was closed: ${e.message}`);
    });
  return (await target.page()) ?? (await target.asPage());
}
