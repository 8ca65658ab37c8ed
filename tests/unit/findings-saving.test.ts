// The savings that findings claim if the clock is too coarse.
import { describe, expect, test } from 'vitest';
import { Saving } from '../../src/analysis/rules/saving.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { Fcntl } from '../../src/sqlite/constants.ts';
import { environment, locked, PAGE, play, times } from '../traces/findings/stage.ts';
import { findingContextOf, findingsOf } from '../traces/analyses.ts';

/** Commits by rollback journal. @param dur of each call, microseconds */
const commits = (clockStepUs: number, dur: number): TraceStore =>
  play(({ thread }) => {
    const b = thread();
    b.say(environment({ clockStepUs }));
    const db = b.file('/app.db');
    const stored = b.define({ kind: 'opfs-file', path: '/app.db' });
    const journal = b.file('/app.db-journal', 'journal');
    times(12, () => {
      locked(b, db, 2, () => {
        b.call('xOpen', { object: journal, dur });
        b.call('xWrite', { object: journal, offset: 0, length: 512, dur });
        b.call('xSync', { object: journal, dur });
        b.call('xLock', { object: db, aux: 4 });
        b.call('xWrite', { object: db, offset: PAGE, length: PAGE, dur: 0 }, () =>
          b.call('opfsWrite', { object: stored, offset: PAGE, length: PAGE, dur: 0 }),
        );
        b.call('xSync', { object: db, dur });
        b.call('xDelete', { object: journal, dur });
        b.call('xFileControl', { object: db, aux: 22 });
      });
      b.idle(200_000); // not a run of single statements
    });
  });
const journalCost = (store: TraceStore) => findingsOf(store).find(({ rule }) => rule === 'F07')!;

test("a saving of less than a clock step can't be reported", () => {
  // 12 of four calls, 1 us each, with a clock of 100 us: the sum may be chance
  expect(journalCost(commits(100, 1))).toMatchObject({
    savingUs: null,
    savingHow: expect.stringMatching(
      /^too short for this clock to measure \(its step is 100 µs\): 12 journal syncs, /,
    ) as string,
  });
  expect(journalCost(commits(0.1, 1))).toMatchObject({ savingUs: 48 });
  expect(journalCost(commits(100, 3))).toMatchObject({ savingUs: 144 });
});

test('calls that took no time on this clock have no saving to report, whatever is known of its step', () => {
  expect(journalCost(commits(100, 0))).toMatchObject({ savingUs: null });
  const unknown = journalCost(commits(NaN, 0));
  expect(unknown.savingUs).toBeNull();
  expect(unknown.savingHow).toMatch(/^too short for this clock to measure: 12 journal syncs/);
});

test('savings too small to report come after known savings', () => {
  const store = commits(100, 0);
  const savings = findingsOf(store).map(({ savingUs }) => savingUs);
  expect(savings).not.toContain(0);
  expect(savings).toEqual([...savings].sort((a, b) => (b ?? -1) - (a ?? -1)));
});

test("if the replacement calls take longer, the saving isn't 0", () => {
  const ctx = findingContextOf(commits(0.1, 3));
  const { savingUs, savingHow } = new Saving(ctx)
    .avoid(1, Op.xSync, 'syncs')
    .instead(2, Op.xDelete, 'deletions')
    .result();
  expect(savingUs).toBeNull();
  expect(savingHow).toBe(
    'what would be called instead takes longer here: 1 sync, minus 2 deletions, each at its average time',
  );
});

test('checkpoints are shown by calls of one layer, although the file in OPFS has the same name', () => {
  const store = play(({ thread }) => {
    const b = thread();
    const [db, wal] = [b.file('/app.db'), b.file('/app.db-wal', 'wal')];
    const [file, log] = ['/app.db', '/app.db-wal'].map((path) =>
      b.define({ kind: 'opfs-file', path }),
    ) as [number, number];
    times(10, () => {
      times(4, (i) =>
        b.call('xWrite', { object: wal, offset: 32 + i * (PAGE + 24), length: 24, aux: 1 + i }),
      );
      b.call('xFileControl', { object: db, aux: 39, result: 12 });
      times(4, (i) => {
        const [read, write] = [
          { offset: 56 + i * (PAGE + 24), length: PAGE },
          { offset: i * PAGE, length: PAGE },
        ];
        b.call('xRead', { object: wal, ...read }, () =>
          b.call('opfsRead', { object: log, ...read, result: PAGE }),
        );
        b.call('xWrite', { object: db, ...write }, () =>
          b.call('opfsWrite', { object: file, ...write, result: PAGE }),
        );
      });
      b.call('xFileControl', { object: db, aux: 37, result: 12 });
      b.idle(1000);
    });
  });
  const found = findingsOf(store).find(({ rule }) => rule === 'F41');
  expect(found?.evidence).toMatchObject({ count: 80, bytes: 80 * PAGE });
});

