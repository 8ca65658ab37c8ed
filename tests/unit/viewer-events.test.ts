// The Events view: conditions on columns compared with a check of every event, amounts as people
// type them, copies and CSV of rows.
import { describe, expect, it } from 'vitest';
import { csv } from '../../src/formats/csv.ts';
import { isFailure, objectName, resultText } from '../../src/trace/describe.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import { opName } from '../../src/event/operations.ts';
import { Exports } from '../../src/viewer/session/exports.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { EventQuery } from '../../src/viewer/session/queries/event-query.ts';
import { lineOfEvent } from '../../src/viewer/session/event-lines.ts';
import type { EventWhere } from '../../src/protocol/session.ts';
import { settingsOf } from '../../src/viewer/ui/settings.ts';
import { bytesOf, durationOf, pageOf } from '../../src/viewer/ui/views/events/amounts.ts';
import { tsvCell } from '../../src/viewer/ui/parts/tsv.ts';
import { EVENT_VIEW_COLUMNS, shownColumns, tsv } from '../../src/viewer/ui/views/events/columns.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { pageAccessesOf } from '../traces/analyses.ts';

const PAGE = 4096;
/**
 * Reads and writes of pages 1 to 12, an OPFS handle that transfers less than requested, a busy
 * lock, a call without an end.
 */
function trace(): TraceStore {
  const store = newStore();
  const [a, b] = [new ThreadBuilder(store, { name: 'a' }), new ThreadBuilder(store, { name: 'b' })];
  const db = a.file('/app.db');
  const opfs = b.define({ kind: 'opfs-file', path: '/other.bin' });
  for (let i = 0; i < 12; i++) {
    a.call('xRead', {
      object: db,
      offset: i * PAGE,
      length: PAGE,
      dur: 10 * (i + 1),
      result: i === 11 ? 522 : 0,
    });
    a.call('xWrite', { object: db, offset: i * PAGE, length: PAGE, dur: 5 });
    b.call('opfsRead', { object: opfs, offset: i * 100, length: 8192, result: i * 1000, dur: 7 });
  }
  a.call('xLock', { object: db, aux: 2, result: 5 });
  a.call('xSync', { object: db, open: true });
  a.send();
  b.send();
  return store;
}
const anything: EventWhere = {
  thread: null,
  op: null,
  object: '',
  result: '',
  leastUs: null,
  leastBytes: null,
  page: null,
};
const run = (store: TraceStore, where: Partial<EventWhere>): string[] => {
  const query = new EventQuery(store);
  const n = query.run(new Facts(store), {
    text: '',
    layers: null,
    errorsOnly: false,
    fromUs: null,
    toUs: null,
    where: { ...anything, ...where },
  });
  return Array.from({ length: n }, (_, line) => query.at(line)).map(
    ({ thread, seq }) => `${thread}:${store.threads[thread]!.events.rowOfSeq(seq)}`,
  );
};
const all = (store: TraceStore, test: (thread: number, row: number) => boolean): string[] =>
  store.threads.flatMap(({ index, events }) =>
    Array.from({ length: events.count }, (_, row) => row)
      .filter((row) => test(index, row))
      .map((row) => `${index}:${row}`),
  );

describe('a time range', () => {
  /**
   * Rows of the calls that overlap [fromUs, toUs): one that ended at 10, one that began at 10 and
   * has not ended.
   */
  const within = (ended: string | null, fromUs: number, toUs: number): number[] => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    t.call('xRead', { dur: 10 });
    t.call('xSync', { open: true });
    t.idle(40);
    t.call('xRead', { dur: 50 });
    t.send();
    t.thread.ended = ended;
    const query = new EventQuery(store);
    const n = query.run(new Facts(store), {
      text: '',
      layers: null,
      errorsOnly: false,
      fromUs,
      toUs,
    });
    return Array.from({ length: n }, (_, line) => t.thread.events.rowOfSeq(query.at(line).seq));
  };
  it('includes calls that still run in it', () => {
    expect(within(null, 20, 40)).toEqual([1]);
    expect(within(null, 1000, 2000)).toEqual([1]);
    expect(within(null, 0, 5)).toEqual([0]);
  });
  it('includes those of a closed thread until it closed', () => {
    expect(within('pagehide', 20, 40)).toEqual([1]);
    expect(within('pagehide', 1000, 2000)).toEqual([]);
  });
});

