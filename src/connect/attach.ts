/**
 * Connects to a page of a running browser by the page's id in the browser's list. The browser is
 * never closed.
 */
import type { Browser, Page } from 'puppeteer-core';
import { browserFailed } from '../terminal/failure.ts';

/** Attach to the page and its children. Other tabs aren't touched. @throws CommandFailure (3) */
export async function connectTo(endpoint: string, id: string): Promise<Browser> {
  // loaded only when needed, because it takes a while
  const { default: puppeteer } = await import('puppeteer-core');
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
/** puppeteer's name for it */
const idOf = (target: object): string => (target as { _targetId: string })._targetId;

/** The page itself. @throws CommandFailure (3) if it was closed */
export async function pageOf(browser: Browser, id: string): Promise<Page> {
  const target = await browser
    .waitForTarget((one) => idOf(one) === id, { timeout: 10_000 })
    .catch((e: Error) => {
      throw browserFailed(`The page was closed: ${e.message}`);
    });
  return (await target.page()) ?? (await target.asPage());
}