describe('checkpoints whose frames fill more than the largest log that is advised', () => {
  /** 150 of 100 frames on 4 pages, each time the same ones, or others. */
  const copies = (page: (checkpoint: number, i: number) => number) =>
    findingsOf(
      play(({ thread }) => {
        const b = thread();
        const [db, wal] = [b.file('/app.db'), b.file('/app.db-wal', 'wal')];
        times(150, (n) => {
          times(100, (i) => {
            const aux = 1 + page(n, i % 4);
            b.call('xWrite', { object: wal, offset: 32 + i * (PAGE + 24), length: 24, aux });
          });
          for (const aux of [Fcntl.commitPhaseTwo, Fcntl.ckptStart])
            b.call('xFileControl', { object: db, aux, result: 12 });
          times(4, (i) => {
            b.call('xRead', { object: wal, offset: 56 + i * (PAGE + 24), length: PAGE });
            b.call('xWrite', { object: db, offset: page(n, i) * PAGE, length: PAGE });
          });
          b.call('xFileControl', { object: db, aux: Fcntl.ckptDone, result: 12 });
          b.idle(1000);
        });
      }),
    ).find(({ rule }) => rule === 'F41');

  test('are fewer at that size, and each page is copied once by each of them', () => {
    const found = copies((_, i) => i)!;
    expect(found.sql).toBe('PRAGMA wal_autocheckpoint=10000;');
    expect(found.advice).toMatch(/=10000, .* is then copied less often\.$/);
    expect(found.avoids).toContainEqual({ op: Op.xWrite, kind: 'main-db', calls: 600 - 2 * 4 });
  });

  test('come without a value where it would still copy most pages as often', () => {
    const found = copies((n, i) => (n % 75) * 4 + i)!;
    expect(found.sql).toBeUndefined();
    expect(found.advice).toMatch(/^Raise PRAGMA wal_autocheckpoint, /);
    expect(found.avoids).toContainEqual({ op: Op.xWrite, kind: 'main-db', calls: 600 - 300 });
  });
});

test('flushes are set against the commits of a WAL in OPFS, where no VFS is seen', () => {
  const store = play(({ thread }) => {
    const b = thread();
    const wal = b.define({ kind: 'opfs-file', path: '/app.db-wal' });
    times(20, (i) => {
      const offset = 32 + i * (PAGE + 24);
      const frame = { object: wal, offset, length: PAGE + 24, result: PAGE + 24, aux: 2, aux2: 2 };
      b.call('opfsWrite', frame);
      b.call('opfsFlush', { object: wal, dur: 5000 });
    });
  });
  const found = findingsOf(store).find(({ rule }) => rule === 'F14');
  expect(found?.title).toContain(', 1 flush per commit');
  expect(found?.savingHow).toContain('one flush a commit at most');
});

test('a finding names the calls that it avoids, by operation and kind of file', () => {
  expect(journalCost(commits(0.1, 3)).avoids).toEqual([
    { op: Op.xSync, kind: 'journal', calls: 12 },
    { op: Op.xWrite, kind: 'journal', calls: 12 },
    { op: Op.xOpen, kind: 'journal', calls: 12 },
    { op: Op.xDelete, kind: 'journal', calls: 12 },
    { op: Op.xWrite, kind: 'main-db', calls: 12 },
    { op: Op.xWrite, kind: 'wal', calls: -24 },
  ]);
});

test('a saving uses the mean of the calls, because the few long ones are most of the time', () => {
  const store = play(({ thread }) => {
    const b = thread();
    const db = b.file('/app.db');
    times(10, (i) => b.call('xSync', { object: db, dur: i === 0 ? 910 : 10 }));
  });
  expect(new Saving(findingContextOf(store)).avoid(5, Op.xSync, 'syncs').result()).toEqual({
    savingUs: 500,
    savingHow: '5 syncs, each at its average time',
    avoids: [{ op: Op.xSync, kind: '', calls: 5 }],
  });
});
