// A large file is drawn before its events are read: its summaries compared with its events, and
// what a session shows while they are read.
import { IDB_WAIT } from '../../src/trace/lanes/lanes.ts';
import { ACTIVITIES } from '../../src/event/operations.ts';
import { describe, expect, test } from 'vitest';
import { readOverview } from '../../src/trace/file/overview.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { END_MAGIC, Tag } from '../../src/trace/file/format.ts';
import { chunkBytes, headerBytes, jsonBytes, sectionBytes } from '../../src/trace/file/section.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { KINDS } from '../../src/trace/lanes/interval-index.ts';
import { STATEMENT_KINDS, type StatementKind } from '../../src/sqlite/statement-kind.ts';
import { SummaryLanes } from '../../src/timeline/summary-lanes.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { TimelineLanes, type TimelineLaneFrame } from '../../src/timeline/timeline-lanes.ts';
import type { SessionPush } from '../../src/protocol/session.ts';
import { Session } from '../../src/viewer/session/session.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';

/** Columns: wider than a summary's bins. */
const WIDTH = 50;

/** A file whose bytes are counted as they are read. */
class CountedFile extends Blob {
  read = 0;
  /** Parts in the order of requests. */
  readonly parts: [from: number, to: number][] = [];
  override slice(from = 0, to = this.size): Blob {
    this.read += to - from;
    this.parts.push([from, to]);
    return super.slice(from, to);
  }
}
const counted = async (store: TraceStore): Promise<CountedFile> =>
  new CountedFile([await saveTrace(store)]);

/**
 * Statements with overlapping storage calls, a page thread without events, and locks held for long.
 */
function mixed(): TraceStore {
  const store = newStore();
  new ThreadBuilder(store, { name: 'silent', kind: 'page' }).send();
  const t = new ThreadBuilder(store, { name: 'writer' });
  const sql = t.define({ kind: 'sql', text: 'INSERT INTO t VALUES (?)' });
  const [db, idb] = [
    t.file('/app.db'),
    t.define({ kind: 'idb-store', db: 'app', store: 'blocks' }),
  ];
  for (let i = 0; i < 3000; i++) {
    t.call('sqlStep', { object: sql, dur: 20, result: 101 }, () => {
      t.call('xLock', { object: db, aux: i % 3 ? 1 : 4, dur: 2 });
      t.call('xRead', { object: db, offset: (i % 90) * 4096, length: 4096, dur: 1 }, () =>
        t.call('idbGet', { object: idb, dur: 30 }),
      );
      t.call('xSync', { object: db, dur: i % 700 === 0 ? 20_000 : 10 });
      t.call('xUnlock', { object: db, dur: 1 });
    });
    t.idle(i % 1000 === 0 ? 300_000 : 40);
  }
  t.send();
  return store;
}

