/**
 * Options of `vfscope record` in a real browser: the page's own marks, levels, layers, and stacks.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { record, type RecordArgs } from '../../src/cli/record.ts';
import { privacyReport } from '../../src/analysis/privacy/privacy-report.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { EXTENSION } from './extension-harness.ts';
import { recordHarness } from './record-harness.ts';
import { statementTable } from '../traces/analyses.ts';
import { longTest } from './long-test.ts';

const command = recordHarness();

let recordings = 0;
/**
 * Records the app, driven by these lines. `run(n)` is a run of the workload with n autocommitted
 * inserts.
 */
async function recorded(
  lines: string,
  args: Partial<RecordArgs>,
  code = 0,
  page = 'journeyapps-wa-sqlite/?vfs=OPFSCoopSync',
): Promise<TraceStore> {
  const script = path.join(command.folder, `steps-${++recordings}.mjs`);
  await writeFile(
    script,
    `export default async (page) => {
      await page.waitForFunction(() => document.body.dataset.state === 'ready', { polling: 50 });
      await page.evaluate(async () => { const run = (n) => window.run('own-sql', { n }); ${lines} });
    };`,
  );
  const out = path.join(command.folder, `${recordings}.vfst`);
  const url = `${command.server.origin(`marks-${recordings}`)}/${page}`;
  expect(await record({ url, out, script, extension: EXTENSION, ...args }), command.said).toBe(
    code,
  );
  return (await readTrace(await readFile(out))).store;
}

const inserts = (store: TraceStore): number =>
  statementTable(store)?.rows.find((r) => r.text?.startsWith('insert'))?.executions ?? 0;
const notes = (store: TraceStore): string[] =>
  store.threads.flatMap((t) => t.notes.map((n) => n.text));
const START = "performance.mark('vfscope:start');";
const STOP = "performance.mark('vfscope:stop');";

describe('marks', () => {
  test('only what is between them is kept, with a note about the rest', async () => {
    const store = await recorded(
      `await run(5); ${START} await run(7); ${STOP} await run(5); ${START} await run(4); ${STOP} await run(5);`,
      {
        marks: true,
      },
    );
    expect(inserts(store)).toBe(11);
    expect(summaryOf(store)).toMatchObject({ commits: 13, dropped: 0 }); // and two CREATE TABLE
    expect(notes(store)).toEqual([
      expect.stringMatching(
        /^Only what began between .*: 2 ranges, .* events outside are left out\.$/,
      ),
    ]);
    expect(command.said).toMatch(/saved \d+ events in 2 marked ranges, left \d+ out/);
  });

  longTest('without any, the whole trace is kept and the command fails', async () => {
    const store = await recorded('await run(5);', { marks: true }, 3);
    expect(inserts(store)).toBe(5);
    expect(command.said).toMatch(
      /made no performance\.mark\('vfscope:start'\): the whole recording is saved/,
    );
  });

  test('vfscope:stop ends the recording, whenever it comes', async () => {
    const store = await recorded(`void run(6).then(() => { ${STOP} });`, { untilMark: true });
    expect(inserts(store)).toBe(6);
    expect(command.said).toContain('waiting for the mark vfscope:stop');
  });

  longTest('a stop that never comes is named', async () => {
    const store = await recorded('await run(3);', { untilMark: true, seconds: 1 }, 3);
    expect(command.said).toMatch(/made no performance\.mark\('vfscope:stop'\) within 1 s/);
    expect(inserts(store)).toBe(3);
  });
});

describe('capture', () => {
  const definitions = (store: TraceStore, kind: string): number =>
    store.threads.flatMap((t) => t.said.filter((d) => d.kind === kind)).length;

  longTest('level 0: calls are counted, no SQL text leaves the page', async () => {
    const store = await recorded('await run(9);', { capture: { capture: 0 } });
    expect(definitions(store, 'sql')).toBe(0);
    const summary = summaryOf(store);
    expect(summary).toMatchObject({
      commits: 10,
      statements: { count: 13, distinct: null },
      environment: { capture: { capture: 0 } },
    });
    expect(privacyReport(store)).toMatchObject({ level: 0, capturedLevel: 0 });
  });

  test('level 2 keeps literals; stacks name the place in the app, and no function of vfscope', async () => {
    const store = await recorded('await run(9);', { capture: { capture: 2, stacks: true } });
    expect(privacyReport(store)).toMatchObject({
      level: 2,
      capturedLevel: 2,
      sqlTexts: 13,
      sqlWithLiterals: 9,
    });
    expect(definitions(store, 'values')).toBe(0);
    const insert = statementTable(store)!.rows.find((r) => r.text?.startsWith('insert'))!;
    expect(insert.executions).toBe(9);
    expect(insert.stack).toMatch(/ownSql \(http:.*\/common\/workload\.js:\d+:\d+\)/);
    expect(insert.stack).not.toMatch(/blob:|chrome-extension:/);
  });

  longTest('layers that are left out, and a small buffer on an isolated page', async () => {
    const capture = { layers: ['vfs' as const], buffer: 256 };
    const store = await recorded(
      'await run(9);',
      { capture },
      0,
      'coi/journeyapps-wa-sqlite/?vfs=OPFSCoopSync',
    );
    const summary = summaryOf(store);
    expect(summary.statements.count).toBeNull();
    expect(summary.web.opfs).toMatchObject({ writes: null, flushes: null });
    expect(summary).toMatchObject({
      commits: 10,
      dropped: 0,
      environment: { capture: { layers: ['vfs'], buffer: 256 } },
    });
  });
});
