/** The first error of a page, or its first request that failed: why it may not have run SQLite. */
import type { HTTPRequest, HTTPResponse, Page } from 'puppeteer-core';

/** Requests that an app can't do without, by their types in Chromium, and in Firefox. */
const NEEDED: ReadonlySet<string> = new Set(['script', 'fetch', 'xhr']);
const NEEDED_IN_FIREFOX: ReadonlySet<string> = new Set([
  ...['script', 'worker', 'sharedworker'],
  'empty', // fetch and XMLHttpRequest
]);
const isNeeded = (request: HTTPRequest): boolean => NEEDED.has(request.resourceType());
/** Puppeteer has no types of Firefox's requests. */
const isNeededInFirefox = (request: HTTPRequest): boolean =>
  NEEDED_IN_FIREFOX.has(request.headers()['sec-fetch-dest'] ?? '');

/** @returns its text so far, which the page chose; null = none */
export function firstTrouble(
  page: Page,
  browser: 'chromium' | 'firefox' = 'chromium',
): () => string | null {
  const isMissed = browser === 'firefox' ? isNeededInFirefox : isNeeded;
  let first: string | null = null;
  const take = (text: string): void => void (first ??= text);
  page.on('pageerror', (error) => take(error instanceof Error ? error.message : String(error)));
  page.on('requestfailed', (request) => {
    if (isMissed(request)) take(`${request.url()}: ${request.failure()?.errorText ?? 'failed'}`);
  });
  page.on('response', (response: HTTPResponse) => {
    if (response.status() >= 400 && isMissed(response.request()))
      take(`${response.url()}: the server answered ${response.status()}`);
  });
  return () => first;
}
