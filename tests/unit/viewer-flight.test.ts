// The flight recorder without a browser: it keeps the end of a full recording, whatever arrives
// late, and every trigger freezes it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Flag, Op } from '../../src/event/event.ts';
import { ThreadLanes } from '../../src/trace/lanes/lanes.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { TraceWriter } from '../../src/trace/file/write.ts';
import {
  cutOf,
  forgetBefore,
  forgetBlock,
  MAX_DEFINITIONS,
  ROW_BYTES,
  type Keep,
} from '../../src/trace/retention.ts';
import type { ThreadStore, TraceStore } from '../../src/trace/store.ts';
import {
  FLIGHT_DEFAULTS,
  flightOptionsOf,
  flightState,
  keepText,
} from '../../src/viewer/ui/flight-options.ts';
import { FREEZE_MARK, type FreezeOn, type Frozen } from '../../src/protocol/session.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { EventQuery } from '../../src/viewer/session/queries/event-query.ts';
import { detailsOfEvent, lineOfEvent } from '../../src/viewer/session/event-lines.ts';
import { Flight } from '../../src/viewer/session/flight.ts';
import { LiveCounts } from '../../src/viewer/session/live-stats.ts';
import { ThreadBuilder, batchOf, newStore } from '../traces/builder.ts';

/**
 * One step of a thread: a finished call, a call that goes on, the end of such a call, or a pause.
 */
interface Step {
  thread: number;
  what: 'call' | 'open' | 'end';
  us: number;
  send: boolean;
}
const steps = fc.array(
  fc.record<Step>({
    thread: fc.nat(2),
    what: fc.constantFrom('call', 'call', 'open', 'end'),
    us: fc.integer({ min: 0, max: 4000 }),
    send: fc.boolean(),
  }),
  { maxLength: 300 },
);

/** Plays the same steps into all stores. @param after called with the stores after each batch */
function play(list: readonly Step[], stores: TraceStore[], after: (endUs: number) => void): void {
  const infos = [0, 1, 2].map((i) => ({
    id: `t${i}`,
    kind: 'worker' as const,
    url: '',
    name: '',
    parent: null,
    timeOrigin: stores[0]!.originMs,
  }));
  const state = infos.map(() => ({
    now: 0,
    seq: 0,
    sent: 0,
    open: [] as number[],
    rows: [] as number[][],
  }));
  for (const store of stores) for (const info of infos) store.thread(info);
  let endUs = 0;
  for (const { thread, what, us, send } of list) {
    const s = state[thread]!;
    s.now += us;
    endUs = Math.max(endUs, s.now);
    const rest = [7, NaN, 512, 1, 0, 0, 3, 0];
    if (what === 'end') {
      const seq = s.open.shift();
      if (seq !== undefined)
        s.rows.push([s.now, s.now, seq, ++s.seq, Op.end | (Flag.async << 8), 0, ...rest.slice(1)]);
    } else {
      const seq = ++s.seq;
      const closed = what === 'call';
      if (!closed) s.open.push(seq);
      s.rows.push([s.now, s.now, seq, closed ? ++s.seq : 0, Op.xRead, ...rest]);
    }
    if (!send) continue;
    const batch = batchOf(infos[thread]!, s.sent, s.rows);
    s.sent += s.rows.length;
    s.rows = [];
    for (const store of stores)
      store.threadById(batch.thread)!.append({ ...batch, records: batch.records.slice(0) });
    after(endUs);
  }
}
const rowsOf = ({ events }: ThreadStore, from = 0): unknown[] =>
  Array.from({ length: events.count - from }, (_, i) => events.row(from + i));

