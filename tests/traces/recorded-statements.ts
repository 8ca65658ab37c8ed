/** A synthetic recording of statements that ran. */
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from './builder.ts';

const [ROW, DONE] = [100, 101];

/**
 * @param statements text, runs, rows of each run, and the values of the first run if they were
 * recorded
 */
export function recordedStatements(
  statements: readonly (readonly [text: string, runs: number, rows: number, values?: string[]])[],
): TraceStore {
  const t = new ThreadBuilder(newStore());
  statements.forEach(([text, runs, rows, values], i) => {
    const object = t.define({ kind: 'sql', text });
    for (let run = 0; run < runs; run++) {
      t.call('sqlPrepare', { object, aux: i + 1 });
      const seq = t.call('sqlStep', { object, aux: i + 1, result: rows ? ROW : DONE, dur: 100 });
      if (values && run === 0) t.define({ kind: 'values', of: seq, values });
      for (let row = 1; row < rows; row++)
        t.call('sqlStep', { object, aux: i + 1, result: ROW, dur: 100 });
      if (rows) t.call('sqlStep', { object, aux: i + 1, result: DONE, dur: 100 });
      t.call('sqlFinalize', { object, aux: i + 1 });
    }
  });
  t.send();
  return t.store;
}

/** A database without indexes except keys: 20,000 notes in 200 folders. */
export const NOTES = `CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE note(id INTEGER PRIMARY KEY, folder INT, title TEXT, updated INT, body TEXT);
WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<200) INSERT INTO folder SELECT x, 'folder '||x FROM n;
WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<20000)
  INSERT INTO note SELECT x, 1 + x * 7919 % 200, 'note '||x, x * 31 % 20000, printf('%0100d', x) FROM n;`;

/**
 * The app creates a table, and searches its 20,000 rows four times for ten, by a column without an
 * index.
 */
export function scannedStatement(): TraceStore {
  const t = new ThreadBuilder(newStore());
  const run = (aux: number, text: string, rows: number, scanned: number): void => {
    const call = { object: t.define({ kind: 'sql', text }), aux, context: 1 };
    for (let row = 0; row < rows; row++) t.call('sqlStep', { ...call, result: ROW, dur: 100 });
    t.call('sqlStep', { ...call, result: DONE, dur: 100 });
    t.call('sqlStmtStatus', { ...call, offset: scanned, length: 4 * scanned + 9, dur: 0 });
    t.call('sqlReset', call);
  };
  run(1, 'CREATE TABLE notes(id INTEGER PRIMARY KEY, code TEXT)', 0, 0);
  for (let i = 0; i < 4; i++) run(2 + i, 'SELECT id FROM notes WHERE code > ? ORDER BY code', 10, 19_999);
  t.send();
  return t.store;
}
