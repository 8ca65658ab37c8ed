/** Messages between threads: counts, order, and sizes of an app whose messages are known, and nothing where they were not asked for. */
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

const linesOf = (thread: SeenThread | undefined): string[] =>
  (thread?.events ?? []).flatMap(({ op, object, context, flags, ...event }) => {
    const by = thread!.definitions.find(({ id, kind }) => id === context && kind === 'channel');
    const end = op === 'messagePort' ? by : object;
    const channel = end?.kind === 'channel' ? end.channel : '';
    // the stand-in for the panel posts over ports that no MessageChannel of the app's made
    const isStandIn = end?.kind === 'channel' && channel === 'port' && !end.key;
    if (isStandIn && thread!.identity.kind === 'page') return [];
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
  // both ends of the worker's channel say which thread it is
  const keys = all.flatMap(({ definitions }) =>
    definitions.flatMap((d) =>
      d.kind === 'channel' && (d.channel === 'worker' || d.channel === 'creator') ? [d.key] : [],
    ),
  );
  expect(new Set(keys)).toEqual(new Set([worker.identity.id]));
  // a message is handled while its listeners run: what the worker answers is inside
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
    events.filter(({ op, endSeq }) => op === 'messageHandle' && endSeq === 0),
  );
  expect(open).toEqual([]);
  expect(JSON.stringify(all)).not.toContain(UNSAID);
  await close(page);
});

test('without the script nothing is said of messages', async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  await page.evaluate(goldenMessages, 'messages.js');
  await page.evaluate(() => performance.mark('after'));
  const all = await collectUntil(page, (threads) =>
    threads.some(({ events }) => events.some(({ op }) => op === 'mark')),
  );
  expect(all.flatMap(linesOf)).toEqual([]);
  await close(page);
});
