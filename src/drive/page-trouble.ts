/** The first error of a page, or its first request that failed: why it may not have run SQLite. */
import type { HTTPRequest, HTTPResponse, Page } from 'puppeteer-core';

/** Requests that an app can't do without. */
const NEEDED: ReadonlySet<string> = new Set(['script', 'fetch', 'xhr']);
const isNeeded = (request: HTTPRequest): boolean => NEEDED.has(request.resourceType());

/** @returns its text so far, which the page chose; null = none */
export function firstTrouble(page: Page): () => string | null {
  let first: string | null = null;
  const take = (text: string): void => void (first ??= text);
  page.on('pageerror', (error) => take(error instanceof Error ? error.message : String(error)));
  page.on('requestfailed', (request) => {
    if (isNeeded(request)) take(`${request.url()}: ${request.failure()?.errorText ?? 'failed'}`);
  });
  page.on('response', (response: HTTPResponse) => {
    if (response.status() >= 400 && isNeeded(response.request()))
      take(`${response.url()}: the server answered ${response.status()}`);
  });
  return () => first;
}
