/**
 * Pages of one origin that start, join, fail, and leave in every order. Pages are a model of
 * src/hooks/shared-workers.ts; the background is the real one.
 *
 *   asks --(background answers)--> told --+-- ''  --> native
 *    ^                                    +-- URL --> connects --> ours
 *    +------------ it could not be started ---------------+
 *
 * A script that can't be started is still missing a moment later: a URL that failed once fails
 * again. A page whose policies refuse blob: workers can join none of ours. It knows that before it
 * asks, or hears it when it starts the first.
 */
import { expect, test } from 'vitest';
import { some } from '../full.ts';
import { agree, documentLeaves, newSharing, type Sharing } from '../../src/background/sharing.ts';
import { SHARED_WAIT } from '../../src/protocol/messages.ts';

const ORIGIN = 'http://app.test';

interface Page {
  at: 'asks' | 'told' | 'connects' | 'ours' | 'native' | 'gone';
  /** URLs that the page has created. */
  made: string[];
  /** The URL that it was given, or started from. */
  url: string;
  dead: string[];
  /**
   * A worker failed to run, from this page's URL or by its own report: the page creates no more
   * URLs.
   */
  gaveUp: boolean;
  /** The URL that failed, which it then reports. */
  failed: string;
  /** How many more loads of this tab may follow. */
  loads: number;
  /** What its policies do to our workers. */
  policy: Policy;
}
type Policy = 'open' | 'closed' | 'closed, as it will hear';
interface State {
  sharing: Sharing;
  pages: Page[];
  /** State of the worker of each URL. */
  workers: Record<string, 'starts' | 'runs' | 'fails'>;
  revoked: string[];
}

const loaded = (loads: number, policy: Policy = 'open'): Page => ({
  ...{ at: 'asks', made: [], url: '', dead: [], gaveUp: false, failed: '', loads, policy },
});
const holds = (page: Page, url: string): boolean =>
  (page.at === 'connects' || page.at === 'ours') && page.url === url;

/** What can happen next: changed copies of the state. */
function* steps({ pages, workers, revoked }: State): Generator<(next: State) => void> {
  for (const [tab, page] of pages.entries()) {
    if (page.at === 'asks')
      yield ({ sharing, pages }) => {
        const here = pages[tab]!;
        if (here.policy === 'closed') {
          const ask = { key: 'worker.js', traits: '', url: '', dead: [], closed: true };
          here.url = agree(sharing, ask, tab, true);
          if (here.url === '') here.at = 'told';
          else expect(here.url).toBe(SHARED_WAIT); // it asks again
          return;
        }
        const url = here.gaveUp
          ? here.failed
          : `blob:${ORIGIN}/${tab}.${here.loads}.${here.made.length}`;
        if (!here.gaveUp) here.made.push(url);
        const ask = { key: 'worker.js', traits: 'classic', url, dead: here.dead };
        here.url = agree(sharing, ask, tab, true);
        here.at = 'told';
      };
    if (page.at === 'told')
      yield (next) => {
        const here = next.pages[tab]!;
        if (here.url && here.policy !== 'open')
          return void Object.assign(here, { policy: 'closed', at: 'asks' });
        here.at = here.url ? 'connects' : 'native';
        const is = next.workers[here.url];
        if (here.url && !is && !revoked.includes(here.url)) next.workers[here.url] = 'starts';
      };
    const worker = workers[page.url];
    if (page.at === 'connects' && worker === 'runs')
      yield ({ pages }) => void (pages[tab]!.at = 'ours');
    if (page.at === 'connects' && worker !== 'runs' && worker !== 'starts') {
      const isOwn = page.made.includes(page.url);
      // an error event, or the worker's hook says so
      for (const isForAll of worker === 'fails' && !isOwn ? [true, false] : [isOwn])
        yield ({ pages, revoked }) => {
          const here = pages[tab]!;
          if (isOwn) revoked.push(here.url);
          here.gaveUp ||= isForAll;
          here.failed = isForAll ? here.url : '';
          here.dead.push(here.url);
          here.at = 'asks';
        };
    }
    if (page.loads > 0)
      for (const comesBack of [true, false])
        yield (next) => {
          next.revoked.push(...page.made);
          documentLeaves(next.sharing, tab);
          next.pages[tab] = comesBack
            ? loaded(page.loads - 1, page.policy)
            : { ...loaded(0), at: 'gone' };
        };
  }
  for (const [url, worker] of Object.entries(workers))
    if (worker === 'starts')
      for (const becomes of ['runs', 'fails'] as const)
        yield ({ workers }) => void (workers[url] = becomes);
}

