// Finds PRAGMAs that set something and run, but none in comments or literals.
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { pragmas } from '../../src/analysis/core/pragmas.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

/** Name and value of each PRAGMA that the text sets. */
function setBy(sql: string): string[] {
  const t = new ThreadBuilder(newStore());
  t.call('sqlExec', { object: t.define({ kind: 'sql', text: sql }) });
  t.send();
  return new Facts(t.store).get(pragmas).map(({ name, value }) => `${name} ${value}`);
}

test.each([
  ['PRAGMA journal_mode=wal', ['journal_mode wal']],
  ['pragma main . Cache_Size = -2000;', ['cache_size -2000']],
  [
    'PRAGMA "main".synchronous(off); PRAGMA `other`.page_size = 4096',
    ['synchronous off', 'page_size 4096'],
  ],
  ["PRAGMA journal_mode = 'WAL'", ['journal_mode WAL']],
  ['PRAGMA cache_size=?', ['cache_size ?']],
  ['PRAGMA journal_mode', []],
  ['-- PRAGMA journal_mode=WAL;\nPRAGMA page_size=8192', ['page_size 8192']],
  ['/* PRAGMA journal_mode=WAL; */ SELECT 1', []],
  ["INSERT INTO notes VALUES('; PRAGMA journal_mode=wal')", []],
  ['SELECT pragma FROM t WHERE cache_size = 3', []],
])('%s', (sql, set) => {
  expect(setBy(sql)).toEqual(set);
});
