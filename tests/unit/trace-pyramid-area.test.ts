// What the timeline shows of an area and of a file's map, compared with plain scans. Notes saved in
// a file, and those of hostile files.
import { describe, expect, it } from 'vitest';
import { areaRows } from '../../src/analysis/time/area.ts';
import { addSelfTimes, selfTimeOf } from '../../src/analysis/time/self-times.ts';
import { sweeps } from '../../src/analysis/time/thread-times.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { Durations } from '../../src/analysis/core/durations.ts';
import { ioAt, ioMap } from '../../src/analysis/files/io-map.ts';
import { Op } from '../../src/event/event.ts';
import { isStatementOp, OPS, opName } from '../../src/event/operations.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { checkedAnnotations, MAX_NOTES } from '../../src/trace/notes.ts';
import { Session } from '../../src/viewer/session/session.ts';
import { ownersOf } from '../../src/trace/owners.ts';
import { ThreadBuilder, newStore } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { ioObjects } from '../traces/analyses.ts';

const store = syntheticStore({ events: 20_000, clockStepUs: 5 });
const [begin, end] = store.extent();
const statements = (thread: (typeof store.threads)[number]): Uint32Array =>
  ownersOf(thread).texts();

describe('the statement that a call serves', () => {
  it('is the same for one call and for all, however deeply calls are nested', () => {
    const t = new ThreadBuilder(newStore());
    const nest = (depth: number): void =>
      void t.call('xRead', { dur: 10 }, depth ? () => nest(depth - 1) : undefined);
    t.call('sqlStep', { object: t.define({ kind: 'sql', text: 'SELECT 1' }), dur: 10 }, () =>
      nest(100),
    );
    t.send();
    const { thread } = t;
    const owners = ownersOf(thread);
    const all = Array.from({ length: 102 }, (_, row) => owners.statement(row));
    expect(new Set(all)).toEqual(new Set([0]));
  });
});

describe('percentiles', () => {
  it('are accurate to 0.8 %, whatever the durations', () => {
    const all = Array.from({ length: 5000 }, (_, i) => 0.004 * 1.004 ** i);
    const durations = new Durations();
    all.forEach((us) => durations.add(us));
    for (const share of [0.01, 0.5, 0.95, 1]) {
      const exact = all[Math.ceil(share * all.length) - 1]!;
      expect(Math.abs(durations.percentile(share) / exact - 1)).toBeLessThan(0.0082);
    }
    expect(new Durations().percentile(0.5)).toBeNaN();
    const zeros = new Durations();
    [0, 0, 0, 8].forEach((us) => zeros.add(us));
    expect([zeros.percentile(0.5), zeros.percentile(1)]).toEqual([0, 8]);
  });
});

