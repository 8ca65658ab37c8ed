/**
 * What the probes record of known storage calls, in a page and in a worker. The calls behave the
 * same as without them.
 */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Flag } from '../../src/event/event.ts';
import { exceptionName, failureOf } from '../../src/event/exceptions.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import {
  buildHook,
  collectUntil,
  openCases,
  serveCases,
  type SeenEvent,
  type SeenThread,
} from './hooks-harness.ts';

declare function storageCalls(): Promise<unknown>;

let browser: Browser;
let server: Awaited<ReturnType<typeof serveCases>>;
let hook: string;
beforeAll(async () => {
  [browser, server, hook] = await Promise.all([launchPlainBrowser(), serveCases(), buildHook()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

async function inPage(page: Page): Promise<unknown> {
  await page.addScriptTag({ url: '/storage.js' });
  return page.evaluate(() => storageCalls());
}
const inWorker = (page: Page): Promise<unknown> =>
  page.evaluate(() => {
    const worker = new Worker('storage.js');
    worker.postMessage('go');
    return new Promise(
      (done) => (worker.onmessage = ({ data }) => done(data.results ?? data.failed)),
    );
  });

const counts = (events: SeenEvent[], prefix: string): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { op } of events) if (op.startsWith(prefix)) found[op] = (found[op] ?? 0) + 1;
  return found;
};
const of = (events: SeenEvent[], op: string): SeenEvent[] =>
  events.filter((event) => event.op === op);
/** '' for success. */
const answer = ({ result }: SeenEvent): string =>
  result === 0 ? '' : (exceptionName(result) ?? `failed ${result}`);
const path = ({ object }: SeenEvent): string => (object?.kind === 'opfs-file' ? object.path : '');
const isOver = (thread: SeenThread): boolean =>
  of(thread.events, 'lock.request').length >= 10 && thread.events.every((e) => e.endSeq > 0);

describe.each([
  ['page', 'plain', inPage],
  ['page', 'isolated', inPage],
  ['worker', 'plain', inWorker],
  ['worker', 'isolated', inWorker],
] as const)('a %s, policy %s', (kind, policy, run) => {
  test('storage calls are recorded as the app made them', async () => {
    const [native, hooked] = [
      await openCases(browser, server.url(policy), null),
      await openCases(browser, server.url(policy), hook),
    ];
    const without = await run(native);
    const withHook = await run(hooked);
    expect(withHook).toEqual(without);
    const threads = await collectUntil(hooked, (all) =>
      all.some((t) => t.identity.kind === kind && isOver(t)),
    );
    const thread = threads.find((t) => t.identity.kind === kind)!;
    expect(thread.notes.filter((n) => n.topic === 'tracer-error')).toEqual([]);
    expect(thread.faults).toBe(0);
    const { events } = thread;

    expect(counts(events, 'idb.')).toEqual({
      'idb.open': 1,
      'idb.transaction': 6, // five of the app, one of upgradeneeded
      'idb.put': 8,
      'idb.add': 3,
      'idb.delete': 1,
      'idb.get': 1,
      'idb.openCursor': 1,
      'idb.cursorContinue': 5,
      'idb.getAll': 1,
      'idb.count': 1,
      'idb.commit': 1,
      'idb.abort': 1,
      'idb.deleteDatabase': 1,
    });
    const puts = of(events, 'idb.put');
    expect(puts.map((e) => e.offset)).toEqual([0, 1, 2, 3, 4, 7, NaN, 1]);
    expect(puts[0]).toMatchObject({
      length: 4096 + 8 + 4,
      result: 0,
      object: { kind: 'idb-store', db: 'hook-cases', store: 'blocks' },
    });
    expect(puts.at(-1)!.flags & Flag.threw).toBe(Flag.threw);
    expect(of(events, 'idb.add').map(answer)).toEqual(['', 'ConstraintError', 'ConstraintError']);
    expect(of(events, 'idb.get')[0]).toMatchObject({
      offset: 3,
      length: 4096 + 8 + 4,
      flags: Flag.async,
    });
    expect(of(events, 'idb.getAll')[0]!.length).toBe(5 * 4108);
    expect(of(events, 'idb.transaction').map((e) => [e.aux, e.result])).toEqual([
      [2, 0],
      [1 | (2 << 2), 0],
      [1, 0],
      [0, 0],
      [1, 1], // aborted by the app
      [1, failureOf(new DOMException('', 'ConstraintError'))],
    ]);
    const [, write] = of(events, 'idb.transaction');
    expect(
      puts
        .slice(0, 6)
        .every(
          (e) => e.context === write!.context && e.seq > write!.seq && e.endSeq < write!.endSeq,
        ),
    ).toBe(true);

    expect(of(events, 'opfs.getFileHandle').map((e) => [path(e), answer(e)])).toEqual([
      ['/hooks/a.db', ''],
      ['/hooks/no.db', 'NotFoundError'],
    ]);
    if (kind === 'worker') {
      expect(of(events, 'opfs.openSyncAccessHandle').map((e) => [answer(e), e.flags])).toEqual([
        ['', Flag.async],
        ['NoModificationAllowedError', Flag.async | Flag.threw],
      ]);
      const bytes = (op: string) =>
        of(events, op).map((e) => [path(e), e.offset, e.length, e.result, e.flags]);
      expect(bytes('opfs.write')).toEqual(
        [0, 1, 2, 3].map((i) => ['/hooks/a.db', i * 4096, 4096, 4096, 0]),
      );
      expect(bytes('opfs.read')).toEqual([
        ['/hooks/a.db', 0, 4096, 4096, 0],
        ['/hooks/a.db', 4096, 4096, 4096, 0],
        ['/hooks/a.db', 3 * 4096 + 4000, 4096, 96, 0],
        ['/hooks/a.db', 4 * 4096, 4096, 0, 0],
        [
          '/hooks/a.db',
          8192,
          4096,
          failureOf(new DOMException('', 'InvalidStateError')),
          Flag.threw,
        ], // after truncate(8192)
      ]);
      expect(of(events, 'opfs.truncate')[0]!.offset).toBe(8192);
      expect(counts(events, 'opfs.')).toMatchObject({
        'opfs.flush': 1,
        'opfs.getSize': 1,
        'opfs.close': 1,
      });
    }
    expect(of(events, 'opfs.streamWrite').map((e) => [path(e), e.offset, e.length])).toEqual([
      ['/hooks/a.db', 100, 50],
      ['/hooks/a.db', NaN, 8],
    ]);
    expect(counts(events, 'opfs.stream')).toEqual({
      'opfs.streamWrite': 2,
      'opfs.streamTruncate': 1,
      'opfs.streamClose': 1,
    });
    expect(of(events, 'opfs.fileRead').map((e) => [path(e), e.offset, e.length])).toEqual([
      ['/hooks/a.db', 0, 4096],
      ['/hooks/a.db', 1000, 100],
    ]);
    expect(of(events, 'opfs.getFile').map(path)).toEqual(['/hooks/a.db', '/hooks/a.db']);
    expect(of(events, 'opfs.move').map(path)).toEqual(['/hooks/a.db']);
    expect(of(events, 'opfs.removeEntry').map(path)).toEqual(['/hooks/b.db', '/hooks']);

    const names = (op: string) =>
      of(events, op).map((e) => [e.object?.kind === 'lock' && e.object.text, e.aux, answer(e)]);
    expect(names('lock.request')).toEqual([
      ['a', 0, ''],
      ['a', 1, ''],
      ['a', 2, 'failed 1'],
      ['b', 0, ''],
      ['b', 0, ''],
      ['-b', 0, 'NotSupportedError'],
      ['c', 0, ''],
      ['c', 0, 'AbortError'],
      ['c', 4, ''],
      ['d', 0, ''],
    ]);
    expect(names('lock.held').sort()).toEqual(
      [
        ['a', 0, ''],
        ['a', 1, ''],
        ['b', 0, 'failed 1'],
        ['b', 0, 'failed 1'],
        ['c', 0, 'AbortError'],
        ['c', 4, ''],
        ['d', 0, ''],
      ].sort(),
    );
    if (policy === 'isolated') {
      const waits = { 'atomics.waitAsync': 2, 'atomics.notify': 2 };
      expect(counts(events, 'atomics.')).toEqual(
        kind === 'worker' ? { ...waits, 'atomics.wait': 2 } : waits,
      );
      expect(of(events, 'atomics.notify').map((e) => [e.offset, e.result])).toEqual([
        [12, 1],
        [0, 0],
      ]);
      if (kind === 'worker')
        expect(of(events, 'atomics.wait').map((e) => e.result)).toEqual([1, 2]);
    }
    if (kind === 'page') {
      const local = {
        'localStorage.set': 1,
        'localStorage.get': 2,
        'localStorage.key': 1,
        'localStorage.remove': 1,
        'localStorage.clear': 1,
      };
      expect(counts(events, 'localStorage.')).toEqual(local);
      expect(of(events, 'localStorage.get').map((e) => e.length)).toEqual([10, 0]);
    }
    await Promise.all([native.browserContext().close(), hooked.browserContext().close()]);
  });
});
