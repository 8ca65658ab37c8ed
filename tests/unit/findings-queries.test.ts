// The confidence of findings about queries: lower if a query may need all rows, if no index can
// help, and if events are missing.
import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/analysis/rules/types.ts';
import { findingsOf } from '../traces/analyses.ts';
import type { ThreadBuilder } from '../traces/builder.ts';
import { Rc, StatementStatus } from '../../src/sqlite/constants.ts';
import { newStore, ThreadBuilder as Builder } from '../traces/builder.ts';
import { endsAtMost } from '../traces/findings/queries.ts';
import { play, times } from '../traces/findings/stage.ts';

/** Runs of a statement with SQLite's counters for each. */
function runs(
  b: ThreadBuilder,
  text: string,
  of: { n: number; scanned?: number; autoIndex?: number; sorts?: number; steps?: number },
): void {
  const object = b.define({ kind: 'sql', text });
  times(of.n, (i) => {
    const call = { object, aux: i + 1, context: 4 };
    b.call('sqlStep', { ...call, result: Rc.row, dur: 50 });
    b.call('sqlStep', { ...call, result: Rc.done, dur: 50 });
    b.call('sqlStmtStatus', {
      ...call,
      offset: of.scanned ?? 0,
      length: of.steps ?? 5000,
      aux2: of.sorts ?? 0,
      dur: 0,
    });
    if (of.autoIndex)
      b.call('sqlStmtStatusMore', {
        ...call,
        length: of.autoIndex,
        aux2: StatementStatus.autoIndex,
        dur: 0,
      });
    b.call('sqlReset', { ...call, dur: 1 });
  });
}
const found = (rule: string, text: string, of: Parameters<typeof runs>[2]): Finding | undefined =>
  findingsOf(play(({ thread }) => runs(thread(), text, of))).find((f) => f.rule === rule);

describe('F50 is only possible if', () => {
  const sure = (text: string): string | undefined =>
    found('F50', text, { n: 2, scanned: 5000 })?.confidence;
  test.each([
    'SELECT count(*) FROM notes WHERE size > ?',
    'SELECT folder, max(size) FROM notes WHERE size > ? GROUP BY folder',
    'SELECT DISTINCT folder FROM notes WHERE size > ?',
    'SELECT id FROM notes WHERE size > ? LIMIT 20 OFFSET ?',
    'SELECT id FROM notes WHERE body LIKE ?',
    'SELECT id FROM notes WHERE lower(name) = ?',
    'SELECT id FROM notes WHERE ? = lower(name)',
    'SELECT id FROM notes WHERE name <> ?',
    'SELECT id FROM notes WHERE name != ? AND size IS NOT NULL',
    'SELECT id FROM notes WHERE name NOT IN (?, ?)',
    'SELECT id FROM notes WHERE size % ? = ?',
    'SELECT id FROM notes WHERE NOT done',
    'SELECT id FROM notes WHERE meta ->> ? = ?',
  ])('%s', (text) => expect(sure(text)).toBe('possible'));
  test.each([
    'SELECT id FROM notes WHERE lower(name) = ? AND folder = ?',
    'SELECT id FROM notes WHERE name <> ? AND (size > ? OR size IS NULL)',
    'SELECT id FROM notes WHERE ? = notes.code',
    'SELECT a.id FROM notes a JOIN tags b ON lower(b.name) = a.name WHERE b.id <> ?',
    'SELECT id FROM notes JOIN tags USING (code) WHERE lower(name) <> ?',
    'SELECT id FROM notes WHERE code COLLATE nocase = ?',
    'SELECT id FROM notes WHERE [my code] IN (?, ?)',
  ])('likely: %s', (text) => expect(sure(text)).toBe('likely'));
  test('but not for a plain look at some rows', () => {
    expect(sure('SELECT id FROM notes WHERE code = ?')).toBe('likely');
    expect(sure('SELECT id, counted FROM notes WHERE "count" = ?')).toBe('likely');
  });
});

test('F50 derives what a change needs from its steps', () => {
  const title = (text: string, steps: number): string | undefined =>
    found('F50', text, { n: 2, scanned: 1000, steps })?.title;
  const update = 'UPDATE notes SET size = ? WHERE name = ?';
  expect(title(update, 3040)).toMatch(/scanned 2,000 rows and changed at most 40$/);
  expect(title(update, 3000)).toMatch(/scanned 2,000 rows and changed none$/);
  expect(title(update, 3102)).toBeUndefined(); // 51 of 1,000
  expect(title('INSERT INTO log SELECT id FROM notes WHERE name = ?', 3040)).toBeDefined();
  expect(title('DELETE FROM notes WHERE name = ?', 3040)).toBeDefined();
  // their loops take equally few steps for the rows that they delete
  for (const text of [
    'DELETE FROM notes WHERE ?',
    'DELETE FROM notes WHERE ? = ?',
    'DELETE FROM notes',
  ])
    expect(title(text, 3040)).toBeUndefined();
  expect(
    found('F50', 'DELETE FROM notes WHERE EXISTS (SELECT ? FROM old)', {
      n: 2,
      scanned: 1000,
      steps: 3040,
    })?.confidence,
  ).toBe('possible');
  expect(title('INSERT INTO notes VALUES(?)', 4010)).toMatch(
    /scanned 2,000 rows in a trigger or for a foreign key$/,
  );
  expect(title('INSERT INTO notes VALUES(?)', 6000)).toBeUndefined();
});

