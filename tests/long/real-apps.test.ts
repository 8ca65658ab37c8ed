/**
 * Real apps recorded in both browsers. In Chromium each storage call is as Chromium's own tracing of the same run has it; Firefox's recording
 * of the same use says the same of the app. SHOW=1 prints the counts and the findings.
 */
import { expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { countsOf } from '../browser/grid-counts.ts';
import { recordInFirefox, recordTraced } from '../browser/record-real.ts';
import { REAL_APPS } from '../oracle/real-apps.ts';
import { findingsOf } from '../traces/analyses.ts';

/** Random amounts and ids, and what comes first, make more calls or fewer: one browser makes at most so many times as many as the other. */
const MOST = 2;

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

/** Calls by name. Not flushes: the proxy of `opfs` makes them only while it still holds the handle. */
function calls(store: TraceStore): Record<string, number> {
  const { opfs, idb } = countsOf(store, true);
  const { flushes: _, ...others } = opfs;
  return { ...others, ...idb.requests, transactions: idb.transactions };
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
  const [a, b] = [calls(chromium), calls(firefox)];
  expect(Object.keys(b)).toEqual(Object.keys(a));
  for (const [name, n] of Object.entries(a)) {
    expect(b[name], name).toBeGreaterThanOrEqual(n / MOST);
    expect(b[name], name).toBeLessThanOrEqual(n * MOST);
  }
});
