/**
 * Messages between threads: counts, order, and sizes for an app with known messages, and none if
 * they aren't captured.
 */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Flag } from '../../src/event/event.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { byChannel, GOLDEN, goldenLine, goldenMessages, UNSAID } from './golden-messages.ts';
import {
  buildHook,
  buildCarried,
  collectUntil,
  openCases,
  PATCH_PLATFORM,
  serveCases,
  type SeenThread,
} from './hooks-harness.ts';

let browser: Browser;
let server: Awaited<ReturnType<typeof serveCases>>;
let hook: string;
let messages: string;
beforeAll(async () => {
  [browser, server, hook, messages] = await Promise.all([
    launchPlainBrowser(),
    serveCases(),
    buildHook(),
    buildCarried('messages'),
  ]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});
const close = (page: Page): Promise<void> => page.browserContext().close();

/**
 * Whether an end belongs to the panel's stand-in, which posts over ports that no MessageChannel of
 * the app created.
 */
const isStandIn = (end: SeenThread['events'][0]['object']): boolean =>
  end?.kind === 'channel' && end.channel === 'port' && !end.key;
const linesOf = (thread: SeenThread | undefined): string[] =>
  (thread?.events ?? []).flatMap(({ op, object, context, flags, ...event }) => {
    const by = thread!.definitions.find(({ id, kind }) => id === context && kind === 'channel');
    const end = op === 'messagePort' ? by : object;
    const channel = end?.kind === 'channel' ? end.channel : '';
    if (isStandIn(end) && thread!.identity.kind === 'page') return [];
    return goldenLine({ op, channel, threw: (flags & Flag.threw) !== 0, ...event }) ?? [];
  });
const of = (all: SeenThread[], kind: string): SeenThread | undefined =>
  all.find(({ identity }) => identity.kind === kind);

test.each(['plain', 'isolated'])('a known app, %s: every message, in order', async (policy) => {
  const page = await openCases(browser, server.url(policy), messages + hook);
  await page.evaluate(goldenMessages, 'messages.js');
  const all = await collectUntil(
    page,
    (threads) =>
      linesOf(of(threads, 'page')).length >= GOLDEN.page.length &&
      linesOf(of(threads, 'worker')).length >= GOLDEN.worker.length,
  );
  const [ofPage, worker] = [of(all, 'page')!, of(all, 'worker')!];
  expect(byChannel(linesOf(ofPage))).toEqual(byChannel(GOLDEN.page));
  expect(byChannel(linesOf(worker))).toEqual(byChannel(GOLDEN.worker));
  expect([ofPage.faults, worker.faults]).toEqual([0, 0]);
  // both ends of the worker's channel name its thread
  const keys = all.flatMap(({ definitions }) =>
    definitions.flatMap((d) =>
      d.kind === 'channel' && (d.channel === 'worker' || d.channel === 'creator') ? [d.key] : [],
    ),
  );
  expect(new Set(keys)).toEqual(new Set([worker.identity.id]));
  // a message is handled while its listeners run, including the worker's answer
  for (const n of [1, 2, 3, 4, 5]) {
    const has = (op: string): ((event: SeenThread['events'][0]) => boolean) => {
      return ({ op: own, object, aux }) =>
        own === op && aux === n && object?.kind === 'channel' && object.channel === 'creator';
    };
    const handled = worker.events.find(has('messageHandle'))!;
    const answer = worker.events.find(has('messagePost'))!;
    expect(answer.seq > handled.seq && answer.seq < handled.endSeq).toBe(true);
  }
  const open = all.flatMap(({ events }) =>
    // the request for the events is still being handled when they are sent
    events.filter((e) => e.op === 'messageHandle' && e.endSeq === 0 && !isStandIn(e.object)),
  );
  expect(open).toEqual([]);
  expect(JSON.stringify(all)).not.toContain(UNSAID);
  await close(page);
});

/**
 * Runs in the page: everything that an app may do that hinders counting.
 * @returns which of its code ran only because of vfscope, and its errors
 */
async function hardMessages(): Promise<string[]> {
  const ran: string[] = [];
  const worker = new Worker('messages.js');
  let answers = 0;
  const answered = new Promise<void>((done) => {
    worker.onmessage = () => {
      if (++answers === 4) done();
    };
  });
  class Posed {
    get [Symbol.toStringTag](): string {
      ran.push('toStringTag');
      return 'ArrayBuffer';
    }
    get byteLength(): number {
      ran.push('byteLength');
      return 7;
    }
  }
  const list = new Proxy([new ArrayBuffer(8)], {
    getOwnPropertyDescriptor() {
      throw new Error('only vfscope asks');
    },
  });
  worker.postMessage(new Posed());
  worker.postMessage('unsaid', list);
  worker.postMessage('unsaid');

  const { port1, port2 } = new MessageChannel();
  port2.start(); // messages before it listens are lost
  port1.postMessage('unsaid');
  const after = new MessageChannel();
  after.port1.postMessage('unsaid');
  await new Promise((done) => (after.port2.onmessage = done));
  port1.postMessage('unsaid');
  await new Promise<void>((done) => {
    let left = 2;
    // the first one may still be on its way
    const heard = (): void => void (--left === 0 && done());
    port2.addEventListener('message', heard, { once: true });
    after.port2.onmessage = heard;
    after.port1.postMessage('unsaid');
  });

  const { port } = new SharedWorker(new URL('module-poster.js', location.href));
  const unread = new Promise((done) => (port.onmessageerror = done));
  await new Promise((done) => (port.onmessage = done));
  await unread;
  worker.postMessage({ unsaid: port }, [port]);
  await answered;
  return ran;
}

test('what hinders counting: conversions, traps, lost and unreadable messages, ports that are moved', async () => {
  const page = await openCases(browser, server.url('plain'), messages + hook);
  expect(await page.evaluate(hardMessages)).toEqual([]);
  const expected = [
    ...['post worker 1 n/a', 'post worker 2 12', 'post worker 3 12', 'post worker 4 n/a'],
    ...['port sent worker 4', ...[1, 2, 3, 4].map((n) => `handle worker ${n}`)],
    ...['handle shared-worker 1 threw', 'handle shared-worker 2'],
  ];
  const others = (lines: string[]): string[] => lines.filter((line) => !line.includes(' port '));
  const all = await collectUntil(
    page,
    (threads) => others(linesOf(of(threads, 'page'))).length >= expected.length,
  );
  const ofPage = of(all, 'page')!;
  const lines = linesOf(ofPage);
  expect(byChannel(others(lines)).sort()).toEqual(expected.sort());
  // two pairs of ports with two messages through each, all of them counted where they arrived
  const handled = lines.filter((line) => line.startsWith('handle port'));
  expect(handled.sort()).toEqual(['1', '1', '2', '2'].map((n) => `handle port ${n}`));
  const keys = ofPage.definitions.flatMap((d) =>
    d.kind === 'channel' && d.channel === 'shared-worker' ? [[d.key, d.side]] : [],
  );
  expect(keys).toEqual([[`${new URL('module-poster.js', page.url()).href}\n`, 1]]);
  expect(all.map(({ faults }) => faults)).toEqual(all.map(() => 0));
  await close(page);
});

test('functions of the platform that the app replaces are not called', async () => {
  const page = await openCases(browser, server.url('plain'), messages + hook);
  await page.evaluateOnNewDocument(`${PATCH_PLATFORM};patchPlatform()`);
  await page.goto(server.url('plain'));
  await page.evaluate(goldenMessages, 'messages.js');
  const all = await collectUntil(
    page,
    (threads) => linesOf(of(threads, 'page')).length >= GOLDEN.page.length,
  );
  const calls = await page.evaluate(() => (window as unknown as { calls: string[] }).calls);
  // our scripts have no URL
  expect(calls.filter((call) => /<anonymous>:\d/.test(call))).toEqual([]);
  expect(byChannel(linesOf(of(all, 'page')))).toEqual(byChannel(GOLDEN.page));
  await close(page);
});

test("a late start doesn't move the app's handlers", async () => {
  const order = (): Promise<string[]> => {
    const { ports, heard } = window as unknown as { ports: MessagePort[]; heard: string[] };
    ports[1]!.onmessage = () => void heard.push('handler, set again');
    ports[0]!.postMessage('unsaid');
    return new Promise((done) => ports[1]!.addEventListener('message', () => done(heard)));
  };
  const before = (): void => {
    const { port1, port2 } = new MessageChannel();
    const heard: string[] = [];
    port2.onmessage = () => void heard.push('handler');
    port2.addEventListener('message', () => heard.push('listener'));
    Object.assign(window, { ports: [port1, port2], heard });
  };
  for (const script of [null, messages + hook]) {
    const page = await openCases(browser, server.url('plain'), script, 'connected', before);
    expect(await page.evaluate(order)).toEqual(['handler, set again', 'listener']);
    await close(page);
  }
});

test('without the script no messages are recorded', async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  await page.evaluate(goldenMessages, 'messages.js');
  await page.evaluate(() => performance.mark('after'));
  const all = await collectUntil(page, (threads) =>
    threads.some(({ events }) => events.some(({ op }) => op === 'mark')),
  );
  expect(all.flatMap(linesOf)).toEqual([]);
  await close(page);
});