describe('conditions on columns', () => {
  const store = trace();
  const [ta, tb] = store.threads;
  const e = (thread: number) => store.threads[thread]!.events;
  const cases: [string, Partial<EventWhere>, (thread: number, row: number) => boolean, number][] = [
    ['nothing asked', {}, () => true, 38],
    ['thread', { thread: 1 }, (t) => t === 1, 12],
    ['operation', { op: 'xRead' }, (t, row) => opName(e(t).op[row]!) === 'xRead', 12],
    [
      'file, any case',
      { object: ' OTHER' },
      (t, row) => objectName(store.threads[t]!, e(t).object[row]!) === '/other.bin',
      12,
    ],
    [
      'result in words',
      { result: 'busy' },
      (t, row) => resultText(e(t).op[row]!, e(t).result[row]!, 0) === 'SQLITE_BUSY',
      1,
    ],
    [
      'result as a number',
      { result: '522' },
      (t, row) => e(t).result[row] === 522 && e(t).endSeq[row] !== 0,
      1,
    ],
    ['no error, and ended', { result: '0', op: 'xSync' }, () => false, 0],
    ['duration', { leastUs: 100 }, (t, row) => e(t).endSeq[row] !== 0 && e(t).dur[row]! >= 100, 3],
    [
      'bytes moved, not asked for',
      { leastBytes: 5000, thread: 1 },
      (t, row) => t === 1 && e(t).result[row]! >= 5000,
      7,
    ],
    ['page', { page: 3 }, (t, row) => t === 0 && row < 24 && e(t).offset[row] === 2 * PAGE, 2],
    ['a page that nobody touched', { page: 99 }, () => false, 0],
    [
      'several together',
      { op: 'xWrite', page: 3, leastBytes: PAGE },
      (t, row) => t === 0 && row === 5,
      1,
    ],
  ];
  it.each(cases)('%s', (_, where, test, count) => {
    const expected = all(store, test);
    expect(expected).toHaveLength(count);
    expect(run(store, where).sort()).toEqual(expected.sort());
  });
  it("a thread that doesn't exist has no events", () => {
    expect(run(store, { thread: 7 })).toEqual([]);
    expect([ta!.events.count, tb!.events.count]).toEqual([26, 12]);
    expect(pageAccessesOf(store).count).toBe(24);
    expect(isFailure(ta!.events.op[24]!, 5, 0)).toBe(true);
  });
});

it('amounts as people type them', () => {
  expect(
    ['', ' ', '5', '5 ms', '200us', '1.5 s', '1,5s', '2 min', '10 ns', '3 µs'].map(durationOf),
  ).toEqual([null, null, 5000, 5000, 200, 1.5e6, 1.5e6, 120e6, 0.01, 3]);
  expect(['', '4096', '64 KiB', '1m', '2 GB', '1.5k'].map(bytesOf)).toEqual([
    null,
    4096,
    65536,
    2 ** 20,
    2 ** 31,
    1536,
  ]);
  expect(['', '1', ' 42 '].map(pageOf)).toEqual([null, 1, 42]);
  expect([
    ...['fast', '5 h', '-1', '1e9', '5 constructor'].map(durationOf),
    ...['0', '-1', '1.5', 'x'].map(pageOf),
    bytesOf('4 pages'),
  ]).toEqual(new Array(10).fill(undefined));
});

