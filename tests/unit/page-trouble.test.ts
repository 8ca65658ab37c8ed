/** What a recorded page's first error is taken from. */
import { EventEmitter } from 'node:events';
import type { Page } from 'puppeteer-core';
import { expect, test } from 'vitest';
import { firstTrouble } from '../../src/drive/page-trouble.ts';

const request = (type: string) => ({
  resourceType: () => type,
  url: () => `http://a/${type}`,
  failure: () => ({ errorText: 'net::ERR_FAILED' }),
});
const answered = (type: string, status: number) => ({
  ...request(type),
  status: () => status,
  request: () => request(type),
});

test('the first error, failed request, or refused script of a page', () => {
  const troubleOf = (...events: [string, unknown][]): string | null => {
    const page = new EventEmitter();
    const trouble = firstTrouble(page as unknown as Page);
    for (const [name, value] of events) page.emit(name, value);
    return trouble();
  };
  expect(troubleOf(['response', answered('script', 200)])).toBeNull();
  expect(troubleOf(['response', answered('image', 404)])).toBeNull();
  expect(troubleOf(['response', answered('script', 404)], ['pageerror', new Error('later')])).toBe(
    'http://a/script: the server answered 404',
  );
  expect(troubleOf(['requestfailed', request('fetch')])).toBe('http://a/fetch: net::ERR_FAILED');
  expect(troubleOf(['pageerror', new Error('db is not defined')])).toBe('db is not defined');
});

test('in Firefox, which reports no types, the first request that a script needed', () => {
  const page = new EventEmitter();
  const trouble = firstTrouble(page as unknown as Page, 'firefox');
  const asked = (destination: string, headers: Record<string, string>): unknown => ({
    url: () => `http://a/${destination}`,
    status: () => 404,
    request: () => ({
      headers: () => headers,
      resourceType: () => {
        throw new Error('UnsupportedOperation');
      },
    }),
  });
  for (const destination of ['none', 'image', 'worker'])
    page.emit('response', asked(destination, { 'sec-fetch-dest': destination }));
  page.emit('response', asked('insecure', {}));
  expect(trouble()).toBe('http://a/worker: the server answered 404');
});
