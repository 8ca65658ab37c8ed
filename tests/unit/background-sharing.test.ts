/** One SharedWorker for all pages of an origin: a native one never runs next to a recorded one. */
import { expect, test } from 'vitest';
import { MOST_DEAD, SHARED_MISMATCH } from '../../src/protocol/messages.ts';
import {
  agree,
  beginsAgain,
  documentWasLate,
  documentLeaves,
  isOver,
  newSharing,
  reloadAll,
  tabReloads,
  tabsToReload,
  waitsNoLonger,
  type Sharing,
} from '../../src/background/sharing.ts';

const ORIGIN = 'http://app.test';
const url = (n: number): string => `blob:${ORIGIN}/${n}`;
const KEY = { key: 'worker.js', traits: 'classic' };
/** The report of a page that runs it natively. */
const NATIVE = { traits: '', url: '', dead: [] };
const ask = (sharing: Sharing, tab: number, dead: string[] = [], mayBegin = true): string =>
  agree(sharing, { ...KEY, url: url(tab), dead }, tab, mayBegin);
/** Tab 1 is recorded, and its page has reloaded. */
function recorded(...others: number[]): Sharing {
  const sharing = newSharing(ORIGIN, [1, ...others], [1]);
  tabReloads(sharing, 1);
  documentLeaves(sharing, 1);
  return sharing;
}

test('all pages get the URL of the first', () => {
  const sharing = recorded();
  expect([ask(sharing, 1), ask(sharing, 2), ask(sharing, 1)]).toEqual([url(1), url(1), url(1)]);
  expect(ask(sharing, 3, [url(1)])).toBe(url(3)); // the browser keeps it apart from tab 1
  expect(ask(sharing, 4, [url(1)])).toBe(url(3));
  expect(ask(sharing, 2)).toBe(url(1));
  const elsewhere = { ...KEY, url: 'blob:http://other.test/1', dead: [] };
  expect(agree(sharing, elsewhere, 1, true)).toBe('');
});

test('while an older tab holds a native one, none begins; when it has closed, the next page begins one', () => {
  const sharing = recorded(2);
  expect(ask(sharing, 1)).toBe('');
  expect(tabsToReload(sharing, true).sort()).toEqual([1, 2]);
  documentLeaves(sharing, 2);
  expect(ask(sharing, 1)).toBe(''); // it loaded without our script
  tabReloads(sharing, 1);
  documentLeaves(sharing, 1);
  expect(ask(sharing, 1)).toBe(url(1));
});

test('tabs that reload together begin one; a tab that stays makes all of them native', () => {
  const sharing = recorded(2);
  expect(ask(sharing, 1)).toBe('');
  expect(reloadAll(sharing, true).sort()).toEqual([1, 2]);
  documentLeaves(sharing, 1);
  expect(sharing.older).toEqual([2]); // tab 1 waits
  documentLeaves(sharing, 2);
  expect([sharing.older, ask(sharing, 1), ask(sharing, 2)]).toEqual([[], url(1), url(1)]);

  const stays = recorded(2);
  ask(stays, 1);
  reloadAll(stays, true);
  documentLeaves(stays, 1);
  waitsNoLonger(stays);
  expect(ask(stays, 1)).toBe('');
  documentLeaves(stays, 2);
  expect(ask(stays, 2)).toBe('');
});

test('after the recording, pages join the held worker until none holds it', () => {
  const sharing = recorded();
  ask(sharing, 1);
  ask(sharing, 2);
  expect(ask(sharing, 3, [], false)).toBe(url(1));
  const other = { ...KEY, key: 'other.js', url: url(3), dead: [] };
  expect(agree(sharing, other, 3, false)).toBe(''); // not begun in that case
  for (const tab of [1, 2]) documentLeaves(sharing, tab);
  expect([tabsToReload(sharing, false), isOver(sharing)]).toEqual([[3], false]);
  documentLeaves(sharing, 3);
  expect([sharing.workers, isOver(sharing)]).toEqual([[], true]);
});

test("after the recording, all pages that hold it reload, and start the browser's own", () => {
  const sharing = recorded();
  ask(sharing, 1);
  ask(sharing, 2);
  expect(reloadAll(sharing, false)).toEqual([1, 2]);
  documentLeaves(sharing, 1);
  expect([sharing.older, isOver(sharing)]).toEqual([[2], false]);
  documentLeaves(sharing, 2);
  expect([ask(sharing, 1), ask(sharing, 2), isOver(sharing)]).toEqual(['', '', true]);
});

test('if one of them stays, the others join the worker that it holds', () => {
  const sharing = recorded();
  ask(sharing, 1);
  ask(sharing, 2);
  reloadAll(sharing, false);
  documentLeaves(sharing, 1);
  waitsNoLonger(sharing);
  expect(ask(sharing, 1, [], false)).toBe(url(1));
});