describe('columns', () => {
  const keys = (columns: { key: string }[]): string[] => columns.map(({ key }) => key);
  it('are the selected ones, in their own order, or else those that fit', () => {
    expect(keys(shownColumns(['result', 'time', 'no such'], true, true))).toEqual([
      'time',
      'result',
    ]);
    expect(keys(shownColumns(['no such'], false, true))).toEqual([
      'time',
      'duration',
      'call',
      'object',
      'result',
    ]);
    expect(keys(shownColumns(null, false, false))).not.toContain('thread');
    expect(keys(shownColumns(null, true, false))).toContain('thread');
    expect(new Set(keys([...EVENT_VIEW_COLUMNS])).size).toBe(EVENT_VIEW_COLUMNS.length);
  });
  it("a duration below the clock's step is shown as such, and a missing one is empty", () => {
    const store = newStore();
    const a = new ThreadBuilder(store);
    const db = a.file('/app.db');
    a.call('xRead', { object: db, dur: 0 });
    a.call('xRead', { object: db, dur: 300 });
    a.call('threadStart', { dur: 0 });
    a.call('xSync', { object: db, open: true });
    a.send();
    a.thread.environment = {
      url: 'https://app.example/',
      threadKind: 'worker',
      crossOriginIsolated: false,
      clockStepUs: 100,
      userAgent: '',
      hidden: null,
      capture: CAPTURE_DEFAULTS,
    };
    const { text } = EVENT_VIEW_COLUMNS.find(({ key }) => key === 'duration')!;
    expect([0, 1, 2, 3].map((row) => text(lineOfEvent(store.threads[0]!, row), ''))).toEqual([
      '< 100 µs',
      '300 µs',
      '',
      'open',
    ]);
  });
  it('are stored as a list of short texts, or not at all', () => {
    expect(
      [settingsOf({}), settingsOf({ eventColumns: 'time' }), settingsOf({ eventColumns: [7] })].map(
        (s) => s.eventColumns,
      ),
    ).toEqual([null, null, null]);
    expect(settingsOf({ eventColumns: ['time', 3, 'x'.repeat(65), 'call'] }).eventColumns).toEqual([
      'time',
      'call',
    ]);
  });
});

describe('rows that leave the panel', () => {
  it('are copied as cells without tabs, line breaks, or formulas', () => {
    expect(['a\tb\r\nc', '=1+1', '-5', '-5.25', '@x', '+x', '-x', ''].map(tsvCell)).toEqual([
      'a b c',
      "'=1+1",
      '-5',
      '-5.25',
      "'@x",
      "'+x",
      "'-x",
      '',
    ]);
    const store = trace();
    const lines = [lineOfEvent(store.threads[0]!, 0), lineOfEvent(store.threads[1]!, 3)];
    const columns = EVENT_VIEW_COLUMNS.filter(({ key }) =>
      ['time', 'duration', 'thread', 'call', 'object', 'length', 'result'].includes(key),
    );
    expect(tsv(lines, columns, ['=first', 'second'])).toBe(
      "Time\tDuration\tThread\tCall\tFile or store\tLength\tResult\n0\t10\t'=first\txRead\t/app.db\t4096\t0\n21\t7\tsecond\tread\t/other.bin\t8192\t3000\n".replace(
        'read\t/other.bin',
        `${lines[1]!.name}\t/other.bin`,
      ),
    );
  });
  it("have the same CSV as the trace, row by row in the filter's order", async () => {
    const store = trace();
    let whole = '';
    for await (const piece of csv(store)) whole += piece;
    const query = new EventQuery(store);
    query.run(new Facts(store), {
      text: 'xread',
      layers: null,
      errorsOnly: false,
      fromUs: null,
      toUs: null,
    });
    const exports = new Exports();
    const some = await (await exports.runLines(store, query.slice(2, 3), () => undefined)).text();
    const rows = whole.trimEnd().split('\n');
    expect(rows).toHaveLength(39);
    expect(some.trimEnd().split('\n')).toEqual([rows[0], rows[1 + 4], rows[1 + 6], rows[1 + 8]]);
    const none = await (
      await exports.runLines(
        store,
        { thread: Uint16Array.of(9, 0), row: Uint32Array.of(0, 999) },
        () => undefined,
      )
    ).text();
    expect(none.trimEnd()).toBe(rows[0]);
    expect(exports.done).toBeNull();
  });
});

it('shows what a database header revealed, only for the calls that read it', () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const [db, wal] = [t.file('/app.db'), t.file('/app.db-wal', 'wal')];
  t.call('xWrite', { object: db, offset: 0, length: PAGE, aux: 7, aux2: 5 });
  t.call('xRead', { object: db, offset: 24, length: 16, aux: 8, aux2: 1 });
  t.call('xRead', { object: db, offset: 0, length: PAGE, aux: 99, aux2: 0 }); // encrypted
  t.call('xWrite', { object: db, offset: PAGE, length: PAGE, aux2: 13 });
  t.call('xWrite', { object: wal, offset: 0, length: 24, aux: 3 });
  t.send();
  const details = Array.from({ length: 5 }, (_, row) => lineOfEvent(t.thread, row).detail);
  expect(details).toEqual(['change counter 7', 'change counter 8, 1 free page', '', '', '']);
});
