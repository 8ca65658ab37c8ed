/**
 * Real apps recorded in both browsers, and what they store beside a run without a recording. In Chromium each storage call is as Chromium's own tracing of the same run has it; in Firefox
 * as the app's own scripts count it (tests/server/count-storage.js), and the recording shows the same of the app. SHOW=1 prints the counts and the findings.
 */
import { expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { countsOf } from '../browser/grid-counts.ts';
import { recordInFirefox, recordTraced, storedBy } from '../browser/record-real.ts';
import { REAL_APPS } from '../oracle/real-apps.ts';
import { findingsOf } from '../traces/analyses.ts';

/** What does not depend on the run. Files that a pool holds in reserve have random names. */
function sameIn(store: TraceStore): unknown {
  const { engines, files, commits, transactions } = summaryOf(store);
  return {
    // which tab's worker comes to own the database, and when, is up to the browser
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
    const alone = await storedBy(app, false);
    expect(await storedBy(app, true)).toEqual(alone);
  },
);
