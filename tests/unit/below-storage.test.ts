// The browser's report of storage: from its trace events to a recording, the check of our counts
// against it, through a file, and hostile files.
import { describe, expect, test } from 'vitest';
import { belowStorage } from '../../src/analysis/below/browser-work.ts';
import { callCheck } from '../../src/analysis/below/call-check.ts';
import { belowTables } from '../../src/analysis/below/table.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { badges } from '../../src/analysis/findings/index.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { answerOf, answerReport } from '../../src/analysis/report/answer-report.ts';
import { cutTo } from '../../src/analysis/report/cut.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { addBelowStorage } from '../../src/drive/below-storage.ts';
import type { BrowserEvent } from '../../src/drive/browser-trace.ts';
import { CAPTURE_DEFAULTS, type CaptureOptions } from '../../src/event/capture.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { Op } from '../../src/event/event.ts';
import { ACTIVITIES } from '../../src/event/operations.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { BROWSER, BROWSER_WORK, checkedBelow, packedBelow } from '../../src/trace/below-storage.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { ThreadBuilder, newStore } from '../traces/builder.ts';

const ORIGIN = 1_700_000_000_000;
/** Difference between the browser's clock and the trace's, microseconds. */
const OFFSET = 5_000_000;
const PAGE = 7;
const OTHER = 2;

type More = Partial<BrowserEvent>;
/** @param us in the trace's time */
const at = (us: number, name: string, more: More = {}): BrowserEvent => ({
  ...{ name, cat: 'IndexedDB', ph: 'X', pid: PAGE, tid: 3, ts: us + OFFSET, dur: 10, args: {} },
  ...more,
});
const mark = (us = 0): BrowserEvent =>
  at(us, 'TimeStamp', {
    cat: 'devtools.timeline',
    args: { data: { message: `vfscope ${ORIGIN} ${us / 1000} 9 Error` } },
  });
const file = (us: number, call: string, more: More = {}): BrowserEvent =>
  at(us, `File::${call}`, { cat: 'disabled-by-default-file', args: { size: 4096 }, ...more });
const work = (us: number, name: string, dur: number): BrowserEvent =>
  at(us, name, { pid: OTHER, tid: 9, dur });
/** A request that is answered after `dur`, and that the browser works on from `begun` on. */
const put = (us: number, id: string, dur: number, begun: number): BrowserEvent[] => [
  at(us, 'IDBObjectStore::putRequestSetup', { args: { store_name: 'secret' } }),
  at(us + 1, 'IDBObjectStore::put', { ph: 'b', id2: { local: id } }),
  work(begun, 'Database::PutOperation', 5),
  at(us + dur, '', { ph: 'e', id2: { local: id } }),
];

/** A transaction of two puts, and two OPFS writes, as the browser reports them, unordered. */
const REPORTED: readonly BrowserEvent[] = [
  mark(),
  ...put(200, '0x1', 90, 230),
  ...put(220, '0x2', 100, 240),
  at(100, 'IDBDatabase::transaction'),
  file(300, 'Write', { dur: 7 }),
  file(320, 'Write', { ph: 'I', dur: undefined }), // shorter than the clock's resolution
  file(310, 'Write', { ph: 's' }), // a flow event of the same call
  work(260, 'Transaction::DoPendingCommit', 20),
  file(265, 'WriteAtCurrentPos', { pid: OTHER, tid: 9, dur: 4 }),
  file(270, 'Flush', { pid: OTHER, tid: 9, dur: 8 }),
  file(400, 'Write', { pid: OTHER, tid: 9 }), // another process
  at(150, 'IDBFactory::openRequestSetup'),
];

/** Our recording of the same calls. */
function recordedStore(
  capture: Partial<CaptureOptions> = {},
  extra?: (b: ThreadBuilder) => void,
): TraceStore {
  const store = newStore(ORIGIN);
  const b = new ThreadBuilder(store);
  b.say({
    ...{ kind: 'environment', id: 0, url: '', threadKind: 'worker', crossOriginIsolated: false },
    ...{ clockStepUs: 5, userAgent: '', hidden: null },
    capture: { ...CAPTURE_DEFAULTS, ...capture },
  } as Definition);
  b.idle(100);
  b.call('idbTransaction', { aux: 1, dur: 99 });
  b.call('idbPut', { dur: 20 });
  b.call('idbPut', { dur: 80 });
  b.call('opfsWrite', { length: 4096, result: 4096, dur: 20 });
  b.call('opfsWrite', { length: 4096, result: 4096, dur: 1 });
  extra?.(b);
  b.send();
  return store;
}
/** @param events additional ones that the browser reports */
function storeWith(
  events: readonly BrowserEvent[] = [],
  { isWhole = true, store = recordedStore() } = {},
): TraceStore {
  addBelowStorage(store, { events: [...REPORTED, ...events], isWhole });
  return store;
}
const checkOf = (store: TraceStore) => new Facts(store).get(callCheck)!;

