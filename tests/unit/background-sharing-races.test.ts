/**
 * Pages of one origin that begin, join, fail, and leave in every order. Pages are those of src/hooks/shared-workers.ts as a model; the
 * background is the real one.
 *
 *   asks --(background answers)--> told --+-- ''  --> native
 *    ^                                    +-- URL --> connects --> ours
 *    +------------ it could not be started ---------------+
 *
 * A script that can't be started is still missing a moment later: what has failed from a URL fails from it again.
 */
import { expect, test } from 'vitest';
import { some } from '../full.ts';
import { agree, documentLeaves, newSharing, type Sharing } from '../../src/background/sharing.ts';

const ORIGIN = 'http://app.test';

interface Page {
  at: 'asks' | 'told' | 'connects' | 'ours' | 'native' | 'gone';
  /** URLs that it has made. */
  made: string[];
  /** That it is told, or started from. */
  url: string;
  dead: string[];
  /** A worker could not run, with this page's URL or by its own word: the page makes no URL any more. */
  gaveUp: boolean;
  /** What it asks with then. */
  failed: string;
  /** Loads of this tab that are still to come. */
  loads: number;
}
interface State {
  sharing: Sharing;
  pages: Page[];
  /** What has become of a worker from each URL. */
  workers: Record<string, 'starts' | 'runs' | 'fails'>;
  revoked: string[];
}

const loaded = (loads: number): Page => ({
  ...{ at: 'asks', made: [], url: '', dead: [], gaveUp: false, failed: '', loads },
});
const holds = (page: Page, url: string): boolean =>
  (page.at === 'connects' || page.at === 'ours') && page.url === url;

/** What can happen next, each as a change of a copy. */
function* steps({ pages, workers, revoked }: State): Generator<(next: State) => void> {
  for (const [tab, page] of pages.entries()) {
    if (page.at === 'asks')
      yield ({ sharing, pages }) => {
        const here = pages[tab]!;
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
          next.pages[tab] = comesBack ? loaded(page.loads - 1) : { ...loaded(0), at: 'gone' };
        };
  }
  for (const [url, worker] of Object.entries(workers))
    if (worker === 'starts')
      for (const becomes of ['runs', 'fails'] as const)
        yield ({ workers }) => void (workers[url] = becomes);
}

/** A worker ends with its last page. */
function endUnheld({ pages, workers }: State): void {
  for (const [url, worker] of Object.entries(workers))
    if (worker !== 'fails' && !pages.some((page) => holds(page, url))) delete workers[url];
}

/** @returns how many states there are, and how many of them have come to rest */
function explore(pages: Page[]): { states: number; atRest: number; two: string[] } {
  const begin: State = { sharing: newSharing(ORIGIN, [], []), pages, workers: {}, revoked: [] };
  const seen = new Set<string>();
  const open = [JSON.stringify(begin)];
  const two: string[] = [];
  let atRest = 0;
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    if (seen.has(text)) continue;
    seen.add(text);
    const state = JSON.parse(text) as State;
    const owners = Object.values(state.workers).filter((worker) => worker === 'runs').length;
    const natives = state.pages.some(({ at }) => at === 'native') ? 1 : 0;
    if (owners + natives > 1) two.push(text);
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
  return { states: seen.size, atRest, two };
}

test.each(
  some(
    [
      ['two pages', [0, 0]],
      ['two pages, one of which loads again or leaves', [1, 0]],
      ['three pages', [0, 0, 0]],
      ['two pages that load again or leave', [1, 1]],
    ],
    2,
  ),
)('%s never have two workers, whatever fails', (_, loads) => {
  const { states, atRest, two } = explore(loads.map(loaded));
  expect(two[0]).toBeUndefined();
  expect(atRest).toBeGreaterThan(2);
  expect(states).toBeGreaterThan(100);
});
