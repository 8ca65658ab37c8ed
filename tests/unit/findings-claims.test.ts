// Claims and advice of findings: they save at most what their calls took, and suggest nothing that
// the VFS can't do.
import { describe, expect, test } from 'vitest';
import { Flag } from '../../src/event/event.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { totalTimeInSql } from '../../src/analysis/time/summary-time.ts';
import { formatShare } from '../../src/text/numbers.ts';
import type { Finding } from '../../src/analysis/rules/types.ts';
import type { ThreadBuilder } from '../traces/builder.ts';
import { findingsOf } from '../traces/analyses.ts';
import { locked, PAGE, play, times } from '../traces/findings/stage.ts';

/** Commits by rollback journal, with idle time between them. */
function journalled(b: ThreadBuilder, vfs: string, n: number): void {
  const db = b.file('/app.db', 'main-db', vfs);
  const journal = b.file('/app.db-journal', 'journal', vfs);
  times(n, () => {
    locked(b, db, 2, () => {
      b.call('xOpen', { object: journal });
      b.call('xWrite', { object: journal, offset: 0, length: 512, dur: 50 });
      b.call('xSync', { object: journal, dur: 50 });
      b.call('xWrite', { object: db, offset: PAGE, length: PAGE, dur: 2 });
      b.call('xSync', { object: db });
      b.call('xDelete', { object: journal });
      b.call('xFileControl', { object: db, aux: 22 });
    });
    b.idle(200_000);
  });
}

describe('a WAL is advised only if the VFS can store one', () => {
  const found = (rule: string, vfs: string, refused = false) => {
    const store = play(({ thread }) => {
      const b = thread();
      const sql = b.define({ kind: 'sql', text: 'PRAGMA journal_mode=wal' });
      b.call('sqlStep', { object: sql });
      if (refused) b.call('xOpen', { object: b.file('/app.db-wal', 'wal', vfs), result: 14 });
      journalled(b, vfs, 12);
    });
    return findingsOf(store).find((f) => f.rule === rule)!;
  };
  const EXCLUSIVE =
    /^(If only one tab or worker opens the database, set locking_mode=exclusive and journal_mode=wal|Set locking_mode=exclusive before)/;
  test.each(['F07', 'F08'])('%s', (rule) => {
    expect(found(rule, 'opfs').advice).toMatch(EXCLUSIVE);
    for (const { advice, savingUs } of [found(rule, 'kvvfs'), found(rule, 'own', true)]) {
      expect(advice).not.toMatch(EXCLUSIVE);
      expect(advice).toContain("Don't set locking_mode=exclusive with journal_mode=wal");
      expect(savingUs).toBeNull();
    }
  });
});

test('F01 saves none of the time that another tab had the lock', () => {
  const found = (waitUs: number) => {
    const store = play(({ thread }) => {
      const other = thread({ id: 'p1', kind: 'page', name: 'other' });
      const held = other.define({ kind: 'lock', text: 'db' });
      if (waitUs) other.call('lockRequest', { object: held });
      if (waitUs) other.call('lockHeld', { object: held, dur: waitUs });
      const b = thread({ id: 'p2', kind: 'page', name: 'own' });
      const lock = b.define({ kind: 'lock', text: 'db' });
      const db = b.file('/app.db');
      b.now = 2;
      times(20, (i) => {
        b.call('xLock', { object: db, aux: 1, dur: 10 }, () =>
          b.call('lockRequest', { object: lock, dur: i === 0 ? waitUs : 1 }),
        );
        b.call('lockHeld', { object: lock, dur: 0 }, () => {
          b.call('xLock', { object: db, aux: 2, dur: 10 });
          b.call('xWrite', { object: db, offset: PAGE, length: PAGE, dur: 100 });
          b.call('xSync', { object: db, dur: 100 });
          b.call('xFileControl', { object: db, aux: 22 });
          b.call('xUnlock', { object: db, aux: 0, dur: 10 });
        });
      });
    });
    return findingsOf(store).find(({ rule }) => rule === 'F01')!;
  };
  const [free, waited] = [found(0), found(2_000_000)];
  expect(free).toMatchObject({ confidence: 'certain' });
  expect(waited).toMatchObject({ confidence: 'likely' });
  expect(waited.reason).toContain('of waiting for locks that others held is not counted');
  expect(waited.savingUs).toBeGreaterThan(19 * 200);
  expect(waited.savingUs).toBeLessThan(20 * 250);
});