test('a second recording joins the held worker, and offers to reload it', () => {
  const sharing = recorded();
  ask(sharing, 1);
  ask(sharing, 2);
  beginsAgain(sharing);
  documentLeaves(sharing, 1);
  expect(ask(sharing, 1)).toBe(url(1));
  expect(tabsToReload(sharing, true)).toEqual([2, 1]);
  expect(reloadAll(sharing, true)).toEqual([2, 1]);
  documentLeaves(sharing, 1);
  documentLeaves(sharing, 2);
  expect([ask(sharing, 2), ask(sharing, 1)]).toEqual([url(2), url(2)]);
  expect(tabsToReload(sharing, true)).toEqual([]);
});

test('a page that went native prevents the next recording from starting one next to it', () => {
  const sharing = recorded();
  ask(sharing, 1);
  const other = (tab: number, mayBegin: boolean): string =>
    agree(sharing, { ...KEY, key: 'other.js', url: url(tab), dead: [] }, tab, mayBegin);
  expect(other(2, false)).toBe(''); // after the recording
  expect(agree(sharing, { ...KEY, key: 'third.js', url: url(1), dead: [] }, 1, true)).toBe(url(1));
  beginsAgain(sharing);
  documentWasLate(sharing, 3);
  expect(other(1, true)).toBe('');
  expect(ask(sharing, 1)).toBe(url(1));
  for (const tab of [1, 2, 3]) documentLeaves(sharing, tab);
  expect([sharing.workers, sharing.natives]).toEqual([[], []]);
  expect(other(1, true)).toBe(url(1));
});

test('a worker that failed to run with our script runs natively for all pages', () => {
  const sharing = recorded();
  expect(ask(sharing, 1)).toBe(url(1));
  expect(ask(sharing, 1, [url(1)])).toBe(''); // no page can start it from there
  expect(ask(sharing, 2)).toBe('');
  expect(tabsToReload(sharing, true)).toEqual([1, 2]);
  // another of their workers is recorded
  const other = { ...KEY, key: 'other.js', dead: [] };
  expect(agree(sharing, { ...other, url: url(2) }, 2, true)).toBe(url(2));
  expect(agree(sharing, { ...other, url: url(1) }, 1, true)).toBe(url(2));
});

test("a page that can't begin one joins another page's, or else runs it natively", () => {
  const sharing = recorded();
  const join = (dead: string[] = []): string => agree(sharing, { ...KEY, url: '', dead }, 1, true);
  expect(ask(sharing, 2)).toBe(url(2));
  expect(join()).toBe(url(2));
  expect(ask(sharing, 1, [url(1)])).toBe(url(2)); // its own has failed
  expect(join([url(1), url(2)])).toBe('');
  expect(ask(sharing, 3, [url(2)])).toBe('');
});

test('a page that names very many URLs counts for all workers', () => {
  const sharing = recorded();
  for (let i = 0; i < 1000; i++) agree(sharing, { ...NATIVE, key: `metrics.js?${i}` }, 1, true);
  expect(ask(sharing, 2)).toBe(url(2));
  agree(sharing, { ...NATIVE, key: 'one more.js' }, 1, true);
  expect(agree(sharing, { ...KEY, key: 'other.js', url: url(2), dead: [] }, 2, true)).toBe('');
});

test('options that differ from those of the first page fail, as without vfscope', () => {
  const sharing = recorded();
  ask(sharing, 1);
  const module = { ...KEY, traits: 'module same-origin', url: url(2), dead: [] };
  expect(agree(sharing, module, 2, true)).toBe(SHARED_MISMATCH);
});

test('a second recording whose reload one tab refuses continues with the worker that the tab holds', () => {
  const sharing = recorded();
  ask(sharing, 1);
  ask(sharing, 2);
  beginsAgain(sharing);
  reloadAll(sharing, true);
  documentLeaves(sharing, 1);
  waitsNoLonger(sharing);
  expect(ask(sharing, 1)).toBe(url(1));
});

test('URLs of closed pages never fill the list: a new one replaces the oldest', () => {
  const sharing = recorded();
  expect(ask(sharing, 1)).toBe(url(1));
  for (let tab = 2; tab < 30; tab++) {
    const dead: string[] = [];
    for (let told = ask(sharing, tab); told !== url(tab); told = ask(sharing, tab, dead)) {
      expect(told).not.toBe('');
      dead.push(told); // its page has closed, and with it its worker
    }
  }
  expect(sharing.workers[0]!.urls).toHaveLength(MOST_DEAD);
});
