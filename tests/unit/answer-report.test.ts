/**
 * The answer that commands print: the numbers of the panel's Answer view, and text that is safe for
 * a terminal.
 */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { actionsOf } from '../../src/analysis/answer/actions.ts';
import { headline } from '../../src/analysis/answer/headline.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { explained, explainedText } from '../../src/analysis/findings/explanation.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { answerOf, answerReport } from '../../src/analysis/report/answer-report.ts';
import { recordingName } from '../../src/cli/record.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { statementText } from '../../src/trace/describe.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { newStore } from '../traces/builder.ts';

const factsOf = async (name: string): Promise<Facts> =>
  new Facts((await readTrace(await readFile(`tests/traces/${name}.vfst`))).store);

test("has the panel's sentence, times, and actions", async () => {
  const facts = await factsOf('golden/idb-batch-atomic');
  const said = answerOf(facts);
  const all = actionsOf(facts.get(findings));
  expect(said.answer).toBe(facts.get(headline).text);
  expect(said.inSqlUs).toBe(facts.get(explained)!.inSqlUs);
  expect(said.parts.reduce((sum, { us }) => sum + us, 0)).toBeCloseTo(said.inSqlUs!, 3);
  expect(said.actions.map(({ rule }) => rule)).toEqual(all.slice(0, 3).map(({ rule }) => rule));
  expect(said.more).toBe(all.length - 3);
  const [first] = said.actions;
  expect(first!.afterUs).toBeCloseTo(said.inSqlUs! - first!.savingUs!, 3);
});

test('subtracts no saving outside SQL from the time in SQL', async () => {
  const facts = await factsOf('golden/sql-js-export');
  const said = answerOf(facts);
  expect(said.actions).toEqual([
    expect.objectContaining({ rule: 'F23', savesOutsideSql: true, afterUs: null }),
  ]);
  expect(reportText(answerReport(said, 'x.vfst'))).toContain('\n     Saves 12.5 ms outside SQL, ');
  expect(explainedText(facts.get(explained)!)).toBe(
    'This action explains none of the 53.3 ms in SQL.',
  );
  // flushes under xSync are in SQL, although they are storage calls
  const inSql = (await factsOf('golden/opfs-proxy')).get(findings);
  expect(inSql.filter(({ rule }) => ['F14', 'F38', 'F39', 'F44'].includes(rule))).toHaveLength(5);
  expect(inSql.filter((finding) => finding.savesOutsideSql)).toEqual([]);
});

test('names the statements to combine, and which action replaces another', async () => {
  const facts = await factsOf('golden/opfs-sahpool');
  const said = answerOf(facts);
  const [first, second] = said.actions;
  expect(first).toMatchObject({
    rule: 'F01',
    advice: 'Put the 21 runs of "INSERT INTO t VALUES(?, ?, zeroblob(?))" in one transaction.',
    insteadOf: null,
  });
  expect(second).toMatchObject({ rule: 'F07', insteadOf: 'F01' });
  const text = reportText(answerReport(said, 'x.vfst'));
  expect(text).toMatch(/Time in SQL 355 ms → \d+ ms, likely cause, alternative to F01\n/);
  expect(text).toContain('\n  Recording cost your app about ');
  // it begins with the statement, and omits those that ran once
  const [ref] = facts.get(findings)[0]!.evidence.events;
  const thread = facts.store.threads[ref!.thread]!;
  const row = thread.events.rowOfSeq(ref!.seq);
  expect(statementText(thread, row)).toMatch(/^INSERT/);
});

test('asks, for an app that did little, whether it did what is slow', async () => {
  const said = answerOf(await factsOf('golden/opfs-sahpool'));
  const idle = { ...said, actions: [], none: 'No known mistake found.', accounts: [] };
  const textOf = (inSqlUs: number): string =>
    reportText(answerReport({ ...idle, inSqlUs }, 'x.vfst'));
  expect(textOf(12_000)).toMatch(/SQL only ran for 12 ms\. .*--headed/);
  expect(textOf(200_000)).not.toContain('--headed');
});

test('names the commands that show more, with a path that is safe in shells', async () => {
  const said = answerOf(await factsOf('golden/idb-batch-atomic'));
  expect(reportText(answerReport(said, 'my app.vfst'))).toMatch(
    /^SQLite kept [^\n]+\n\nTime in SQL\n[^]*\nWhat to do\n {2}1\. [^]*npx vfscope open "my app\.vfst"\n/,
  );
});

test('reports that SQLite was not seen, and suggests no action', () => {
  const said = answerOf(new Facts(newStore()));
  expect(said).toMatchObject({ inSqlUs: null, parts: [], actions: [], more: 0 });
  expect(reportText(answerReport(said, 'x.vfst'))).toContain('vfscope saw no SQLite engine.');
});

test('names a recording by host and time', () => {
  const at = new Date(2026, 0, 31, 8, 4, 5);
  expect(recordingName('http://localhost:8080/a?b', at)).toBe(
    'localhost-8080-20260131-080405.vfst',
  );
  expect(recordingName('http://[::1]:3000/', at)).toBe('1-3000-20260131-080405.vfst');
});