describe('an area', () => {
  const layers = ['sql', 'vfs', 'web'] as const;
  for (const [from, to] of [
    [begin, end + 1],
    [begin + (end - begin) * 0.4, begin + (end - begin) * 0.6],
  ] as const)
    it(`counts calls by operation and cuts them at its ends: ${from.toFixed(0)}..${to.toFixed(0)}`, () => {
      const expected = new Map<string, { count: number; ns: number; bytes: number; max: number }>();
      for (const { events } of store.threads)
        for (let row = 0; row < events.count; row++) {
          const [t0, dur, op] = [events.t0[row]!, events.dur[row]!, events.op[row]!];
          if (
            t0 >= to ||
            (t0 < from && t0 + dur <= from) ||
            !layers.includes(OPS[op]!.layer as 'sql')
          )
            continue;
          const sum = expected.get(opName(op)) ?? { count: 0, ns: 0, bytes: 0, max: 0 };
          expected.set(opName(op), sum);
          sum.count++;
          sum.ns += Math.round((Math.min(to, t0 + dur) - Math.max(from, t0)) * 1000);
          sum.max = Math.max(sum.max, dur);
          if (op === Op.xRead || op === Op.xWrite) sum.bytes += events.length[row]!;
        }
      const rows = areaRows(
        store,
        { fromUs: from, toUs: to, by: 'operation', threads: null, layers },
        end,
        statements,
      );
      expect(
        new Map(
          rows.map((r) => [
            r.name,
            { count: r.count, ns: Math.round(r.totalUs), bytes: r.bytes, max: r.maxUs },
          ]),
        ),
      ).toEqual(
        new Map([...expected].map(([name, e]) => [name, { ...e, ns: Math.round(e.ns / 1000) }])),
      );
      expect(rows.length).toBeGreaterThan(4);
      for (const { longest, maxUs } of rows)
        expect(
          store.threads[longest.thread]!.events.dur[
            store.threads[longest.thread]!.rowOf(longest.seq)
          ],
        ).toBe(maxUs);
    });

  it('gives a statement the bytes of the VFS calls made for it', () => {
    const expected = new Map<string, number>();
    for (const thread of store.threads)
      for (let row = 0; row < thread.events.count; row++) {
        const op = thread.events.op[row]!;
        if (op !== Op.xRead && op !== Op.xWrite) continue;
        let at = row;
        while (at >= 0 && !isStatementOp(thread.events.op[at]!)) at = thread.events.parentRow(at);
        const text = at < 0 ? null : thread.definitions.get(thread.events.object[at]!);
        if (text?.kind === 'sql')
          expected.set(text.text, (expected.get(text.text) ?? 0) + thread.events.length[row]!);
      }
    const rows = areaRows(
      store,
      { fromUs: begin, toUs: end + 1, by: 'statement', threads: null, layers: [] },
      end,
      statements,
    );
    expect(new Map(rows.filter((r) => r.bytes).map((r) => [r.name, r.bytes]))).toEqual(expected);
    expect(expected.size).toBeGreaterThan(1);
  });

  it('gives spellings of one statement one row, named after the first', () => {
    const made = newStore();
    const texts = ['SELECT a  FROM t', 'select a from T -- again', 'SELECT b FROM t'];
    for (const spelled of [texts, [...texts].reverse()]) {
      const t = new ThreadBuilder(made);
      for (const text of spelled)
        t.call('sqlStep', { object: t.define({ kind: 'sql', text }), dur: 10 });
      t.send();
    }
    const facts = new Facts(made);
    const range = { fromUs: 0, toUs: 100 };
    const rows = areaRows(
      made,
      { ...range, by: 'statement', threads: null, layers: [] },
      100,
      statements,
    );
    expect(rows.map((r) => [r.name, r.count, r.totalUs])).toEqual([
      ['SELECT a  FROM t', 4, 40],
      ['SELECT b FROM t', 2, 20],
    ]);
    const self = new Map<string, number>();
    for (const thread of made.threads)
      addSelfTimes(self, thread, facts.get(sweeps).of(thread), 'statement', range);
    expect(rows.map((row) => selfTimeOf(self, row))).toEqual([40, 20]);
  });

  it('includes only checked threads, and calls that never ended up to the end', () => {
    const made = newStore();
    const [a, b] = [new ThreadBuilder(made), new ThreadBuilder(made)];
    a.call('xRead', { dur: 10 });
    a.call('xLock', { open: true });
    b.call('xRead', { dur: 30 });
    a.send();
    b.send();
    const rows = (threads: number[] | null): [string, number, number][] =>
      areaRows(
        made,
        { fromUs: 0, toUs: 100, by: 'operation', threads, layers: ['vfs'] },
        60,
        () => new Uint32Array(9),
      ).map((r) => [r.name, r.count, r.totalUs]);
    expect(rows([0])).toEqual([
      ['xRead', 1, 10],
      ['xLock', 1, 50],
    ]);
    expect(rows([1])).toEqual([['xRead', 1, 30]]);
    expect(rows(null)[0]).toEqual(['xRead', 2, 40]);
  });
});