test("F01's share is of the time in SQL, as its bar is, without idle time", () => {
  const store = play(({ thread }) => {
    const b = thread();
    const db = b.file('/app.db');
    times(20, () =>
      locked(b, db, 2, () => {
        b.call('xWrite', { object: db, offset: PAGE, length: PAGE, dur: 100 });
        b.call('xSync', { object: db, dur: 100 });
        b.call('xFileControl', { object: db, aux: 22 });
      }),
    );
    b.idle(1_000_000);
    b.call('xRead', { object: db, offset: 0, length: PAGE, dur: 100 });
  });
  const { title, evidence } = findingsOf(store).find(({ rule }) => rule === 'F01')!;
  expect(evidence.timeShare).toBeLessThan(0.01);
  const us = evidence.timeShare! * store.extent()[1];
  const inSqlUs = new Facts(store).get(totalTimeInSql)!;
  expect(us / inSqlUs).toBeGreaterThan(0.9);
  expect(title).toContain(`, ${formatShare(us / inSqlUs)} of the time in SQL`);
});

describe('the cost of a call is that of the calls that the finding names', () => {
  const SLOW = 50_000;
  /** A slow database next to the one that the finding is about. */
  const beside = (b: ThreadBuilder): void => {
    const slow = b.file('/slow.db');
    times(20, (i) => {
      b.call('xRead', { object: slow, offset: i * 37 * PAGE, length: PAGE, dur: SLOW });
      b.call('xWrite', { object: slow, offset: i * 37 * PAGE, length: PAGE, dur: SLOW });
      b.call('xSync', { object: slow, dur: SLOW });
    });
  };
  const finding = (rule: string, story: (b: ThreadBuilder) => void): Finding => {
    const store = play(({ thread }) => {
      const b = thread();
      beside(b);
      story(b);
    });
    return findingsOf(store).find((f) => f.rule === rule)!;
  };
  const saving = (...of: Parameters<typeof finding>): number => finding(...of).savingUs!;
  test('F22', () => {
    const us = saving('F22', (b) => {
      const db = b.file('/app.db');
      b.call('sqlPrepare', { context: 1 }, () =>
        times(12, (i) => b.call('xRead', { object: db, offset: i * PAGE, length: PAGE, dur: 10 })),
      );
    });
    expect(us).toBeCloseTo(11 * 10, 6);
  });
  test('F21', () => {
    const us = saving('F21', (b) => {
      const db = b.file('/app.db');
      times(200, (i) => b.call('xRead', { object: db, offset: i * 1024, length: 1024, dur: 10 }));
    });
    expect(us).toBeGreaterThan(1000);
    expect(us).toBeLessThan(200 * 10);
  });
  test('F40', () => {
    const told = finding('F40', (b) => {
      const db = b.file('/app.db');
      b.call('sqlStep', { object: b.define({ kind: 'sql', text: 'VACUUM' }) }, () => {
        times(30, (i) => b.call('xWrite', { object: db, offset: i * PAGE, length: PAGE, dur: 10 }));
        b.call('xSync', { object: db, dur: 100 });
        const journal = b.file('', 'memory-journal');
        times(40, () =>
          b.call('xWrite', { object: journal, length: PAGE, flags: Flag.memoryJournal }),
        );
      });
    });
    expect(told.title).toContain('30 writes and 1 sync for a database of 30 pages, 400 µs');
    expect(told.savingUs).toBeNull();
  });
  test.each([
    ['opfsWrite', 'opfs-file'],
    ['idbAdd', 'idb-store'],
  ] as const)('F23: %s', (op, kind) => {
    const us = saving('F23', (b) => {
      const db = b.file('/app.db');
      const length = 32 * PAGE;
      times(32, (i) => b.call('xWrite', { object: db, offset: i * PAGE, length: PAGE }));
      const other = b.define({ kind: 'idb-store', db: 'other', store: 'notes' });
      times(5, () => b.call('idbPut', { object: other, length: 10, dur: SLOW }));
      const own = b.define(
        kind === 'opfs-file' ? { kind, path: '/saved' } : { kind, db: 'app', store: 'files' },
      );
      const result = kind === 'opfs-file' ? length : 0;
      times(5, () => b.call(op, { object: own, offset: 0, length, result, dur: 300 }));
    });
    expect(us).toBeCloseTo(4 * 300, 6);
  });
});

test('F26 saves the time that connections were refused during an open transaction, and is then likely', () => {
  const found = (refusedAt: readonly number[]) => {
    const store = play(({ thread }) => {
      const b = thread();
      const db = b.file('/app.db');
      times(2, () => {
        b.idle(1_000_000);
        locked(b, db, 2, () => {
          b.idle(3_000_000);
          b.call('xWrite', { object: db, offset: 0, length: PAGE });
          b.call('xSync', { object: db });
          b.call('xFileControl', { object: db, aux: 22 });
        });
        b.idle(6_000_000);
      });
      const other = thread();
      const same = other.file('/app.db');
      for (const from of refusedAt) {
        other.now = from;
        times(2, () => other.call('xLock', { object: same, aux: 2, result: 5, dur: 250_000 }));
        other.call('xLock', { object: same, aux: 2, dur: 1 });
        other.call('xUnlock', { object: same, aux: 0 });
      }
    });
    return findingsOf(store).find(({ rule }) => rule === 'F26')!;
  };
  // open from 1 to 4 s, and from 11 to 14 s
  expect(found([])).toMatchObject({ savingUs: null, confidence: 'certain' });
  expect(found([6_000_000])).toMatchObject({ savingUs: null, confidence: 'certain' });
  const both = found([2_000_000, 2_600_000, 6_000_000]);
  expect(both.savingUs).toBeCloseTo(1_000_000, -2);
  expect(both.confidence).toBe('likely');
  expect(both.savingHow).toMatch(/^how long 1 refused connection tried/);
});

