// Index advice as the Lab's page stores it: without values of the database or the recording.
import { expect, it } from 'vitest';
import type { Advice, ExactCounts } from '../../src/lab/advisor/advice.ts';
import { withoutValues } from '../../src/lab/advisor/without-values.ts';
import { answerWords } from '../../src/lab/results/advice.ts';

const SECRET = 'Jane Doe';
const counts: ExactCounts = {
  instructions: 9,
  vmSteps: 5,
  scanSteps: 1,
  sorts: 0,
  autoIndexRows: 0,
  pagesRead: 2,
  rows: 1,
};
const sql = `SELECT * FROM person WHERE name = '${SECRET}'`;
const fingerprint = 'select * from person where name = ?';
const advice: Advice = {
  engine: { package: 'wa-sqlite', version: '2.0.6', sqlite: '3.53.0' } as Advice['engine'],
  environment: {} as Advice['environment'],
  settings: { page_size: '4096' },
  statements: [
    {
      sql,
      fingerprint,
      runs: 3,
      recordedRows: 3,
      recordedPages: null,
      values: 'recorded',
      plan: ['SCAN person'],
      counts,
    },
  ],
  leftOut: [
    { why: `SQLite refuses it on this copy: no ${SECRET}`, statements: 1, example: fingerprint },
    { why: 'It reads no table', statements: 1, example: 'select ?' },
  ],
  candidates: 2,
  used: 1,
  candidatesLeft: 0,
  indexes: [
    {
      name: 'person_name_idx',
      table: 'person',
      sql: 'CREATE INDEX person_name_idx ON person(name);',
      sizeBytes: 4096,
      insert: { why: `SQLite refuses a copy of a row: ${SECRET} is there` },
      recordedInserts: 0,
      saved: 100,
      effects: [
        {
          sql,
          fingerprint,
          runs: 3,
          before: counts,
          after: { ...counts, instructions: 1 },
          planBefore: ['SCAN person'],
          planAfter: ['SEARCH person USING INDEX person_name_idx (name=?)'],
        },
      ],
      more: 0,
    },
  ],
  leading: null,
  interruptedAt: { what: 'Trying indexes beside 1', done: 1, all: 2 },
};

it('has the fingerprint of each statement, and no message of SQLite', () => {
  expect(JSON.stringify(advice).split(SECRET)).toHaveLength(5);
  const stored = withoutValues(advice);
  expect(JSON.stringify(stored)).not.toContain(SECRET);
  expect(stored.statements[0]!.sql).toBe(fingerprint);
  expect(stored.leftOut.map(({ why }) => why)).toEqual([
    'SQLite refuses it on this copy',
    'It reads no table',
  ]);
  expect(stored.indexes[0]).toMatchObject({
    sql: 'CREATE INDEX person_name_idx ON person(name);',
    insert: { why: 'SQLite refuses a copy of a row' },
    saved: 100,
  });
  expect(answerWords(stored)).toBe(answerWords(advice));
});

it('names the best index that was not counted yet', () => {
  const leading = 'CREATE INDEX person_born_idx ON person(born);';
  expect(answerWords({ ...advice, leading })).toBe(
    `Interrupted while trying indexes beside 1, 1 of 2 done. Of what was tried: 1 index helps 1 of 1 recorded statement. The next best so far isn't counted exactly: ${leading}`,
  );
  expect(answerWords({ ...advice, indexes: [], leading })).toBe(
    `Interrupted while trying indexes beside 1, 1 of 2 done. The best so far isn't counted exactly: ${leading}`,
  );
});