describe('the I/O map', () => {
  it('has a cell for every read and write of the file, and a line for every sync', async () => {
    const key = 'main-db /app.db';
    const object = ioObjects(store).find((o) => o.key === key)!;
    const [width, height] = [200, 40];
    let rests = 0;
    const map = await ioMap(
      store,
      { key, fromUs: begin, toUs: end + 1, width, height, end: object.end },
      () => Promise.resolve(void rests++),
    );
    const reads = new Set<number>();
    const counts = { reads: 0, writes: 0, syncs: 0, end: 0 };
    for (const { events } of store.threads)
      for (let row = 0; row < events.count; row++) {
        if (events.object[row] !== 1) continue;
        const op = events.op[row];
        if (op === Op.xSync) counts.syncs++;
        if (op !== Op.xRead && op !== Op.xWrite) continue;
        counts[op === Op.xRead ? 'reads' : 'writes']++;
        counts.end = Math.max(counts.end, events.offset[row]! + events.length[row]!);
        if (op !== Op.xRead) continue;
        const x = Math.floor(((events.t0[row]! - begin) / (end + 1 - begin)) * width);
        reads.add(
          (height - 1 - Math.floor((events.offset[row]! / object.end) * height)) * width + x,
        );
      }
    expect({
      reads: object.reads,
      writes: object.writes,
      syncs: object.syncs,
      end: object.end,
    }).toEqual(counts);
    expect(reads.size).toBeGreaterThan(100);
    for (const cell of reads) expect(map.reads[cell]).toBeGreaterThan(0);
    expect(map.syncs.reduce((a, b) => a + b, 0)).toBe(counts.syncs);
    const row = store.threads[0]!.events.op.indexOf(Op.xRead);
    const { events } = store.threads[0]!;
    const found = ioAt(store, key, {
      us: events.t0[row]!,
      slackUs: 0.5,
      offset: events.offset[row]! + 10,
      slack: 1,
    })!;
    expect(events.offset[found.row]).toBe(events.offset[row]);
    expect(ioAt(store, key, { us: begin - 1e6, slackUs: 1, offset: 0, slack: 1 })).toBeNull();
    await expect(
      ioMap(store, { key, fromUs: 0, toUs: 1, width: 1e6, height: 1e6, end: 1 }, () =>
        Promise.resolve(),
      ),
    ).rejects.toThrow(/cells/);
  });
});

describe('notes', () => {
  it("are saved in the trace's file and read again, with the setup of tracks", async () => {
    const b = new ThreadBuilder(newStore());
    b.call('xRead');
    b.send();
    b.store.annotations = checkedAnnotations({
      notes: [
        { fromUs: 9, toUs: 5, text: 'later' },
        { fromUs: 1, toUs: 1, text: '' },
      ],
      lanes: { hidden: ['kind:wal'], pinned: ['0:vfs'], order: [] },
    });
    const { store: read, warnings } = await readTrace(await saveTrace(b.store));
    expect(warnings).toEqual([]);
    expect(read.annotations).toEqual({
      notes: [
        { id: 1, fromUs: 1, toUs: 1, text: '' },
        { id: 2, fromUs: 5, toUs: 9, text: 'later' },
      ],
      lanes: { hidden: ['kind:wal'], pinned: ['0:vfs'], order: [] },
    });
  });
  it('from a hostile file are cut or left out', () => {
    const { notes, lanes } = checkedAnnotations({
      notes: [
        null,
        7,
        { fromUs: 'x', toUs: 1 },
        { fromUs: Infinity, toUs: 1 },
        ...Array.from({ length: 2000 }, () => ({ fromUs: 1, toUs: 2, text: 'x'.repeat(10_000) })),
      ],
      lanes: { hidden: [1, 'a'.repeat(100), 'ok'], pinned: 'no', order: null },
    });
    expect(notes.length).toBeLessThanOrEqual(MAX_NOTES);
    expect(notes.length).toBeGreaterThan(900);
    expect(Math.max(...notes.map((n) => n.text.length))).toBe(4000);
    expect(lanes).toEqual({ hidden: ['ok'], pinned: [], order: [] });
  });
});

