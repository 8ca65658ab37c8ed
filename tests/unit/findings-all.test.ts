// Invariants of all findings and badges, for any trace.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Op, type OpName } from '../../src/event/event.ts';
import { OWN_RECORDING } from '../../src/trace/store.ts';
import { newStore } from '../traces/builder.ts';
import { environment, PAGE, play, times } from '../traces/findings/stage.ts';
import { badgesOf, findingsOf } from '../traces/analyses.ts';

test('whatever the calls, findings are well formed and sorted by saving', () => {
  const ops = (Object.keys(Op) as OpName[]).filter((name) => name !== 'end' && name !== 'none');
  const call = fc.record({
    ...{
      op: fc.constantFrom(...ops),
      object: fc.integer({ min: 0, max: 6 }),
      offset: fc.constantFrom(NaN, 0, 24, 32, 4096, 56),
    },
    ...{
      length: fc.constantFrom(0, 16, 24, 512, 4096),
      aux: fc.integer({ min: 0, max: 40 }),
      context: fc.integer({ min: 0, max: 2 }),
    },
    ...{
      result: fc.constantFrom(0, 1, 5, 11, 14, 100, 522),
      dur: fc.integer({ min: 0, max: 3_000_000 }),
      open: fc.boolean(),
    },
    ...{ aux2: fc.integer({ min: 0, max: 2 }), flags: fc.integer({ min: 0, max: 15 }) },
  });
  fc.assert(
    fc.property(
      fc.array(call, { maxLength: 60 }),
      fc.integer({ min: 1, max: 12 }),
      (calls, repeat) => {
        const store = play(({ thread }) =>
          times(2, () => {
            const b = thread();
            b.file('/a.db');
            b.file('/a.db-wal', 'wal');
            b.file('/a.db-journal', 'journal');
            b.define({ kind: 'opfs-file', path: '/a.db' });
            b.define({ kind: 'idb-store', db: 'd', store: 's' });
            b.define({ kind: 'lock', text: 'l' });
            times(repeat, () => calls.forEach(({ op, ...fields }) => b.call(op, fields)));
          }),
        );
        const found = findingsOf(store);
        for (const f of found) {
          expect(f.title).not.toMatch(/NaN|undefined|Infinity/);
          expect(f.evidence.count).toBeGreaterThan(0);
          expect(f.evidence.toUs).toBeGreaterThanOrEqual(f.evidence.fromUs);
          if (f.savingUs !== null) expect(f.savingUs).toBeGreaterThanOrEqual(0);
          if (f.evidence.timeShare !== null) expect(f.evidence.timeShare).toBeLessThanOrEqual(1);
        }
        const savings = found.map((f) => f.savingUs ?? -1);
        expect(savings).toEqual([...savings].sort((a, b) => b - a));
        for (const b of badgesOf(store)) expect(b.say).not.toMatch(/NaN|undefined|Infinity/);
      },
    ),
    { numRuns: 60 },
  );
});

test('an empty trace has neither findings nor badges', () => {
  const store = newStore();
  expect(findingsOf(store)).toEqual([]);
  expect(badgesOf(store)).toEqual([]);
});

test('badges name what makes numbers mislead', () => {
  const store = play(({ thread }) => {
    const b = thread({ kind: 'page' });
    b.say(environment({ clockStepUs: 100, threadKind: 'page' }));
    b.say({
      kind: 'cost',
      id: 0,
      nsPerJsEvent: 9_000_000,
      nsPerVfsEvent: 9_000_000,
      nsPerClockPair: 50,
    });
    const db = b.file('/app.db');
    b.call('xRead', { object: db, offset: 0, length: 100, result: 522, dur: 5 });
    times(20, () => b.call('xWrite', { object: db, offset: 0, length: PAGE, dur: 5 }));
    b.call('idbOpen', { object: b.define({ kind: 'idb-database', db: 'x' }) });
    b.call('visibility', { aux: 1 });
    b.idle(2_000_000);
    b.call('visibility', { aux: 0 });
    b.send(7);
    b.thread.dropped = 7;
  });
  store.threads[0]!.dropped = 7;
  const badges = badgesOf(store).map((b) => b.badge);
  expect(badges).toEqual([
    'Events dropped',
    'Recorder on',
    'Coarse clock',
    'Hidden tab',
    'Clean database',
    'IndexedDB backend unknown',
  ]);
});

test('a cold start is a recording that saw its engine load, which no recording by the library does', () => {
  const engine = {
    kind: 'engine',
    id: 7,
    name: 'wa-sqlite',
    sqliteVersion: null,
    sourceId: null,
    suspension: 'none',
    note: null,
  } as const;
  const badges = (id: string): string[] => {
    const store = play(({ thread }) => {
      const b = thread({ id });
      b.say({ ...engine, layers: { vfs: true, sql: false, counters: false } });
      b.call('xRead', { object: b.file('/app.db'), offset: 0, length: PAGE });
    });
    return badgesOf(store).map(({ badge }) => badge);
  };
  expect(badges('worker-1')).toEqual(['Cold start included']);
  expect(badges(OWN_RECORDING)).toEqual([]);
});