/** A worker ends when its last page leaves. */
function endUnheld({ pages, workers }: State): void {
  for (const [url, worker] of Object.entries(workers))
    if (worker !== 'fails' && !pages.some((page) => holds(page, url))) delete workers[url];
}

/** Whether it would get the same answer again, and no event can change that. */
function waitsInVain(state: State, tab: number): boolean {
  const next = structuredClone(state);
  const ask = { key: 'worker.js', traits: '', url: '', dead: [], closed: true };
  if (agree(next.sharing, ask, tab, true) === '') return false;
  return next.pages.every(
    ({ at, url }, other) =>
      other === tab || at === 'gone' || at === 'native' || (at === 'asks' && url === SHARED_WAIT),
  );
}

/** @returns the number of states, and how many of them are final */
function explore(pages: Page[]): {
  states: number;
  atRest: number;
  two: string[];
  vain: string[];
} {
  const begin: State = { sharing: newSharing(ORIGIN, [], []), pages, workers: {}, revoked: [] };
  const seen = new Set<string>();
  const open = [JSON.stringify(begin)];
  const two: string[] = [];
  const vain: string[] = [];
  let atRest = 0;
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    if (seen.has(text)) continue;
    seen.add(text);
    const state = JSON.parse(text) as State;
    const owners = Object.values(state.workers).filter((worker) => worker === 'runs').length;
    const natives = state.pages.some(({ at }) => at === 'native') ? 1 : 0;
    if (owners + natives > 1) two.push(text);
    // no page waits for one that has left, for one that runs the native worker, or for one that
    // waits itself
    for (const [tab, { at, url, policy }] of state.pages.entries())
      if (at === 'asks' && policy === 'closed' && url === SHARED_WAIT && waitsInVain(state, tab))
        vain.push(text);
    let ends = true;
    for (const step of steps(state)) {
      const next = JSON.parse(text) as State;
      step(next);
      endUnheld(next);
      open.push(JSON.stringify(next));
      ends = false;
    }
    if (ends) {
      atRest++;
      for (const { at } of state.pages) expect(['ours', 'native', 'gone']).toContain(at);
    }
  }
  return { states: seen.size, atRest, two, vain };
}

test.each(
  some<[string, (number | [number, Policy])[]]>(
    [
      ['two pages', [0, 0]],
      ['two pages, one of which loads again or leaves', [1, 0]],
      ['a page and one that hears that it is closed', [1, [0, 'closed, as it will hear']]],
      ['three pages', [0, 0, 0]],
      ['two pages that load again or leave', [1, 1]],
      ['a page and one that is closed to ours', [1, [0, 'closed']]],
      ['two pages and one that is closed', [0, 0, [0, 'closed']]],
      ['two pages and one that hears that it is', [0, 0, [0, 'closed, as it will hear']]],
      ['a page and two that hear it', [0, ...Array(2).fill([0, 'closed, as it will hear'])]],
    ],
    3,
  ),
)('%s never have two workers, whatever fails', (_, pages) => {
  const { states, atRest, two, vain } = explore(
    pages.map((page) => (typeof page === 'number' ? loaded(page) : loaded(...page))),
  );
  expect([two[0], vain[0]]).toEqual([undefined, undefined]);
  expect(atRest).toBeGreaterThan(2);
  expect(states).toBeGreaterThan(100);
});