describe('what it keeps', () => {
  it('is the end of the whole trace, to the event, whatever blocks were dropped on the way', () => {
    fc.assert(
      fc.property(
        steps,
        fc.constantFrom<Keep>(
          { kind: 'seconds', seconds: 0.02 },
          { kind: 'megabytes', megabytes: 0.0025 },
        ),
        (list, keep) => {
          const [whole, kept] = [newStore(), newStore()];
          let endUs = 0;
          let flip = false;
          play(list, [whole, kept], (end) => {
            endUs = end;
            if ((flip = !flip)) forgetBefore(kept, cutOf(kept, keep, end));
          });
          const cut = cutOf(kept, keep, endUs);
          forgetBefore(kept, cut);
          expect(kept.eventCount + kept.forgotten).toBe(whole.eventCount);
          if (keep.kind === 'megabytes')
            expect(kept.eventCount * ROW_BYTES).toBeLessThanOrEqual(keep.megabytes * 1e6);
          for (const [i, thread] of kept.threads.entries()) {
            const full = whole.threads[i]!;
            expect(rowsOf(thread)).toEqual(rowsOf(full, thread.forgotten));
            expect(thread.orphanEnds).toBe(0);
            expect(thread.received).toBe(full.received);
            if (keep.kind === 'seconds')
              expect(thread.forgotten).toBe(full.events.lowerBound(endUs - keep.seconds * 1e6));
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is the same in tracks, lists, details, and files as a trace that never was longer', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 40 }), async (list, ms) => {
        const store = newStore();
        const lanes = new Map<ThreadStore, ThreadLanes>();
        const query = new EventQuery(store);
        const live = new LiveCounts(store);
        const parts: Uint8Array<ArrayBuffer>[] = [];
        const spool = new TraceWriter(store, { write: (bytes) => void parts.push(bytes) });
        const appended: Promise<number>[] = [];
        play(list, [store], (endUs) => {
          for (const thread of store.threads) {
            if (!lanes.has(thread)) lanes.set(thread, new ThreadLanes(thread));
            lanes.get(thread)!.update(endUs);
          }
          live.counts(0, false);
          appended.push(spool.append());
          forgetBefore(store, endUs - ms * 1000);
        });
        const filter = { text: 'xread', layers: null, errorsOnly: false, fromUs: null, toUs: null };
        expect(query.run(new Facts(store), filter)).toBe(store.eventCount);
        for (let line = 0; line < query.count; line++) {
          const event = query.at(line);
          expect(query.lineOf(event)).toBe(line);
          expect(detailsOfEvent(store, event)).toMatchObject(event);
        }
        const { numbers, ...totals } = live.counts(0, false);
        expect(totals).toEqual({
          events: store.eventCount,
          seen: store.eventCount + store.forgotten,
        });
        expect(numbers.find(({ slot }) => slot === 'reads')!.value).toBe(
          store.threads.length ? store.eventCount : null,
        );
        for (const [thread, followed] of lanes) {
          followed.update(1e6);
          const fresh = new ThreadLanes(thread);
          fresh.update(1e6);
          const intervals = (of: ThreadLanes): unknown[] =>
            of.lanes.map(({ kind, events, settled, tail }) => [
              kind,
              events,
              ...[settled, tail].map((x) => [
                Array.from({ length: x.count }, (_, i) => [x.startOf(i), x.endOf(i)]),
                Array.from({ length: x.count }, (_, i) => x.rowOf(i)),
              ]),
            ]);
          expect(intervals(followed)).toEqual(intervals(fresh));
        }
        await Promise.all(appended);
        await spool.finish();
        const { store: read, warnings } = await readTrace(new Blob(parts));
        expect(warnings).toEqual([]);
        for (const [i, thread] of store.threads.entries()) {
          const back = read.threads[i];
          const from = (back?.events.count ?? 0) - thread.events.count;
          expect(from).toBeGreaterThanOrEqual(0); // the spool may have more, never less
          if (back) expect(rowsOf(back, from)).toEqual(rowsOf(thread));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is dropped in blocks, and the memory of a burst is released', () => {
    const store = newStore();
    const builder = new ThreadBuilder(store);
    const keep: Keep = { kind: 'seconds', seconds: 0.1 };
    let most = 0;
    let moves = 0;
    for (let batch = 0; batch < 300; batch++) {
      for (let i = 0; i < 1000; i++) builder.call('xRead', { dur: 10 });
      builder.send();
      if (forgetBlock(store, keep, builder.now)) moves++;
      most = Math.max(most, builder.thread.events.capacity);
    }
    expect(builder.thread.events.count).toBeLessThan(21_001); // 10,000 in 0.1 s, and a block
    expect(most).toBeLessThanOrEqual(32_768);
    expect(moves).toBeLessThan(50);
    expect(builder.thread.forgotten + builder.thread.events.count).toBe(300_000);
    builder.idle(1e6);
    builder.call('xRead');
    builder.send();
    expect(forgetBlock(store, keep, builder.now)).toBeGreaterThan(9000);
    expect(builder.thread.events.capacity).toBe(1024);
    expect(builder.thread.events.count).toBe(1);
  });

  it('drops definitions that no kept event uses, and keeps those in use and the newest', () => {
    const store = newStore();
    const builder = new ThreadBuilder(store);
    const old = builder.define({ kind: 'sql', text: 'SELECT old' });
    for (let i = 0; i < MAX_DEFINITIONS + 1000; i++)
      builder.call('sqlStep', { object: builder.define({ kind: 'sql', text: `SELECT ${i}` }) });
    const last = builder.call('sqlStep', { object: old });
    builder.send();
    const { thread } = builder;
    expect(forgetBefore(store, builder.now - 1.5)).toBe(MAX_DEFINITIONS + 1000);
    expect(thread.said.length).toBeLessThanOrEqual(MAX_DEFINITIONS / 2 + 1);
    expect(thread.definitions.size).toBe(thread.said.length);
    const row = thread.events.rowOfSeq(last);
    expect(lineOfEvent(thread, row).object).toBe('SELECT old');
    expect(() => detailsOfEvent(store, { thread: 0, seq: 1 })).toThrow('This event was dropped');
    expect(thread.saidSince(MAX_DEFINITIONS).definitions.length).toBe(1001);
  });
});

const nothing: FreezeOn = {
  busy: false,
  ioerr: false,
  corrupt: false,
  error: false,
  slowCommitMs: null,
};
const flightOf = (
  store: TraceStore,
  freezeOn: Partial<FreezeOn>,
  keep: Keep = { kind: 'seconds', seconds: 10 },
): Flight => new Flight(store, { keep, freezeOn: { ...nothing, ...freezeOn } });

/** Long after a failed call, so that no engine retries it. */
const LATER = 2_000_000;

/**
 * Records calls around one that should freeze the recording.
 * @returns its place, and what the flight recorder reported
 */
function tryTrigger(make: (b: ThreadBuilder, file: number) => number, freezeOn: Partial<FreezeOn>) {
  const store = newStore();
  const builder = new ThreadBuilder(store);
  const flight = flightOf(store, freezeOn);
  const file = builder.file('/app.db');
  for (let i = 0; i < 5; i++) builder.call('xRead', { object: file, result: i === 2 ? 522 : 0 });
  builder.call('xDelete', { object: file, result: 5898 });
  builder.call('xAccess', { object: file, result: 1 });
  builder.call('xSectorSize', { object: file, result: 4096 + 5 });
  builder.call('sqlStep', { object: file, result: 101 });
  const seq = make(builder, file);
  builder.call('xRead', { object: file });
  const lateEnds = builder.send();
  const frozen = flight.onBatch(builder.thread, 0, lateEnds, builder.now + LATER);
  return { frozen, seq };
}

describe('triggers', () => {
  const result =
    (code: number, op: 'xLock' | 'sqlStep' | 'xWrite' = 'xLock') =>
    (b: ThreadBuilder, object: number) =>
      b.call(op, { object, aux: 1, result: code });
  const cases: [string, Partial<FreezeOn>, ReturnType<typeof result>, string][] = [
    ['BUSY', { busy: true }, result(5), 'SQLITE_BUSY from xLock on /app.db'],
    [
      'BUSY_SNAPSHOT of a statement',
      { busy: true },
      result(517, 'sqlStep'),
      'SQLITE_BUSY_SNAPSHOT from sqlite3_step on /app.db',
    ],
    ['IOERR', { ioerr: true }, result(10, 'xWrite'), 'SQLITE_IOERR from xWrite on /app.db'],
    [
      'IOERR_WRITE',
      { ioerr: true },
      result(778, 'xWrite'),
      'SQLITE_IOERR_WRITE from xWrite on /app.db',
    ],
    [
      'CORRUPT_VTAB',
      { corrupt: true },
      result(267, 'sqlStep'),
      'SQLITE_CORRUPT_VTAB from sqlite3_step on /app.db',
    ],
    [
      'an exception',
      { error: true },
      (b) => b.call('error', { object: b.define({ kind: 'message', text: 'TypeError: no' }) }),
      'an exception of the page: TypeError: no',
    ],
    [
      'the mark',
      {},
      (b) => b.call('mark', { object: b.define({ kind: 'name', text: FREEZE_MARK }) }),
      `performance.mark('${FREEZE_MARK}')`,
    ],
  ];
  it.each(cases)('%s', (_name, freezeOn, make, text) => {
    const { frozen, seq } = tryTrigger(make, freezeOn);
    expect(frozen).toMatchObject({ text, seq, thread: 0 });
  });
  it.each(cases.slice(0, -1))('%s, not selected', (_name, _freezeOn, make) => {
    expect(tryTrigger(make, {}).frozen).toBeNull();
  });
  describe("a failure that doesn't reach the app", () => {
    /**
     * A statement or an attempt to open is refused as its xOpen or xLock is. The next call shows
     * whether the app learns of it.
     */
    function refused(next: (b: ThreadBuilder, call: () => void) => void, opens = false) {
      const store = newStore();
      const b = new ThreadBuilder(store);
      const flight = flightOf(store, { busy: true });
      const file = b.file('/app.db');
      const object = b.define({ kind: 'sql', text: 'SELECT 1' });
      let connection = 5;
      const call = (result = 5): void =>
        void b.call(
          opens ? 'sqlOpen' : 'sqlStep',
          { object, context: opens ? connection++ : 5, result },
          () => b.call(opens ? 'xOpen' : 'xLock', { object: file, context: 5, aux: 1, result }),
        );
      call();
      const told: (Frozen | null)[] = [];
      const send = (endUs = b.now): void => {
        const firstNew = b.thread.events.count;
        told.push(flight.onBatch(b.thread, firstNew, b.send(), endUs));
      };
      send();
      next(b, () => call(0));
      send();
      send(b.now + LATER);
      return told.map((frozen) => frozen && frozen.text);
    }
    const text = 'SQLITE_BUSY from xLock on /app.db';
    it('is one that the engine retries at once', () => {
      expect(refused((_, again) => again())).toEqual([null, null, null]);
      expect(refused((_, again) => again(), true)).toEqual([null, null, null]);
    });
    it("isn't one that is reset, or only repeated much later", () => {
      expect(refused((b) => b.call('sqlReset', { context: 5 }))).toEqual([null, text, null]);
      expect(refused((b, again) => (b.idle(LATER), again()))).toEqual([null, text, null]);
    });
    it("isn't one that nothing follows; another connection proves nothing", () => {
      expect(refused((b) => b.call('sqlReset', { context: 6 }))).toEqual([null, null, text]);
    });
    it('is a refusal within a statement that succeeds', () => {
      const all = { busy: true, ioerr: true };
      const inside = (b: ThreadBuilder, object: number): number =>
        b.call('sqlStep', { result: 101 }, () => {
          for (const result of [5, 0]) b.call('xLock', { object, aux: 1, result });
        });
      expect(tryTrigger(inside, all).frozen).toBeNull();
    });
  });
  it("another mark, and results that aren't failures", () => {
    const all = { busy: true, ioerr: true, corrupt: true, error: true };
    expect(
      tryTrigger(
        (b) => b.call('mark', { object: b.define({ kind: 'name', text: 'vfscope' }) }),
        all,
      ).frozen,
    ).toBeNull();
  });

  /** A transaction whose COMMIT takes `us`, with SQL recorded or not. */
  function commit(b: ThreadBuilder, file: number, us: number, sql: boolean): void {
    const body = (): void => {
      b.call('xLock', { object: file, aux: 1 });
      b.call('xLock', { object: file, aux: 2 });
      b.call('xWrite', { object: file, offset: 0, length: 4096 });
      b.call('xSync', { object: file, dur: us });
      b.call('xFileControl', { object: file, aux: 22 });
      b.call('xUnlock', { object: file, aux: 0 });
    };
    if (sql) b.call('sqlStep', { object: b.define({ kind: 'sql', text: 'COMMIT' }) }, body);
    else body();
  }
  it.each([true, false])(
    'a commit slower than the limit, and no faster one (SQL recorded: %s)',
    (sql) => {
      const store = newStore();
      const builder = new ThreadBuilder(store);
      const flight = flightOf(store, { slowCommitMs: 100 });
      const file = builder.file('/app.db');
      const send = () => {
        const firstNew = builder.thread.events.count;
        return flight.onBatch(builder.thread, firstNew, builder.send(), builder.now);
      };
      for (let i = 0; i < 20; i++) {
        commit(builder, file, 90_000, sql);
        expect(send()).toBeNull();
        // a reported freeze isn't reported again
        if (i === 10) forgetBefore(store, builder.now - 300_000);
      }
      const before = builder.now;
      commit(builder, file, 110_000, sql);
      const frozen = send()!;
      expect(frozen.text).toMatch(/^a commit that took 110 ms, more than 100 ms$/);
      expect(frozen.atUs).toBeGreaterThanOrEqual(before);
      expect(detailsOfEvent(store, frozen).name).toBe(sql ? 'sqlite3_step' : 'xLock');
    },
  );

  it('a late end counts, the first trigger wins, and the frozen trace has it and what was before', () => {
    for (const keep of [
      { kind: 'seconds', seconds: 0.05 },
      { kind: 'megabytes', megabytes: 0.031 },
    ] as const) {
      const store = newStore();
      const b = new ThreadBuilder(store);
      const flight = flightOf(store, { busy: true }, keep);
      for (let i = 0; i < 1000; i++) b.call('xRead', { dur: 100 });
      const open = b.call('sqlStep', { open: true });
      b.send();
      flight.onBatch(b.thread, 0, [], b.now);
      expect(flight.trim(b.now)).toBe(0); // a block that small isn't worth it
      for (let i = 0; i < 1000; i++) b.call('xRead', { dur: 20 });
      const rows = b.thread.events.rowOfSeq(open);
      const first = b.thread.events.count;
      b.thread.events.endSeq[rows] = 0xffff;
      b.thread.events.result[rows] = 5;
      b.send();
      const frozen = flight.onBatch(b.thread, first, [rows], b.now + LATER)!;
      expect(frozen).toMatchObject({ text: 'SQLITE_BUSY from sqlite3_step', seq: open });
      flight.cut(b.now, frozen);
      const { events, forgotten } = b.thread;
      expect(forgotten).toBeGreaterThan(400);
      expect(events.rowOfSeq(open)).toBe(rows - forgotten);
      if (keep.kind === 'seconds') expect(events.t0[0]).toBeCloseTo(frozen.atUs - 50_000, 3);
      // while it is among the kept events, another trigger freezes nothing; after that it does
      const again = (idle: number): Frozen | null => {
        b.idle(idle);
        b.call('mark', { object: b.define({ kind: 'name', text: FREEZE_MARK }), dur: 0 });
        for (let i = 0; i < 600; i++) b.call('xRead', { dur: 20 });
        const before = b.thread.events.count;
        return flight.onBatch(b.thread, before, b.send(), b.now);
      };
      if (keep.kind === 'seconds') expect(again(0)).toBeNull();
      expect(again(60_000)).toMatchObject({ text: `performance.mark('${FREEZE_MARK}')` });
      expect(flight.finish(b.now)).toBeGreaterThan(0);
      expect(flight.finish(b.now + 1e9)).toBe(0);
    }
  });
});

describe('the controls', () => {
  it('describe what is sent to the session', () => {
    expect(flightOptionsOf(FLIGHT_DEFAULTS)).toBeNull();
    expect(flightOptionsOf({ ...FLIGHT_DEFAULTS, kind: 'seconds', seconds: 0 })).toEqual({
      keep: { kind: 'seconds', seconds: 1 },
      freezeOn: { busy: true, ioerr: true, corrupt: true, error: true, slowCommitMs: null },
    });
    const many = flightOptionsOf({
      ...FLIGHT_DEFAULTS,
      kind: 'megabytes',
      megabytes: NaN,
      slow: true,
      slowCommitMs: -1,
    })!;
    expect(many).toMatchObject({ keep: { megabytes: 50 }, freezeOn: { slowCommitMs: 0 } });
    expect([keepText(many.keep), keepText({ kind: 'seconds', seconds: 5 })]).toEqual([
      '50 MB',
      '5 s',
    ]);
    expect(flightState(null)).toBeNull();
  });
});