describe('the picture from the summaries', () => {
  test.each([
    ['four threads of a million-event shape', syntheticStore({ events: 150_000, clockStepUs: 5 })],
    ['a thread with storage, locks and gaps', mixed()],
  ])('agrees with the one from the events: %s', async (_, store) => {
    const overview = (await readOverview(await saveTrace(store)))!;
    const summary = new SummaryLanes(overview);
    const lanes = new TimelineLanes(store);
    const [from, to] = store.extent();
    lanes.update(to);
    expect(summary.extent).toEqual([from, to]);
    expect(overview.store.threads.map((t) => t.info)).toEqual(store.threads.map((t) => t.info));
    expect(store.threads.map((t) => summary.eventsOf(t))).toEqual(
      store.threads.map((t) => t.events.count),
    );
    const exact = lanes.callLanes.extent()!;
    const drawn = summary.drawn()!;
    expect(drawn[0]).toBeLessThanOrEqual(exact[0]);
    expect(drawn[1]).toBeGreaterThanOrEqual(exact[1] - 1e-3);
    expect(drawn[1] - drawn[0]).toBeLessThan((exact[1] - exact[0]) * 1.01);
    for (const thread of store.threads) {
      const kinds = lanes.rowsOf(thread).map((row) => row.kind);
      for (const { key, kind } of summary.rowsOf(thread)) {
        expect(kinds).toContain(kind);
        const [seen] = summary.frames([key], from, to, WIDTH);
        const [wanted] = lanes.frames([key], from, to, WIDTH);
        if (seen!.values) {
          expect([...seen!.values].every(Number.isNaN), kind).toBe(true); // still unknown
          continue;
        }
        const shares = ({ stack, busy }: TimelineLaneFrame): Uint8Array => stack ?? busy;
        const [a, b] = [shares(seen!), shares(wanted!)];
        expect(a.length, key).toBe(kind === 'time' ? WIDTH * KINDS : WIDTH);
        if (kind === 'lock') {
          for (let i = 0; i < WIDTH; i++)
            expect(
              near(b, i, (level) => level === a[i]),
              `${key} column ${i}`,
            ).toBe(true);
          continue;
        }
        expect(sum(b), key).toBeGreaterThan(0);
        // a bin counts in 255 parts, at least one if a call began in it
        expect(Math.abs(sum(a) - sum(b)) / sum(b), key).toBeLessThan(0.03);
        if (kind === 'time') continue;
        const used = [...a.keys()].filter((i) => a[i]! > 0);
        for (const i of used)
          expect(
            near(b, i, (v) => v > 0),
            `${key} column ${i}`,
          ).toBe(true);
        for (const i of b.keys())
          if (b[i]! > 0)
            expect(
              near(a, i, (v) => v > 0),
              `${key} column ${i}`,
            ).toBe(true);
        const filed = wanted!.activity.map((a) =>
          kind === 'web' && a === IDB_WAIT ? ACTIVITIES.indexOf('sync') : a,
        );
        const same = used.filter((i) => seen!.activity[i] === filed[i]).length;
        expect(same / used.length, key).toBeGreaterThan(0.8);
      }
    }
  });

  test('tints statements by kind, and those of a file without kinds as other', async () => {
    const overview = (await readOverview(await saveTrace(mixed())))!;
    const kinds = (): Set<number> => {
      const summary = new SummaryLanes(overview);
      const [{ busy, activity }] = summary.frames(['1:sql'], ...summary.extent, WIDTH) as [
        TimelineLaneFrame,
      ];
      return new Set(activity.filter((_, i) => busy[i]! > 0));
    };
    const code = (kind: StatementKind): number => STATEMENT_KINDS.indexOf(kind);
    expect(kinds()).toEqual(new Set([code('insert')]));
    for (const { lanes } of overview.chunks) for (const lane of lanes) delete lane.statements;
    expect(kinds()).toEqual(new Set([code('other')]));
  });

  test('has the tracks that the events will have, at their places', async () => {
    const store = syntheticStore({ events: 120_000, clockStepUs: 5 });
    const summary = new SummaryLanes((await readOverview(await saveTrace(store)))!);
    const lanes = new TimelineLanes(store);
    lanes.update(store.extent()[1]);
    const expected = store.threads.map((thread) => summary.rowsOf(thread).map(({ key }) => key));
    expect(expected[0]).toEqual(
      ['time', 'sql', 'txn', 'vfs', 'lock', 'reads', 'writes', 'wal'].map((kind) => `0:${kind}`),
    );
    const shown = (): string[][] =>
      store.threads.map((thread) => lanes.rowsOf(thread).map(({ key }) => key));
    expect(shown()).toEqual(expected);
    lanes.settle();
    expect(shown()).toEqual(expected);
  });

  test('is there after a few kilobytes a chunk, and missing for a file without an end', async () => {
    const file = await counted(syntheticStore({ events: 300_000 }));
    const { chunks } = (await readOverview(file))!;
    expect(chunks.length).toBe(8);
    expect(file.read).toBeLessThan(64 * 1024);
    expect(file.size).toBeGreaterThan(20 * file.read);
    expect(await readOverview(file.slice(0, file.size - 1))).toBeNull();
    expect(await readOverview(await saveTrace(newStore()))).toMatchObject({ chunks: [] });
  });

  test("isn't made from headers that promise more events than fit", async () => {
    const claiming = (chunks: number, count: number): Blob => {
      const range = { count, fromUs: 0, toUs: 1 };
      const parts = [
        headerBytes({ originMs: 0, writer: 'test', savedAt: 0, origin: '', sanitized: false }),
        sectionBytes(
          Tag.thread,
          jsonBytes({
            index: 0,
            id: 't',
            kind: 'page',
            url: '',
            name: '',
            parent: null,
            timeOrigin: 0,
          }),
        ),
      ];
      const bytes = (): number => parts.reduce((n, part) => n + part.length, 0);
      const index = Array.from({ length: chunks }, () => {
        const at = bytes();
        parts.push(
          sectionBytes(
            Tag.events,
            chunkBytes({ thread: 0, ...range, lanes: [] }, new Uint8Array(20)),
          ),
        );
        return { at, thread: 0, ...range };
      });
      const trailer = new Uint8Array(16);
      new DataView(trailer.buffer).setUint32(0, bytes(), true);
      trailer.set(END_MAGIC, 8);
      return new Blob([...parts, sectionBytes(Tag.index, jsonBytes({ chunks: index })), trailer]);
    };
    expect((await readOverview(claiming(3, 100)))?.events).toEqual(new Map([[0, 300]]));
    expect(await readOverview(claiming(1, 65_537))).toBeNull();
    expect(await readOverview(claiming(100, 65_536))).toBeNull(); // 6.5 million events in 20 kB
  });

  test("isn't made from a false index", async () => {
    const bytes = new Uint8Array(
      await (await saveTrace(syntheticStore({ events: 5000 }))).arrayBuffer(),
    );
    const index = new TextDecoder('latin1').decode(bytes).indexOf('INDX');
    const broken = bytes.slice();
    broken[index + 20]! ^= 1; // its checksum does not match any more
    expect(await readOverview(broken)).toBeNull();
    const elsewhere = bytes.slice();
    elsewhere[bytes.length - 16]! ^= 1; // the trailer points outside the file
    expect(await readOverview(elsewhere)).toBeNull();
  });
});

