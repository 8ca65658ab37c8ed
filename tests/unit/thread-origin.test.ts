// Which origin and which page a thread belongs to.
import { expect, test } from 'vitest';
import { originOfThread, rootOf } from '../../src/analysis/core/thread-origin.ts';
import { newStore } from '../traces/builder.ts';
import { environment } from '../traces/findings/stage.ts';

const infoOf = (id: string, url: string, parent: string | null = null) =>
  ({ id, kind: 'worker', url, name: '', parent, timeOrigin: 0 }) as const;

test.each([
  ['https://app.example/db.js', 'https://app.example'],
  ['http://localhost:8080/a/b?c=https://x.example/', 'http://localhost:8080'],
  ['blob:https://app.example/0b8f', 'https://app.example'],
  ['chrome-extension://abcd/lab.html', 'chrome-extension://abcd'],
  ['data:text/javascript,0', ''],
  ['blob:null/0b8f', ''],
  ['not a url', ''],
  ['', ''],
])('of %s', (url, origin) =>
  expect(originOfThread(newStore().thread(infoOf('t', url)))).toBe(origin),
);

test('what a thread reports about itself takes precedence over the URL that it was created from', () => {
  const thread = newStore().thread(infoOf('t', 'https://cdn.example/worker.js'));
  thread.define(environment({ url: 'https://app.example/worker.js' }));
  expect(originOfThread(thread)).toBe('https://app.example');
  // reports nothing, so the URL counts
  thread.define(environment({ url: 'data:text/javascript,0' }));
  expect(originOfThread(thread)).toBe('https://cdn.example');
});

test('the thread at the top; a cycle, which only a forged trace has, ends', () => {
  const store = newStore();
  for (const [id, parent] of [
    ['page', null],
    ['worker', 'page'],
    ['nested', 'worker'],
    ['orphan', 'gone'],
    ['a', 'b'],
    ['b', 'a'],
  ] as const)
    store.thread(infoOf(id, '', parent));
  expect([0, 1, 2, 3].map((i) => rootOf(store, i))).toEqual([0, 0, 0, 3]);
  expect([4, 5]).toContain(rootOf(store, 4));
});
