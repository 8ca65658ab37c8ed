// Where an explicit transaction ends when its statements fail.
import { describe, expect, test } from 'vitest';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { transactionAnatomies } from '../traces/analyses.ts';

describe('what failed', () => {
  const [FULL, ERROR, BUSY, CONSTRAINT] = [13, 1, 5, 19];
  /**
   * Modes of the write transactions of one connection, and how many statements each had. The
   * results are those of steps, or for `exec` its own.
   */
  function modesOf(
    calls: readonly (readonly [text: string, result?: number, statements?: number])[],
    op: 'sqlStep' | 'sqlExec' = 'sqlStep',
  ) {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const db = t.file('/app.db');
    for (const [text, result = op === 'sqlStep' ? 101 : 0, statements = 1] of calls)
      t.call(
        op,
        {
          object: t.define({ kind: 'sql', text }),
          context: 1,
          result,
          aux: 1,
          aux2: op === 'sqlExec' ? statements : 0,
        },
        () => {
          if (!text.startsWith('INSERT')) return;
          t.call('xLock', { object: db, context: 1, aux: 1 });
          t.call('xLock', { object: db, context: 1, aux: 2 });
          t.call('xWrite', { object: db, context: 1, offset: 4096, length: 4096 });
          t.call('xFileControl', { object: db, context: 1, aux: 22 });
          t.call('xUnlock', { object: db, context: 1, aux: 0 });
        },
      );
    t.send();
    return transactionAnatomies(store).map((a) => [a.mode, a.statements]);
  }
  const AUTO = ['autocommit', 1];

  test('a ROLLBACK of a transaction that SQLite has rolled back ends it', () => {
    const [first, ...rest] = modesOf([
      ['BEGIN'],
      ['INSERT', FULL],
      ['ROLLBACK', ERROR],
      ['INSERT'],
      ['INSERT'],
    ]);
    expect(first![0]).toBe('explicit');
    expect(rest).toEqual([AUTO, AUTO]);
  });
  test("a COMMIT that fails because the disk is full ends it, one that is refused doesn't", () => {
    expect(modesOf([['BEGIN'], ['COMMIT', FULL], ['INSERT']])).toEqual([AUTO]);
    expect(modesOf([['BEGIN'], ['COMMIT', BUSY], ['INSERT']])).toEqual([['explicit', 3]]);
    expect(modesOf([['BEGIN'], ['COMMIT', CONSTRAINT], ['INSERT']])).toEqual([['explicit', 3]]);
  });
  test('a BEGIN that succeeds ends the previous transaction', () => {
    expect(modesOf([['BEGIN'], ['SELECT'], ['BEGIN'], ['INSERT'], ['COMMIT']])).toEqual([
      ['explicit', 2],
    ]);
  });
  test('sqlite3_exec of one statement counts if it succeeded', () => {
    expect(modesOf([['BEGIN IMMEDIATE', BUSY], ['INSERT']], 'sqlExec')).toEqual([AUTO]);
    expect(
      modesOf([['BEGIN'], ['COMMIT', BUSY], ['INSERT'], ['COMMIT'], ['INSERT']], 'sqlExec'),
    ).toEqual([['explicit', 3], AUTO]);
    expect(modesOf([['BEGIN'], ['ROLLBACK', ERROR], ['INSERT']], 'sqlExec')).toEqual([AUTO]);
  });
  test('a script whose BEGIN was refused leaves the transaction open', () => {
    expect(
      modesOf([['BEGIN'], ['BEGIN; UPDATE; COMMIT', ERROR, 3], ['INSERT']], 'sqlExec'),
    ).toEqual([['explicit', 3]]);
  });
});