describe("from the browser's trace events", () => {
  test('calls are assigned to their thread, and work to the browser', () => {
    const store = recordedStore();
    expect(addBelowStorage(store, { events: REPORTED, isWhole: true })).toBe(
      'took 10 storage events of the browser',
    );
    const { threads, kinds, us, durUs, clockErrorUs, lost } = store.below!;
    const nameOf = (i: number): unknown =>
      threads[i] === BROWSER ? BROWSER_WORK[kinds[i]!] : kinds[i];
    expect([...us].map((ts, i) => [ts, nameOf(i), threads[i], durUs[i]])).toEqual([
      [100, Op.idbTransaction, 0, -1],
      [200, Op.idbPut, 0, 90],
      [220, Op.idbPut, 0, 100],
      [230, 'put', BROWSER, 5],
      [240, 'put', BROWSER, 5],
      [260, 'commit', BROWSER, 20],
      [265, 'fileWrite', BROWSER, 4],
      [270, 'fileFlush', BROWSER, 8],
      [300, Op.opfsWrite, 0, 7],
      [320, Op.opfsWrite, 0, 0],
    ]);
    expect([clockErrorUs, lost]).toEqual([5, false]);
  });

  test('leave out those of another process, or of an earlier document', () => {
    const store = storeWith([file(330, 'Write', { pid: 8 }), file(-50, 'Write')]);
    expect(checkOf(store).verdict).toBe('equal');
  });

  test('a browser that sent none is reported', () => {
    const store = newStore();
    expect(addBelowStorage(store, { events: [], isWhole: true })).toBe(
      'took 0 storage events of the browser',
    );
    expect(store.below!.us).toHaveLength(0);
  });
});