test('F51 is likely if the rows may come from a view, a subquery, or a trigger', () => {
  const reason = (text: string): string => {
    const { confidence, reason: why } = found('F51', text, { n: 2, autoIndex: 300 })!;
    expect(confidence).toBe('likely');
    return /rows of (.*), which/.exec(why)![1]!;
  };
  expect(reason('SELECT * FROM a JOIN b ON a.x = b.y')).toBe('a view');
  expect(reason('SELECT * FROM a JOIN (SELECT y FROM b) c ON a.x = c.y')).toBe('a subquery');
  expect(
    reason('WITH c AS MATERIALIZED (SELECT y FROM b) SELECT * FROM a JOIN c ON a.x = c.y'),
  ).toBe('a subquery');
  expect(reason('DELETE FROM a')).toBe('a trigger or a subquery');
});

test('F52 leaves out statements that create an index', () => {
  expect(found('F52', 'SELECT * FROM notes ORDER BY code', { n: 10, sorts: 1 })).toBeDefined();
  expect(
    found('F52', 'CREATE INDEX notes_code ON notes(code)', { n: 10, sorts: 1 }),
  ).toBeUndefined();
});

test('F50 to F52 name the statement whose plan they show', () => {
  const sql = 'SELECT * FROM a JOIN b ON a.x = b.y ORDER BY a.z';
  for (const rule of ['F50', 'F51', 'F52'])
    expect(found(rule, sql, { n: 10, scanned: 5000, autoIndex: 9, sorts: 1 })?.statement).toBe(
      sql.toLowerCase(),
    );
});

test('F56 is certain unless the text contains values, or a finalize may be among lost events', () => {
  const sure = (dropped: number, text = 'SELECT a FROM t'): string | undefined => {
    const b = new Builder(newStore());
    const object = b.define({ kind: 'sql', text });
    times(20, (i) => b.call('sqlPrepare', { object, aux: i + 1, context: 4 }));
    b.send(dropped);
    return findingsOf(b.store).find(({ rule }) => rule === 'F56')?.confidence;
  };
  expect(sure(0)).toBe('certain');
  expect(sure(0, 'SELECT a FROM t WHERE id = ?')).toBe('likely');
  expect(sure(3)).toBe('possible');
});

test('F53 is only possible if a list is part of the text, because its length is unknown', () => {
  const of = (text: string): Finding => {
    const b = new Builder(newStore());
    const object = b.define({ kind: 'sql', text });
    times(31, (i) => {
      b.call('sqlPrepare', { object, aux: i + 1, context: 4, dur: 80 });
      b.call('sqlFinalize', { aux: i + 1, context: 4, dur: 2 });
    });
    b.send();
    return findingsOf(b.store).find(({ rule }) => rule === 'F53')!;
  };
  for (const text of ['SELECT a FROM t WHERE id IN (?, ...)', 'INSERT INTO t VALUES(?, ?), ...']) {
    expect(of(text).confidence).toBe('possible');
    expect(of(text).advice).toMatch(/^Prepare this statement once for each length of its list/);
  }
  expect(of('SELECT a FROM t WHERE id = ?').confidence).toBe('likely');
});

test('F53 counts the prepares of the statements after a text, and reports the time from prepare to step', () => {
  const b = new Builder(newStore());
  const object = b.define({ kind: 'sql', text: 'SELECT a FROM t WHERE id = ?' });
  times(31, (i) => {
    const call = { object, aux: i + 1, context: 4 };
    b.call('sqlPrepare', { ...call, dur: 80 });
    b.idle(50);
    b.call('sqlStep', { ...call, result: Rc.done, dur: 20 });
    b.call('sqlFinalize', { ...call, dur: 2 });
    b.call('sqlPrepare', { aux: 1000 + i, context: 4, dur: 10 });
    b.idle(500);
  });
  b.send();
  const found = findingsOf(b.store).find(({ rule }) => rule === 'F53')!;
  expect(found.evidence.count).toBe(30);
  expect(found.avoids).toEqual([expect.objectContaining({ calls: 60 })]);
  expect(found.savingUs).toBe(30 * 80 + 30 * 10);
  expect(found.savingHow).toContain('took 1.5 ms more from prepare to step');
});

test('F57 distinguishes a growing page cache from other memory', () => {
  const of = (cached: number): Finding => {
    const b = new Builder(newStore());
    times(20, (i) => {
      b.call('sqlMemory', {
        offset: (16 + 2 * i) * 2 ** 20,
        length: cached * i * 2 ** 20,
        context: 4,
        dur: 0,
      });
      b.idle(1e6);
    });
    b.send();
    return findingsOf(b.store).find(({ rule }) => rule === 'F57')!;
  };
  expect(of(2).reason).toContain(
    'page cache of a connection, which also holds a database in memory, grew by 38 MiB',
  );
  expect(of(2).advice).toMatch(/^Lower PRAGMA cache_size/);
  expect(of(0.5).reason).not.toContain('page cache');
  expect(of(0.5).advice).toMatch(/^Look for statements that are not finalized/);
});

test('F58 distinguishes a page that was killed from one that was reloaded', () => {
  const reason = (end: 'unloads' | 'is killed'): string =>
    findingsOf(play(({ thread }) => endsAtMost(thread, 40, 4, end))).find(
      ({ rule }) => rule === 'F58',
    )!.reason;
  expect(reason('unloads')).toMatch(/^it unloaded in order/);
  expect(reason('is killed')).toMatch(/^it ended without unloading/);
});
