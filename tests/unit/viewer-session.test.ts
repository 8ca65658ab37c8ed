// The session without a browser: its state when a recording can't start, a file is incomplete, or
// an export is running.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { csv } from '../../src/formats/csv.ts';
import { EventColumns } from '../../src/trace/columns.ts';
import { Op } from '../../src/event/event.ts';
import { MAX_THREADS } from '../../src/trace/file/format.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/messages.ts';
import type { FlightOptions } from '../../src/protocol/session.ts';
import { noticesOf } from '../../src/viewer/ui/notices.ts';
import { Exports } from '../../src/viewer/session/exports.ts';
import { loadedTrace } from '../../src/viewer/session/loaded-trace.ts';
import { limitsOf, RecordingRoom } from '../../src/viewer/session/room.ts';
import { Session } from '../../src/viewer/session/session.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';

const recording = { originMs: 0, spoolKey: '', devtools: null, flight: null };
const identity = {
  id: 'a',
  kind: 'page',
  url: 'https://app.example/',
  name: '',
  parent: null,
} as const;
const hello = (id: string): object => ({
  k: 'hello',
  protocol: PROTOCOL_VERSION,
  timeOrigin: 0,
  thread: { ...identity, id },
});
/** xRead calls, one per record. @param at the first one's number, and its time in ms */
function reads(id: string, at: number, count: number, result = 0): object {
  const rows = Array.from({ length: count }, (_, i) => {
    const [us, seq] = [(at + i) * 1000, 2 * (at + i) + 1];
    return [us, us, seq, seq + 1, Op.xRead, result, 0, 4096, 0, 0, 0, 0, 0];
  });
  return { k: 'batch', batch: batchOf({ ...identity, id, timeOrigin: 0 }, at, rows) };
}
const events = async (session: Session): Promise<number> => (await session.stats()).events;

const ports: MessagePort[] = [];
afterEach(() => ports.splice(0).forEach((port) => port.close()));
async function page(session: Session): Promise<{ port: MessagePort; heard: unknown[] }> {
  const { port1, port2 } = new MessageChannel();
  const heard: unknown[] = [];
  port1.onmessage = ({ data }) => heard.push(data);
  ports.push(port1);
  await session.attach(port2);
  return { port: port1, heard };
}
async function opened(session: Session, store: TraceStore, name = 'a.vfst'): Promise<void> {
  await session.open(await saveTrace(store), name);
}

describe('a recording', () => {
  it("that can't start leaves the previous trace unchanged", async () => {
    const session = new Session(() => {});
    await session.begin(recording);
    const { port } = await page(session);
    port.postMessage(hello('a'));
    port.postMessage(reads('a', 0, 50));
    await expect.poll(() => events(session)).toBe(50);
    await session.end(0);
    const [version, extent] = [(await session.stats()).durationUs, await session.extents()];
    await session.begin(recording);
    expect(await events(session)).toBe(0);
    const reached = await page(session);
    reached.port.postMessage(hello('reached'));
    await expect.poll(async () => (await session.stats()).threads).toBe(1);
    await session.revert();
    await expect.poll(() => reached.heard).toEqual([{ k: 'stop' }]);
    expect((await session.stats()).durationUs).toBe(version);
    expect(await session.extents()).toEqual(extent);
    expect([await events(session), (await session.stats()).recording]).toEqual([50, false]);
    await session.clear();
  });

  it('that runs keeps the previous one for comparison', async () => {
    const session = new Session(() => {});
    await opened(session, syntheticStore({ events: 2000 }));
    await session.begin(recording);
    await expect(session.comparePrevious()).rejects.toThrow("isn't stored"); // it may be restored
    await session.begun();
    await session.comparePrevious();
    await session.revert(); // too late, the recording runs
    expect((await session.stats()).recording).toBe(true);
    await session.clear();
  });

  it('accepts no thread after it ended, and tells the thread to stop', async () => {
    const session = new Session(() => {});
    await opened(session, syntheticStore({ events: 2000 }));
    const { threads } = await session.stats();
    const { port, heard } = await page(session);
    port.postMessage(hello('late'));
    await expect.poll(() => heard).toEqual([{ k: 'stop' }]);
    expect((await session.stats()).threads).toBe(threads);
  });

  it('limits its problems, whatever versions a page claims to use', async () => {
    const session = new Session(() => {});
    await session.begin(recording);
    const { port } = await page(session);
    for (let protocol = 1000; protocol < 1200; protocol++)
      port.postMessage({ ...hello('a'), protocol });
    await expect.poll(async () => (await session.stats()).ignoredMessages).toBe(200);
    expect((await session.stats()).problems).toHaveLength(50);
    await session.clear();
  });
});