describe('the check', () => {
  test('finds equal counts', () => {
    const check = checkOf(storeWith());
    expect(check).toEqual({
      ...{ verdict: 'equal', reported: 5, differences: [], after: 0, why: null },
    });
  });

  test.each<[string, BrowserEvent, RegExp]>([
    ['by code that the hook does not reach', file(330, 'Flush'), /hook doesn't reach/],
    ['on a thread that is not recorded', file(330, 'Flush', { tid: 4 }), /doesn't record/],
  ])('finds a call %s', (_where, event, why) => {
    const { verdict, differences } = checkOf(storeWith([event]));
    expect(verdict).toBe('different');
    expect(differences).toMatchObject([{ call: 'opfs.flush', recorded: 0, reported: 1 }]);
    expect(differences[0]!.why).toMatch(why);
  });

  test('finds calls that the browser does not report', () => {
    const read = (b: ThreadBuilder): void => {
      b.call('opfsRead');
      b.call('opfsWrite', { dur: 2 });
    };
    const { differences } = checkOf(storeWith([], { store: recordedStore({}, read) }));
    expect(differences.map(({ call, recorded, reported }) => [call, recorded, reported])).toEqual([
      ['opfs.read', 1, 0],
      ['opfs.write', 3, 2],
    ]);
    expect(differences[0]!.why).toMatch(/another name/);
  });

  test('finds that the browser reports none', () => {
    const store = recordedStore();
    addBelowStorage(store, { events: [mark()], isWhole: true });
    expect(checkOf(store)).toMatchObject({ verdict: 'different', reported: 0 });
  });

  test('names lost records as a cause', () => {
    const store = storeWith([file(330, 'Write')]);
    store.threads[0]!.dropped = 1;
    expect(checkOf(store).differences[0]!.why).toMatch(/lost/);
  });

  test("leaves out the app's calls while the browser's trace ends", () => {
    const on = (b: ThreadBuilder): void => {
      b.idle(5000);
      for (let i = 0; i < 5; i++) b.call('opfsWrite', { dur: 100 });
    };
    // it has seen the first two of the five
    const store = storeWith([file(5321, 'Write'), file(5421, 'Write')], {
      store: recordedStore({}, on),
    });
    expect(checkOf(store)).toMatchObject({ verdict: 'equal', reported: 5, after: 7 });
  });

  test("doesn't count the transaction of an upgrade", () => {
    const upgrade = (b: ThreadBuilder): void => void b.call('idbTransaction', { aux: 2 });
    expect(checkOf(storeWith([], { store: recordedStore({}, upgrade) })).verdict).toBe('equal');
  });

  test.each<[string, () => TraceStore, RegExp]>([
    ['events that the browser lost', () => storeWith([], { isWhole: false }), /room/],
    [
      'no layer of storage calls',
      () => storeWith([], { store: recordedStore({ layers: ['vfs'] }) }),
      /leaves storage calls out/,
    ],
    ['a cut', () => cutTo(storeWith(), [[0, 250]]).store, /cut to its marks/],
  ])('compares nothing with %s', (_what, made, why) => {
    const check = checkOf(made());
    expect(check).toMatchObject({ verdict: 'not compared', differences: [] });
    expect(check.why).toMatch(why);
  });

  test("is missing if the browser wasn't asked", () => {
    expect(new Facts(recordedStore()).get(callCheck)).toBeNull();
    expect(summaryOf(recordedStore())).not.toHaveProperty('belowStorage');
  });
});

describe('the time', () => {
  test('is summed by kind of work', () => {
    const { sums } = new Facts(storeWith()).get(belowStorage)!;
    expect(
      sums.map(({ work, calls, queuedUs, workUs, answerUs }) => [
        ...[work, calls, queuedUs, workUs, answerUs],
      ]),
    ).toEqual([
      ['opfs.write', 2, null, 7, null],
      ['IndexedDB put, add, update', 2, 50, 10, 190],
      ['IndexedDB commits', 1, null, 20, null],
      ['of these, files written', 1, null, 4, null],
      ['of these, files flushed', 1, null, 8, null],
    ]);
  });

  test("has no queue if the browser's work isn't only for these calls", () => {
    const store = storeWith([work(245, 'Database::PutOperation', 5)]);
    const { sums } = new Facts(store).get(belowStorage)!;
    expect(sums.find(({ work: name }) => name.includes('put'))).toMatchObject({
      ...{ calls: 2, queuedUs: null, workUs: 15 },
    });
  });

  test('is in the answer, the summary, and a table', () => {
    const store = storeWith([file(330, 'Flush')]);
    const facts = new Facts(store);
    const text = reportText(answerReport(answerOf(facts), 'a.vfst'));
    expect(text).toContain('Below storage');
    expect(text).toContain('opfs.flush: vfscope recorded 0, the browser 1.');
    expect(facts.get(badges).map(({ badge }) => badge)).toContain('Counts differ');
    expect(new Facts(storeWith()).get(badges).map(({ badge }) => badge)).not.toContain(
      'Counts differ',
    );
    expect(summaryOf(store).belowStorage!.check.verdict).toBe('different');
    const [{ rows, columns }] = belowTables as [(typeof belowTables)[number]];
    const all = facts.get(rows);
    const line = (i: number): unknown[] => Object.values(columns).map((c) => c.value(all.at(i)));
    expect(all.count).toBe(11);
    expect(line(1)).toEqual([0, 200, 90, 'page', 'idb.put']);
    expect(line(3)).toEqual([null, 230, 5, 'browser', 'put']);
  });
});

describe('on the timeline', () => {
  /** Label, start, and length of each interval of a track, microseconds. */
  const shown = (lanes: TimelineLanes, key: string): unknown[] => {
    const { settled, labelOf } = lanes.lane(key)!;
    return Array.from({ length: settled.count }, (_, i) => [
      labelOf!(settled.rowOf(i), settled.kind[i]!),
      ACTIVITIES[settled.kind[i]!],
      settled.startOf(i) / 1000,
      (settled.endOf(i) - settled.startOf(i)) / 1000,
    ]);
  };

  test("has a thread's calls, and the work of the browser's process once, with the newest on top", () => {
    const lanes = new TimelineLanes(storeWith());
    lanes.update(1000);
    const own = lanes.rows.filter(({ kind }) => kind === 'below');
    expect(own.map(({ key, of, events }) => [key, of, events])).toEqual([
      ['0:below1', undefined, 5],
      ['0:below2', "browser's process", 5],
    ]);
    expect(shown(lanes, '0:below1')).toEqual([
      ['idb.transaction', 'sync', 100, 0],
      ['idb.put', 'write', 200, 20],
      ['idb.put', 'write', 220, 80],
      ['opfs.write', 'write', 300, 7],
      ['idb.put', 'write', 307, 13],
      ['opfs.write', 'write', 320, 0],
    ]);
    expect(shown(lanes, '0:below2')).toEqual([
      ['put', 'write', 230, 5],
      ['put', 'write', 240, 5],
      ['commit', 'sync', 260, 5],
      ['fileWrite', 'write', 265, 4],
      ['commit', 'sync', 269, 1],
      ['fileFlush', 'sync', 270, 8],
      ['commit', 'sync', 278, 2],
    ]);
    const [frame] = lanes.frames(['0:below2'], 0, 1000, 1000);
    expect([...frame!.busy.subarray(229, 236)].map((busy) => busy > 0)).toEqual([
      ...[false, true, true, true, true, true, false],
    ]);
  });

  test("has none if the browser wasn't asked", () => {
    const lanes = new TimelineLanes(recordedStore());
    lanes.update(1000);
    expect(lanes.rows.filter(({ kind }) => kind === 'below')).toEqual([]);
    expect(lanes.lane('0:below1')).toBeUndefined();
  });
});

describe('in a file', () => {
  test('comes back unchanged, without any text of the app; a cut keeps its range', async () => {
    const store = storeWith();
    const bytes = new Uint8Array(await (await saveTrace(store)).arrayBuffer());
    const { store: back, warnings } = await readTrace(bytes);
    expect(warnings).toEqual([]);
    expect(back.below).toEqual(store.below);
    expect(JSON.stringify(packedBelow(store.below!))).not.toContain('secret');
    expect(sanitizeStore(store).below).toEqual(store.below);
    expect([...cutTo(store, [[0, 220]]).store.below!.us]).toEqual([100, 200, 220]);
  });

  const packed = packedBelow(storeWith().below!) as Record<string, unknown>;
  const list = (key: string): number[] => packed[key] as number[];
  const changed = (key: string, value: unknown): object => ({ [key]: value });
  test.each<[string, object]>([
    ['an event less', changed('us', list('us').slice(1))],
    [
      'time that goes back',
      changed(
        'us',
        list('us').map((_, i) => (i === 3 ? -1 : 1)),
      ),
    ],
    [
      'a time that no trace has',
      changed(
        'us',
        list('us').map(() => 2 ** 60),
      ),
    ],
    [
      'half a microsecond',
      changed(
        'durUs',
        list('durUs').map(() => 0.5),
      ),
    ],
    [
      'a duration below none',
      changed(
        'durUs',
        list('durUs').map(() => -2),
      ),
    ],
    [
      'a duration that no trace has',
      changed(
        'durUs',
        list('durUs').map(() => 2 ** 60),
      ),
    ],
    [
      'a thread before all',
      changed(
        'threads',
        list('threads').map(() => -3),
      ),
    ],
    [
      'a call that is none of storage',
      changed(
        'kinds',
        list('kinds').map(() => Op.sqlStep),
      ),
    ],
    [
      'a kind of work that is not there',
      changed(
        'threads',
        list('threads').map(() => BROWSER),
      ),
    ],
    ['too many', changed('us', Array<number>(300_001).fill(0))],
    ['no list', changed('threads', { length: 10 })],
  ])('%s is none', (_what, change) => {
    expect(checkedBelow(packed, (thread) => thread)).not.toBeNull();
    expect(checkedBelow({ ...packed, ...change }, (thread) => thread)).toBeNull();
  });

  test("is left out with a warning for a thread that the file doesn't describe", async () => {
    const store = storeWith();
    store.below!.threads.fill(5, 0, 1);
    const bytes = new Uint8Array(await (await saveTrace(store)).arrayBuffer());
    const { store: back, warnings } = await readTrace(bytes);
    expect(back.below).toBeNull();
    expect(warnings.join()).toContain('thread 5');
  });
});