const sum = (values: Uint8Array): number => values.reduce((n, v) => n + v, 0);
const near = (values: Uint8Array, i: number, ok: (v: number) => boolean): boolean =>
  [i - 1, i, i + 1].some((at) => at >= 0 && at < values.length && ok(values[at]!));

describe('a session that opens a large file', () => {
  const EVENTS = 200_000;
  /** The pushes, and the queries sent at the first one. */
  async function opened(
    store: TraceStore,
    onOpening: (session: Session, file: CountedFile) => Promise<void>,
  ) {
    const file = await counted(store);
    const pushes: SessionPush[] = [];
    let first: Promise<void> | null = null;
    const session: Session = new Session((push) => {
      pushes.push(push);
      if (push.k === 'change' && pushes.some(({ k }) => k === 'opening'))
        first ??= onOpening(session, file);
    });
    const result = await session.open(file, 'big.vfst');
    expect(first).not.toBeNull();
    await first;
    return { session, result, pushes, file };
  }

  test('draws it before a chunk is read, delays queries until all are, and then shows the same', async () => {
    const store = syntheticStore({ events: EVENTS, clockStepUs: 5 });
    let before: number[] = [];
    let asked: Promise<number> | null = null;
    let bytesBefore = 0;
    const { session, result, pushes, file } = await opened(store, async (session, file) => {
      bytesBefore = file.read;
      const { extent } = await session.extents();
      expect((await session.threads()).map((t) => t.events)).toEqual(
        store.threads.map((t) => t.events.count),
      );
      const { lanes } = await session.timeline({
        from: extent[0],
        to: extent[1],
        width: WIDTH,
        lanes: ['0:sql'],
      });
      before = [...lanes[0]!.busy];
      expect(await session.hit('0:sql', (extent[0] + extent[1]) / 2, 1e6)).toBeNull();
      asked = session.filterEvents({
        text: '',
        layers: null,
        errorsOnly: false,
        fromUs: null,
        toUs: null,
      });
    });
    expect(bytesBefore).toBeLessThan(file.size / 20);
    expect(result).toMatchObject({ events: store.eventCount, warnings: [], partial: false });
    expect(await asked).toBe(store.eventCount);
    const { extent } = await session.extents();
    expect(extent).toEqual(store.extent());
    const { lanes } = await session.timeline({
      from: extent[0],
      to: extent[1],
      width: WIDTH,
      lanes: ['0:sql'],
    });
    const after = [...lanes[0]!.busy];
    expect(before.reduce((a, b) => a + b, 0) / after.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 1);
    // the tracks that grew during reading are those of the whole
    const whole = new TimelineLanes(store);
    whole.update(extent[1]);
    const keys = whole.rows.map((row) => row.key);
    const frames = (
      await session.timeline({ from: extent[0], to: extent[1], width: WIDTH, lanes: keys })
    ).lanes;
    expect(frames).toEqual(whole.frames(keys, extent[0], extent[1], WIDTH));
    const order = pushes.map((p) => p.k);
    expect(order.indexOf('opening')).toBeLessThan(order.indexOf('progress'));
    await session.clear();
  });

  test('reads it in a few large pieces, and gives other work a turn after each section', async () => {
    const file = await counted(syntheticStore({ events: 1_000_000 / 4, clockStepUs: 0 }));
    const sections = (await readOverview(file))!.chunks.length;
    file.parts.length = 0;
    let turns = 0;
    await readTrace(file, { rest: async () => void turns++ });
    expect(turns).toBeGreaterThan(sections);
    expect(file.parts.length).toBeLessThan(2 + (2 * file.size) / (1 << 20));
    expect(file.parts.length).toBeLessThan(sections);
    for (const [from, to] of file.parts) expect(to - from).toBeLessThanOrEqual(1 << 20);
  });

  test('canceled, keeps what was read and reports it', async () => {
    const store = syntheticStore({ events: EVENTS });
    const { session, result } = await opened(store, (session) => session.cancelOpen());
    expect(result.partial).toBe(true);
    expect(result.events).toBeLessThan(store.eventCount);
    expect(result.warnings.join()).toContain(
      `What was read by then is shown: ${result.events} events.`,
    );
    expect(
      await session.filterEvents({
        text: '',
        layers: null,
        errorsOnly: false,
        fromUs: null,
        toUs: null,
      }),
    ).toBe(result.events);
    expect((await session.stats()).events).toBe(result.events);
    await session.clear();
    expect((await session.stats()).events).toBe(0);
  });

  test('replaces it by another file opened meanwhile, and cancels the first', async () => {
    const store = syntheticStore({ events: EVENTS });
    const small = await saveTrace(mixed());
    let second: Promise<{ events: number }> | null = null;
    await expect(
      opened(store, async (session) => void (second = session.open(small, 'small.vfst'))),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect((await second!).events).toBe((await readTrace(small)).store.eventCount);
  });
});
