// F60: what blocks a page is SQL without a pause, by long task where the browser reports them.
import { expect, test } from 'vitest';
import { headline } from '../../src/analysis/answer/headline.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { Flag } from '../../src/event/event.ts';
import { MS, play, times } from '../traces/findings/stage.ts';
import type { ThreadBuilder } from '../traces/builder.ts';

type OnPage = (page: ThreadBuilder, step: (us: number, flags?: number) => void) => void;
const factsOf = (story: OnPage): Facts =>
  new Facts(
    play(({ thread }) => {
      const page = thread({ kind: 'page', url: 'https://app.example/' });
      const object = page.define({ kind: 'sql', text: 'SELECT * FROM notes' });
      story(page, (dur, flags = 0) => {
        page.call('sqlStep', { object, aux: 1, result: 101, dur, flags });
      });
    }),
  );
/** What F60 says about a page. */
const said = (story: OnPage) =>
  factsOf(story)
    .get(findings)
    .flatMap(({ rule, title, evidence, savingUs }) =>
      rule === 'F60' ? [{ title, count: evidence.count, savingUs }] : [],
    );
const longTask = (page: ThreadBuilder, fromMs: number, ms: number): void =>
  void page.call('longTask', {
    object: page.define({ kind: 'name', text: 'long task' }),
    offset: fromMs,
    length: ms * MS,
  });
const MAIN = 'SQL blocked the main thread of Page app.example/';

test('short calls of one task block it together; a task that is mostly something else is left out', () => {
  const found = said((page, step) => {
    times(60, () => step(2 * MS)); // 0 to 120 ms
    page.now = 200 * MS;
    times(40, () => step(2 * MS)); // 200 to 280 ms
    page.now = 400 * MS;
    times(10, () => step(2 * MS)); // of 400 to 460 ms
    page.now = 600 * MS;
    times(40, () => step(2 * MS)); // in no long task
    longTask(page, 0, 125);
    longTask(page, 200, 90);
    longTask(page, 400, 60);
  });
  const title = `${MAIN} 2 times, for 200 ms in all and 120 ms at most`;
  expect(found).toEqual([{ title, count: 2, savingUs: null }]);
});

test('without reports of long tasks, single calls count', () => {
  const found = said((_, step) => {
    step(130 * MS);
    times(60, () => step(2 * MS));
    step(60 * MS);
  });
  const title = `${MAIN} 2 times, for 190 ms in all and 130 ms at most`;
  expect(found).toEqual([{ title, count: 2, savingUs: null }]);
});

test('calls that wait asynchronously, and delays that nobody notices, are left out', () => {
  expect(said((_, step) => step(430 * MS, Flag.async))).toEqual([]);
  expect(said((_, step) => times(20, () => step(60 * MS)))).toEqual([]);
  const short = said((page, step) => {
    times(40, () => step(2 * MS));
    longTask(page, 0, 85);
  });
  expect(short).toEqual([]);
});

test('a page that makes up any number of long tasks gets its finding', () => {
  const tasks = 200_000;
  const found = said((page, step) => {
    times(tasks, () => step(MS));
    step(130 * MS);
    times(tasks, (i) => longTask(page, i, 1));
    longTask(page, tasks, 130);
  });
  expect(found).toMatchObject([{ count: tasks + 1 }]);
});

test('the first sentence calls SQLite busy on the page, because the page may be waiting', () => {
  const waits = factsOf((_, step) => step(430 * MS, Flag.async));
  expect(waits.get(headline).text).toMatch(
    /^SQLite was busy on your page's main thread for 430 ms/,
  );
});