describe("the timeline's queries", () => {
  it('search, step through hits, and find neighbors and arrows, in a session', async () => {
    const made = newStore();
    const b = new ThreadBuilder(made);
    const sql = b.define({ kind: 'sql', text: 'INSERT INTO note VALUES (?)' });
    const file = b.file('/app.db');
    for (let i = 0; i < 50; i++) {
      b.call('sqlStep', { object: sql, dur: 10 }, () => {
        b.call('xWrite', { object: file, offset: i * 4096, length: 4096, dur: 5 }, () =>
          b.call('opfsWrite', { result: 4096, dur: 3 }),
        );
        b.call('xSync', { object: file, dur: 5 });
      });
      b.idle(100);
    }
    b.send();
    const session = new Session(() => undefined);
    await session.open(await saveTrace(made), 'x');
    const args = {
      text: 'xsync',
      fromUs: 0,
      toUs: 1000,
      width: 100,
      wholeFromUs: 0,
      wholeToUs: b.now,
    };
    const found = await session.query('timelineSearch', {
      ...args,
      selected: b.thread.ref(3),
    });
    expect([found.count, found.at]).toEqual([50, 0]);
    const begins = Array.from({ length: 50 }, (_, i) => b.thread.events.t0[i * 4 + 3]!);
    expect([...found.inView]).toEqual(begins.filter((us) => us <= 1000));
    expect([...found.overview]).toEqual(begins);
    const next = (from: number | null, by: 1 | -1): Promise<unknown> =>
      session.query('timelineHit', {
        text: 'xsync',
        from: from === null ? null : b.thread.ref(from),
        us: 0,
        by,
      });
    expect(await next(3, 1)).toEqual(b.thread.ref(7));
    expect(await next(3, -1)).toEqual(b.thread.ref(199));
    expect(await next(null, 1)).toEqual(b.thread.ref(3));
    expect(
      await session.query('timelineHit', { text: 'nothing', from: null, us: 0, by: 1 }),
    ).toBeNull();
    expect(await session.query('timelineNeighbor', { ...b.thread.ref(1), by: 1 })).toEqual(
      b.thread.ref(3),
    );
    expect(await session.query('timelineNeighbor', { ...b.thread.ref(0), by: -1 })).toBeNull();
    const { flows, calls, cause, effect } = await session.query('timelineFlows', b.thread.ref(0));
    expect([calls, cause, effect]).toEqual([1, null, b.thread.ref(2)]);
    const back = await session.query('timelineFlows', b.thread.ref(2));
    expect([back.cause, back.effect]).toEqual([b.thread.ref(0), null]);
    const us = b.thread.events.t0[2]!;
    expect(flows).toEqual([{ from: { lane: '0:sql', us }, to: { lane: '0:web', us }, kind: 'io' }]);
    expect((await session.query('timelineFlows', { thread: 9, seq: 1 })).flows).toEqual([]);
    const { trace } = await session.query('annotations', {});
    await session.query('setAnnotations', {
      trace,
      notes: [{ id: 0, fromUs: 1, toUs: 1, text: 'here' }],
    });
    expect((await readTrace(await session.save())).store.annotations.notes).toEqual([
      { id: 1, fromUs: 1, toUs: 1, text: 'here' },
    ]);
    // of a trace that isn't shown any more
    await session.query('setAnnotations', { trace: trace + 1, notes: [] });
    expect((await session.query('annotations', {})).notes).toHaveLength(1);
  });

  it('an arrow leads from the waiting thread to the lock holder', async () => {
    const made = newStore();
    const [holder, waiter] = [new ThreadBuilder(made), new ThreadBuilder(made)];
    const [a, b] = [holder, waiter].map((t) => t.define({ kind: 'lock', text: 'db' })) as [
      number,
      number,
    ];
    holder.call('lockRequest', { object: a, dur: 1, flags: 8 });
    holder.call('lockHeld', { object: a, dur: 1000, flags: 8 });
    waiter.idle(100);
    waiter.call('lockRequest', { object: b, dur: 901, flags: 8 });
    waiter.call('lockHeld', { object: b, dur: 50, flags: 8 });
    holder.send();
    waiter.send();
    const session = new Session(() => undefined);
    await session.open(await saveTrace(made), 'x');
    const { flows, holders, effect } = await session.query('timelineFlows', waiter.thread.ref(0));
    expect(flows.filter((f) => f.kind === 'wait').map((f) => [f.from.lane, f.to.lane])).toEqual([
      ['1:lock', '0:lock'],
    ]);
    expect(holders.map((h) => [h.thread, h.resource])).toEqual([[0, 'db']]);
    expect(holders[0]!.waitedUs).toBeGreaterThan(800);
    expect(effect).toEqual({ thread: 0, seq: holders[0]!.seq });
  });
});
