// A finding about a scan shows its statement's query plan next to the cost of all runs: in text,
// JSON, Markdown, and HTML.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { reportMarkdown } from '../../src/analysis/report/report-markdown.ts';
import { reportOf } from '../../src/analysis/report/report.ts';
import { findingsReport } from '../../src/cli/findings.ts';
import { htmlReport } from '../../src/formats/html.ts';
import { findingPlans } from '../../src/plan/finding-plans.ts';
import { planText, textsOf } from '../../src/plan/plan-words.ts';
import { Planner } from '../../src/plan/planner.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { findingsOf } from '../traces/analyses.ts';
import { recordedStatements, scannedStatement } from '../traces/recorded-statements.ts';

const planner = (): Planner =>
  new Planner((build) => ({
    wasmBinary: readFileSync(
      createRequire(import.meta.url).resolve(`${build}/dist/wa-sqlite.wasm`),
    ),
  }));
const PLAN = 'SCAN notes  (79,996 scan steps for 40 rows)';
const SORT = 'USE TEMP B-TREE FOR ORDER BY';

it('is in every report', async () => {
  const store = scannedStatement();
  const [scan] = findingsOf(store).filter(({ rule }) => rule === 'F50');
  expect(scan).toMatchObject({
    title: expect.stringMatching(/^4 runs of .* scanned 79,996 rows for 40 result rows$/) as string,
    statement: 'select id from notes where code > ? order by code',
  });
  const facts = new Facts(store);
  const plans = await findingPlans(facts, planner());
  expect([...plans.keys()]).toEqual([scan!.statement]);
  expect(planText(plans.get(scan!.statement!)!)).toBe(`${PLAN}; ${SORT}`);
  const terminal = reportText(findingsReport(facts, plans));
  expect(terminal).toContain('Query plan, 4 runs: 40 rows, 79,996 scan steps, 320,020 VM steps:');
  expect(terminal).toContain(PLAN);
  const texts = textsOf(plans);
  const line = `F50, query plan: ${PLAN.replace('  ', ' ')}; ${SORT}`;
  const spaced = (text: string): string => text.replace(/\s+/g, ' ');
  expect(spaced(reportText(reportOf(facts, { plans: texts })))).toContain(line);
  expect(spaced(reportMarkdown(reportOf(facts, { plans: texts })))).toContain('SCAN notes');
  expect(spaced(htmlReport(facts, 'a.vfst', texts))).toContain(line);
});

it('is n/a with its cause if the recording has no schema, and no other finding asks for it', async () => {
  const [scan] = findingsOf(scannedStatement());
  expect(scan).toBeDefined();
  const none = new Facts(recordedStatements([['SELECT 1', 30, 1]]));
  expect((await findingPlans(none, planner())).size).toBe(0);
});

it("is n/a with its cause if SQLite can't be loaded, and the report is still written", async () => {
  const facts = new Facts(scannedStatement());
  const cause = "n/a: SQLite couldn't be loaded: no such file";
  for (const [wasmOf, said] of [
    [() => Promise.reject(new Error('no such file')), cause],
    [() => ({ wasmBinary: new Uint8Array([1, 2, 3]) }), ''],
  ] as const) {
    const texts = textsOf(await findingPlans(facts, new Planner(wasmOf)));
    expect([...texts.values()]).toEqual([
      expect.stringMatching(/^n\/a: SQLite couldn't be loaded: ./),
    ]);
    const spaced = (text: string): string => text.replace(/\s+/g, ' ');
    const report = spaced(reportText(reportOf(facts, { plans: texts })));
    expect(report).toContain("F50, query plan: n/a: SQLite couldn't be loaded");
    expect(report).toContain(said);
    expect(spaced(htmlReport(facts, 'a.vfst', texts))).toContain('query plan: n/a');
    expect(spaced(reportMarkdown(reportOf(facts, { plans: texts })))).toContain('query plan: n/a');
  }
});