describe('a large file that is being opened', () => {
  it('is replaced by an invalid one, and nothing remains that looks like a trace', async () => {
    const session = new Session(() => {});
    await opened(session, syntheticStore({ events: 3000 }), 'before.vfst');
    let shown = (): void => {};
    const onScreen = new Promise<void>((resolve) => (shown = resolve));
    const watched = new Session(({ k }) => k === 'opening' && shown());
    const large = expect(
      watched.open(await saveTrace(syntheticStore({ events: 200_000 })), 'large.vfst'),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
    await onScreen;
    await expect(watched.openOther(await saveTrace(newStore()), 'b.vfst')).rejects.toThrow(
      'still opening',
    );
    const none = expect(
      watched.open(new Blob(['no trace at all, but some bytes of it']), 'none.vfst'),
    ).rejects.toThrow('none.vfst');
    await large;
    await none;
    const { threads, durationUs } = await watched.stats();
    expect([await events(watched), threads, durationUs]).toEqual([0, 0, 0]);
    await opened(watched, syntheticStore({ events: 3000 }));
    expect(await events(watched)).toBe(await events(session));
  });
});

describe('a recording that reaches its limit', () => {
  const LIMIT = 20_000;
  const limits = { events: LIMIT, bytes: 2 ** 31, words: 2 ** 25, disk: 0 };
  const batch = 1000;
  async function grown(
    session: Session,
    port: MessagePort,
    from: number,
    to: number,
  ): Promise<void> {
    for (let at = from; at < to; at += batch) port.postMessage(reads('a', at, batch));
    await expect.poll(async () => (await session.stats()).seen).toBe(to);
  }

  it.each([
    ['events', limits, 'events'],
    ['memory', { ...limits, events: 1e9, bytes: LIMIT * 60 }, 'memory'],
  ] as const)(
    'of %s: says so in time, keeps its newest half and goes on, and what is saved is whole',
    async (_, given, kind) => {
      const session = new Session(() => {});
      await session.begin({ ...recording, limits: given });
      const { port } = await page(session);
      port.postMessage(hello('a'));
      await grown(session, port, 0, LIMIT / 2);
      expect((await session.stats()).room).toBeNull();
      let at = LIMIT / 2;
      const untilRoom = async (reached: boolean): Promise<void> => {
        for (; (await session.stats()).room?.reached !== reached; at += batch)
          await grown(session, port, at, at + batch);
      };
      await untilRoom(false);
      const near = await session.stats();
      expect(near.room).toMatchObject({ kind, reached: false, forgotten: 0 });
      expect(near.room!.share).toBeGreaterThanOrEqual(0.8);
      expect(near.events).toBe(at);
      await untilRoom(true);
      const most = at;
      await grown(session, port, at, at + 5 * LIMIT);
      const after = await session.stats();
      expect(after).toMatchObject({
        flight: null,
        recording: true,
        dropped: 0,
        seen: at + 5 * LIMIT,
      });
      expect(after.events).toBeLessThanOrEqual(most);
      expect(after.events).toBeGreaterThanOrEqual(most / 2 - batch);
      expect(after.room).toMatchObject({ kind, reached: true });
      await session.end(0);
      const { store, warnings } = await readTrace(await session.save());
      expect([warnings, store.eventCount]).toEqual([[], after.events]);
      expect(store.threads[0]!.events.seq[after.events - 1]).toBe(2 * (at + 5 * LIMIT) - 1);
      await session.clear();
      expect((await session.stats()).room).toBeNull();
    },
  );

  it('of memory that the browser refuses: counts the batch, and continues with half', async () => {
    const session = new Session(() => {});
    await session.begin({ ...recording, limits });
    const { port } = await page(session);
    port.postMessage(hello('a'));
    await grown(session, port, 0, 12_000);
    const columns = vi.spyOn(EventColumns.prototype, 'reserve').mockImplementation(() => {
      throw new RangeError('Array buffer allocation failed');
    });
    port.postMessage(reads('a', 12_000, batch));
    await expect.poll(async () => (await session.stats()).dropped).toBe(batch);
    columns.mockRestore();
    port.postMessage(reads('a', 12_000 + batch, batch));
    await expect.poll(async () => (await session.stats()).seen).toBe(12_000 + batch);
    const { room, dropped, events: kept } = await session.stats();
    expect([room, dropped, kept <= 7000]).toEqual([
      expect.objectContaining({ kind: 'browser', reached: true }),
      batch,
      true,
    ]);
    const texts = noticesOf(await session.stats(), [], []).map(({ text }) => text);
    const ofDisk = /no backup copy on disk/; // Node has no disk for it
    expect(texts.filter((text) => !ofDisk.test(text))).toEqual([
      expect.stringMatching(
        /^The browser has no more memory for this recording\. [\d,]+ events from the start were dropped\. It continues with the newest/,
      ),
      expect.stringMatching(/^1,000 events were dropped: the browser had no memory for them\./),
    ]);
    await session.clear();
  });

  it('of names: stores no more, and can be opened again', async () => {
    const session = new Session(() => {});
    await session.begin({ ...recording, limits: { ...limits, words: 1 << 20 } });
    const { port } = await page(session);
    port.postMessage(hello('a'));
    const text = 'x'.repeat(50_000);
    for (let i = 0; i < 200; i++) {
      const said = reads('a', i * 100, 100) as { batch: { definitions: object[] } };
      said.batch.definitions = [{ kind: 'name', id: i + 1, text }];
      port.postMessage(said);
    }
    await expect.poll(async () => (await session.stats()).seen).toBe(20_000);
    expect((await session.stats()).room).toMatchObject({ kind: 'words', reached: true });
    await session.end(0);
    const { store, warnings } = await readTrace(await session.save());
    expect(warnings).toEqual([]);
    expect(store.words.used).toBeLessThan(3 << 20);
    await session.clear();
  });

  it("of names, with few events: reports that some aren't stored", async () => {
    const session = new Session(() => {});
    await session.begin({ ...recording, limits: { ...limits, words: 1 << 20 } });
    const { port } = await page(session);
    port.postMessage(hello('a'));
    const named = async (from: number, to: number): Promise<string[]> => {
      for (let i = from; i < to; i++) {
        const said = reads('a', i, 1) as { batch: { definitions: object[] } };
        said.batch.definitions = [{ kind: 'name', id: i + 1, text: 'x'.repeat(50_000) }];
        port.postMessage(said);
      }
      await expect.poll(async () => (await session.stats()).seen).toBe(to);
      return (await session.stats()).problems;
    };
    // on a busy machine it also reports that Node has no disk for the backup copy
    const notStored: unknown = expect.stringContaining("names aren't stored");
    expect(await named(0, 20)).not.toContainEqual(notStored);
    expect(await named(20, 100)).toContainEqual(notStored);
    await session.clear();
  });

  it("of threads: reports that newer ones aren't recorded", async () => {
    const session = new Session(() => {});
    await session.begin(recording);
    const { port } = await page(session);
    for (let i = 0; i <= MAX_THREADS; i++) {
      port.postMessage(hello(`t${i}`));
      port.postMessage({ k: 'bye', thread: `t${i}`, reason: 'closed' });
    }
    await expect
      .poll(async () => (await session.stats()).problems)
      .toEqual([expect.stringContaining('2000 threads, the maximum')]);
    expect((await session.stats()).threads).toBe(MAX_THREADS);
    await session.clear();
  });
});

describe('space', () => {
  const trace = loadedTrace(newStore());
  it("is a share of the machine's memory, within limits", () => {
    expect([0.25, 2, 4, 8, 32, undefined].map((gib) => limitsOf(gib).bytes / 2 ** 30)).toEqual([
      0.5, 0.5, 1, 2, 2, 1.5,
    ]);
  });
  it('on the disk: is reported when little is left, until there is enough again', async () => {
    let left = 1000;
    const room = new RecordingRoom({ ...limitsOf(8), disk: 2000 }, async () => ({
      quota: 10_000,
      usage: 10_000 - left,
    }));
    let now = 0;
    const look = async (): Promise<unknown> => {
      room.look(trace, (now += 5000));
      await Promise.resolve();
      room.look(trace, (now += 200));
      return room.room;
    };
    expect(await look()).toMatchObject({ kind: 'disk', limit: 1000, reached: false });
    left = 5000;
    expect(await look()).toBeNull();
  });
});

describe('a flight recorder', () => {
  const freezeOn = { busy: true, ioerr: false, corrupt: false, error: false, slowCommitMs: null };
  const flight = { keep: { kind: 'seconds', seconds: 10 }, freezeOn } as FlightOptions;
  const MANY = 20_000;
  /** 20 s of calls, and an export that runs until it is `written`. */
  async function flying(): Promise<{
    session: Session;
    port: MessagePort;
    heard: unknown[];
    written: () => void;
  }> {
    const exports = new Exports();
    let written = (): void => {};
    exports.done = new Promise<void>((resolve) => {
      written = () => {
        exports.done = null;
        resolve();
      };
    });
    const session = new Session(() => {}, exports);
    await session.begin({ ...recording, flight });
    await session.begun();
    const { port, heard } = await page(session);
    port.postMessage(hello('a'));
    port.postMessage(reads('a', 0, MANY));
    await expect.poll(() => events(session)).toBe(MANY);
    return { session, port, heard, written };
  }
  const BUSY = 5;

  it('freezes on an event while its rows are written, and continues', async () => {
    const { session, port, heard, written } = await flying();
    const frozen = async () => (await session.stats()).frozen;
    port.postMessage(reads('a', MANY, 1, BUSY));
    port.postMessage(reads('a', MANY + 1, 5));
    await expect.poll(() => events(session)).toBe(MANY + 6);
    expect(await frozen()).toEqual([]);
    written();
    await expect.poll(async () => (await frozen())[0]?.name).toBeTruthy();
    // 10 s before the trigger, the trigger, and events on their way
    expect(await events(session)).toBe(10_000 + 6);
    // it continues, and freezes nothing while the first trigger is among the kept events
    port.postMessage(reads('a', MANY + 6, 1, BUSY));
    port.postMessage(reads('a', MANY + 7, 10_500));
    port.postMessage(reads('a', MANY + 10_507, 1, BUSY));
    await expect.poll(async () => (await frozen())[1]?.name).toBeTruthy();
    expect(heard).not.toContainEqual({ k: 'stop' });
    const parts = await frozen();
    expect(parts.map(({ seq }) => seq)).toEqual([2 * MANY + 1, 2 * (MANY + 10_507) + 1]);
    for (const [i, { name, thread, seq }] of parts.entries()) {
      const { store } = await readTrace(await session.frozenPart(name!));
      const { events: rows } = store.threads[thread]!;
      const row = rows.rowOfSeq(seq);
      expect(rows.result[row]).toBe(BUSY);
      expect(rows.t0[row]! - rows.t0[0]!).toBeCloseTo(10e6, -5);
      expect(rows.count - row).toBe(i === 0 ? 6 : 1);
    }
    await session.end(0);
    const opened = await session.recover(parts[0]!.name!);
    expect(opened.warnings).toEqual([]);
    expect(await events(session)).toBe(10_006);
    expect((await frozen()).map(({ name }) => name)).toEqual(parts.map(({ name }) => name));
    await session.clear();
    expect(await frozen()).toEqual([]);
  });

  it("that is stopped keeps an export's rows until the export has them", async () => {
    const { session, written } = await flying();
    await session.end(0);
    expect([await events(session), (await session.stats()).recording]).toEqual([MANY, false]);
    written();
    await expect.poll(() => events(session)).toBe(10_001);
    await session.clear();
  });
});

it('an export reports when it is over', async () => {
  const exports = new Exports();
  expect(exports.done).toBeNull();
  const blob = exports.run(
    syntheticStore({ events: 2000 }),
    { format: 'csv', sanitize: false, title: '', origin: '' },
    () => {},
  );
  const { done } = exports;
  expect(done).not.toBeNull();
  await done;
  expect((await blob).size).toBeGreaterThan(0);
  expect(exports.done).toBeNull();
});

it('an export of a growing recording has the rows that existed when it began, each with its statement', async () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const sql = t.define({ kind: 'sql', text: 'SELECT 1' });
  const run = (n: number): void => {
    for (let i = 0; i < n; i++) t.call('sqlStep', { object: sql });
    t.send();
  };
  run(2000);
  let text = '';
  for await (const piece of csv(store)) {
    text += piece;
    if (store.eventCount < 5000) run(1000);
  }
  const [head, ...rows] = text.trimEnd().split('\n');
  const statement = head!.split(',').indexOf('statement');
  expect(store.eventCount).toBeGreaterThan(2000);
  expect(rows).toHaveLength(2000);
  expect(
    rows.every((row) => row.split(',')[statement] === 'SELECT 1' && !row.includes('undefined')),
  ).toBe(true);
});
