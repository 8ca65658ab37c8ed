/**
 * Real apps recorded in both browsers, and their stored data compared with a run without a
 * recording. In Chromium each storage call matches Chromium's own tracing of the same run. In
 * Firefox it matches the count of the app's own scripts (tests/server/count-storage.js), and the
 * recording has the same content. SHOW=1 prints the counts and the findings.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { countsOf } from '../browser/grid-counts.ts';
import { recordInFirefox, recordTraced, storedBy } from '../browser/record-real.ts';
import { REAL_APPS } from '../oracle/real-apps.ts';
import { findingsOf } from '../traces/analyses.ts';

/** What is the same in every run. A pool's reserve files have random names. */
function sameIn(store: TraceStore): unknown {
  const { engines, files, commits, transactions } = summaryOf(store);
  return {
    // which tab's worker gets to own the database, and when, depends on the browser
    engines: engines
      .map(({ name, sqliteVersion, vfs, layers }) =>
        JSON.stringify({ name, sqliteVersion, vfs, layers }),
      )
      .sort(),
    files: files
      .map(({ kind, path }) => `${kind} ${path}`)
      .filter((file) => !/opaque|livestore-todos@/.test(file)),
    commits,
    write: transactions.write,
    rolledBack: transactions.rolledBack,
  };
}

const show = (name: string, store: TraceStore): void => {
  if (!process.env['SHOW']) return;
  console.log(name, store.eventCount, JSON.stringify(countsOf(store, true)));
  for (const { rule, title, savingUs } of findingsOf(store)) console.log(rule, savingUs, title);
};

/** Maximum runs without a recording, of which one must store what the recorded one did. */
const RUNS_ALONE = 5;

test.each(REAL_APPS)('$name, tabs: $tabs', async (app) => {
  const chromium = await recordTraced(app);
  show(`${app.name}, Chromium`, chromium);
  const firefox = await recordInFirefox(app);
  show(`${app.name}, Firefox`, firefox);
  expect(sameIn(firefox)).toEqual(sameIn(chromium));
});

test.each(REAL_APPS.filter((app) => !app.batchesByTime))(
  '$name stores the same bytes, recorded or not',
  async (app) => {
    const recorded = await storedBy(app, true);
    // two runs of Actual without a recording may store different bytes, too
    const alone: unknown[] = [];
    while (alone.length < RUNS_ALONE && !alone.some((one) => isDeepStrictEqual(one, recorded)))
      alone.push(await storedBy(app, false));
    expect(alone).toContainEqual(recorded);
  },
);