test('F39 advises a pool of handles only if one tab has the database', () => {
  const advice = (tabs: number): string => {
    const store = play(({ thread }) => {
      times(tabs, (tab) => {
        const page = thread({ id: `p${tab}`, kind: 'page' });
        const b = thread({ id: `w${tab}`, parent: `p${tab}` });
        const proxy = thread({ id: `x${tab}`, parent: `w${tab}` });
        page.call('mark');
        const db = b.file('/app.db', 'main-db', 'opfs');
        const file = proxy.define({ kind: 'opfs-file', path: '/app.db' });
        times(60, (i) => {
          b.call('xRead', { object: db, offset: i * PAGE, length: PAGE }, () =>
            b.call('atomicsWait', { dur: 500 }),
          );
          proxy.now = b.now - 250;
          proxy.call('opfsRead', { object: file, length: PAGE, result: PAGE, dur: 100 });
        });
      });
    });
    return findingsOf(store).find(({ rule }) => rule === 'F39')!.advice;
  };
  expect(advice(1)).toContain('if only one tab uses the database, else OPFSCoopSync');
  expect(advice(2)).toContain(
    '(OPFSCoopSync). A pool of handles (opfs-sahpool) refuses the second',
  );
});

describe('temporary files', () => {
  const found = (sql: string, of: { reads?: boolean; query?: boolean }) => {
    const store = play(({ thread }) => {
      const b = thread();
      const temp = b.file('', 'temp');
      const stored = b.define({ kind: 'opfs-file', path: '/temp' });
      const query = b.define({ kind: 'sql', text: 'SELECT id FROM t' });
      if (of.query) b.call('sqlStep', { object: query, aux: 7, context: 1, result: 100 });
      const text = b.define({ kind: 'sql', text: sql });
      b.call('sqlStep', { object: text, aux: 8, context: 1, result: 101 }, () => {
        const call = { object: temp, length: 4, dur: 10 };
        times(300, (i) =>
          b.call('xWrite', { ...call, offset: i * 4 }, () =>
            b.call('opfsWrite', { object: stored, length: 4, result: 4, offset: i * 4 }),
          ),
        );
        if (of.reads) times(300, (i) => b.call('xRead', { ...call, offset: i * 4 }));
      });
      b.call('sqlFinalize', { aux: 8, context: 1 });
    });
    return findingsOf(store);
  };
  const F36 = (...args: Parameters<typeof found>) =>
    found(...args).filter(({ rule }) => rule === 'F36');
  test("F36 distinguishes a statement's journal from a sort", () => {
    const update = 'UPDATE t SET body = ?';
    expect(F36('SELECT 1 ORDER BY 1', { reads: true })).toMatchObject([
      { title: expect.stringContaining('of temporary files') as string },
    ]);
    expect(F36('INSERT INTO t SELECT 1 ORDER BY 1', { reads: true })).toMatchObject([
      { title: expect.stringContaining('of temporary files') as string },
    ]);
    expect(F36(update, {})).toMatchObject([
      {
        title: expect.stringMatching(/^300 writes of statement journals/) as string,
        advice: 'Set PRAGMA temp_store=memory.',
        savingUs: 3300, // a call of 1 us in each
      },
    ]);
    expect(F36(update, { query: true })).toMatchObject([
      { advice: expect.stringMatching(/^Reset or finalize "SELECT id FROM t"/) as string },
    ]);
  });
  test('F44 leaves them out', () => {
    expect(found('UPDATE t SET body = ?', {}).map(({ rule }) => rule)).not.toContain('F44');
  });
});

test('F33 names no write that failed, or whose end was not recorded', () => {
  const titles = (write: { result?: number; open?: boolean }) =>
    findingsOf(
      play(({ thread }) => {
        const b = thread();
        const object = b.file('/app.db');
        b.call('xOpen', { object, aux: 0x106 });
        b.call('xLock', { object, aux: 1 });
        b.call('xWrite', { object, offset: 0, length: PAGE, ...write });
      }),
    )
      .filter(({ rule }) => rule === 'F33')
      .map(({ title }) => title);
  expect(titles({})).toEqual([expect.stringMatching(/^1 write to \/app\.db/)]);
  expect(titles({ result: 10 })).toEqual([]);
  expect(titles({ open: true })).toEqual([]);
});
