/** Transport and wire guards without a browser: batches over a real MessagePort, acks, the cap. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isFromWorker, isToWorker, type FromWorker } from '../../src/hooks/creator-wire.ts';
import { SharedRings } from '../../src/hooks/shared-rings.ts';
import { Transport, SENT_LIMIT, type Source } from '../../src/hooks/transport.ts';
import {
  isThreadMessage,
  MARK,
  type ThreadIdentity,
  type ThreadMessage,
} from '../../src/protocol/messages.ts';
import { Op } from '../../src/event/event.ts';
import { Recorder } from '../../src/record/recorder.ts';

vi.hoisted(() =>
  Object.assign(globalThis, {
    vfscopeEnvironment: { role: 'page' },
    VFSCOPE_WORKERS_FILTERED: true,
    VFSCOPE_NATIVES_HOOKED: true,
  }),
); // from the build

const open: { close(): void }[] = [];
afterEach(() => open.splice(0).forEach((it) => it.close()));

function setUp(capacity = 16384) {
  const recorder = new Recorder({ capacity, maxEngines: 0 });
  const faults: string[] = [];
  const transport = new Transport(
    (where) => faults.push(where),
    () => {},
  );
  const held: boolean[] = [];
  const identity = { id: 't1', kind: 'worker', url: 'u', name: '', parent: null } as const;
  const source: Source = {
    identity,
    timeOrigin: 1000,
    buffer: recorder.memory.buffer,
    takeDefinitions: () => recorder.takeDefinitions(),
    hold: (on) => held.push(on),
  };
  transport.add(source);
  const { port1, port2 } = new MessageChannel();
  const got: ThreadMessage[] = [];
  port2.onmessage = ({ data }) => got.push(data as ThreadMessage);
  open.push(transport, port2);
  const records = (): number => got.reduce((n, m) => n + (m.k === 'batch' ? m.batch.count : 0), 0);
  const write = (n: number): void => {
    for (let i = 0; i < n; i++) recorder.instant(Op.mark, 0, NaN, 0);
  };
  return { recorder, transport, faults, held, port1, port2, got, records, write };
}

test('hello first, then what waited, then bye; every message passes the guard', async () => {
  const { transport, port1, got, records, write, recorder } = setUp();
  write(3);
  recorder.define({ kind: 'name', text: 'n' });
  transport.drain();
  write(2);
  transport.connect(port1);
  transport.finish('stopped');
  await expect.poll(() => got.at(-1)?.k).toBe('bye');
  expect(got.map((m) => m.k)).toEqual(['hello', 'batch', 'batch', 'bye']);
  expect(got.every(isThreadMessage)).toBe(true);
  expect(records()).toBe(5);
  expect(
    got.flatMap((m) => (m.k === 'batch' ? [[m.batch.first, m.batch.definitions.length]] : [])),
  ).toEqual([
    [0, 1],
    [3, 0],
  ]);
});

test('nothing is drained above the cap, acks resume it, and drops are reported', async () => {
  const { transport, port1, port2, got, records, write, held, recorder } = setUp();
  transport.connect(port1);
  const limit = SENT_LIMIT / 64;
  for (let i = 0; i < limit / 16384; i++) {
    write(16384);
    transport.drain();
  }
  expect(transport.unacknowledgedBytes).toBe(SENT_LIMIT);
  write(16384 + 5);
  transport.drain();
  expect(held).toEqual([true]);
  expect([recorder.backlogRecords, recorder.dropped]).toEqual([16384, 5]);
  await expect.poll(records, { timeout: 10_000 }).toBe(limit);
  // if the thread were terminated now, the panel would know what is lost with it
  transport.drain();
  await expect
    .poll(() => got.at(-1))
    .toMatchObject({ k: 'batch', batch: { first: limit, count: 0, dropped: 16384 + 5 } });
  expect(got.filter((m) => m.k === 'batch' && m.batch.count === 0)).toHaveLength(1);
  port2.postMessage({ k: 'ack', thread: 'someone else', records: limit });
  port2.postMessage({ k: 'ack', thread: 't1', records: 2 * 16384 });
  await expect.poll(records).toBe(limit + 16384);
  expect(held).toEqual([true, false]);
  expect(got.at(-1)).toMatchObject({ k: 'batch', batch: { dropped: 5 } });
});

test('a new route gets what the old one had not delivered, and no record twice', async () => {
  const { transport, port1, port2, write } = setUp();
  const said: ThreadMessage[] = [];
  transport.connect(port1, (message) => said.push(message));
  write(3);
  transport.drain();
  write(4);
  transport.drain();
  port2.postMessage({ k: 'ack', thread: 't1', records: 3 });
  await expect.poll(() => transport.unacknowledgedBytes).toBe(4 * 64);
  const { port1: next, port2: other } = new MessageChannel();
  open.push(other);
  const again: ThreadMessage[] = [];
  transport.connect(next, (message) => again.push(message));
  write(2);
  transport.drain();
  const firsts = (of: ThreadMessage[]) =>
    of.flatMap((m) => (m.k === 'batch' ? [[m.batch.first, m.batch.records.byteLength]] : []));
  expect(firsts(said)).toEqual([
    [0, 3 * 64],
    [3, 4 * 64],
  ]);
  expect(again[0]!.k).toBe('hello');
  expect(firsts(again)).toEqual([
    [3, 4 * 64],
    [7, 2 * 64],
  ]);
  other.postMessage({ k: 'ack', thread: 't1', records: 9 });
  await expect.poll(() => transport.unacknowledgedBytes).toBe(0);
});

test('workers below are represented on every route, until their last message', async () => {
  const upper = setUp();
  const said: ThreadMessage[] = [];
  upper.transport.connect(new MessageChannel().port1, (message) => said.push(message));
  const below = (id: string) => {
    const transport = new Transport(
      () => {},
      () => {},
    );
    const recorder = new Recorder({ capacity: 1024, maxEngines: 0 });
    const line = new MessageChannel();
    transport.add({
      identity: { id, kind: 'worker', url: 'v', name: '', parent: null },
      timeOrigin: 1500,
      buffer: recorder.memory.buffer,
      takeDefinitions: () => recorder.takeDefinitions(),
    });
    upper.transport.adopt(line.port2, 't1');
    transport.connect(line.port1);
    open.push(transport, line.port2);
    const does = (count: number): void => {
      for (let i = 0; i < count; i++) recorder.instant(Op.mark, 0, NaN, 0);
      transport.drain();
    };
    return { transport, does };
  };
  const [gone, later] = [below('gone'), below('later')];
  const of = (all: ThreadMessage[], id: string) =>
    all.flatMap((m) =>
      m.k === 'hello' && m.thread.id === id
        ? [`hello, of ${m.thread.parent}`]
        : m.k === 'batch' && m.batch.thread === id
          ? [`${m.batch.first}: ${m.batch.records.byteLength / 64}`]
          : m.k === 'bye' && m.thread === id
            ? [`bye, ${m.reason}`]
            : [],
    );
  gone.does(3);
  later.does(2);
  await expect.poll(() => of(said, 'later')).toEqual(['hello, of t1', '0: 2']);
  gone.transport.finish('closed');
  await expect.poll(() => of(said, 'gone')).toEqual(['hello, of t1', '0: 3', 'bye, closed']);
  expect(upper.transport.unacknowledgedBytes).toBe(0); // each has its own limit

  const again: ThreadMessage[] = [];
  const { port1, port2 } = new MessageChannel();
  open.push(port2);
  upper.transport.connect(port1, (message) => again.push(message)); // the relaying page is gone
  expect(of(again, 'gone')).toEqual(['hello, of t1', '0: 3', 'bye, closed']);
  expect(of(again, 'later')).toEqual(['hello, of t1', '0: 2']);
  port2.postMessage({ k: 'ack', thread: 'later', records: 2 });
  await expect.poll(() => later.transport.unacknowledgedBytes).toBe(0);
  upper.transport.finish('stopped');
  later.does(1);
  later.transport.finish('stopped');
  await expect.poll(() => of(again, 'later').slice(2)).toEqual(['2: 1', 'bye, stopped']);
});

test('a stop command of the panel arrives, and anything else is ignored', async () => {
  const { transport, port1, port2 } = setUp();
  let stops = 0;
  transport.onStop = () => stops++;
  transport.connect(port1);
  for (const nonsense of [null, 5, 'stop', {}, { k: 'ack' }, { k: 'restore' }])
    port2.postMessage(nonsense);
  port2.postMessage({ k: 'stop' });
  await expect.poll(() => stops).toBe(1);
});

const ringOf = (
  thread: ThreadIdentity,
  timeOrigin: number,
  buffer: ArrayBufferLike,
): FromWorker => ({
  mark: MARK,
  k: 'ring',
  id: thread.id,
  thread,
  timeOrigin,
  buffer: buffer as SharedArrayBuffer,
});

describe('shared rings', () => {
  test('are read from outside with their definitions, and end with those below them', async () => {
    const { transport, port1, got, recorder: here } = setUp();
    transport.connect(port1);
    const rings = new SharedRings(transport, here);
    const ring = (id: string, parent: string): Recorder => {
      const recorder = new Recorder({ capacity: 1024, shared: true, maxEngines: 0 });
      const thread = { id, kind: 'worker', url: id, name: '', parent } as const;
      rings.receive(ringOf(thread, 2000, recorder.memory.buffer));
      return recorder;
    };
    const outer = ring('outer', 't1');
    const inner = ring('inner', 'outer');
    outer.instant(Op.mark, outer.define({ kind: 'name', text: 'été' }), NaN, 0);
    inner.instant(Op.mark, 0, NaN, 0);
    rings.terminated('outer');
    await expect.poll(() => got.filter((m) => m.k === 'bye').length).toBe(2);
    const batches = got.flatMap((m) => (m.k === 'batch' ? [m.batch] : []));
    expect(batches.map((b) => [b.thread, b.count, b.timeOrigin])).toEqual([
      ['inner', 1, 2000],
      ['outer', 1, 2000],
    ]);
    expect(batches[1]!.definitions).toEqual([{ kind: 'name', id: 1, text: 'été' }]);
    rings.terminated('outer'); // not known any more, but its creator reports it
    await expect.poll(() => got.filter((m) => m.k === 'bye').length).toBe(3);
  });
  test("memory that isn't a ring is refused, and an unreadable ring is dropped with a fault", () => {
    const { transport, faults, recorder: here } = setUp();
    const rings = new SharedRings(transport, here);
    const identity = { id: 'x', kind: 'worker', url: 'x', name: '', parent: null } as const;
    const small = new SharedArrayBuffer(4096);
    new Uint32Array(small)[13] = 1024; // capacity
    rings.receive(ringOf(identity, 0, small));
    expect(here.takeDefinitions().at(-1)).toMatchObject({
      text: expect.stringContaining(
        'a worker of this thread: RangeError: a ring of ? records is cut',
      ),
    });
    const recorder = new Recorder({ capacity: 1024, shared: true, maxEngines: 0 });
    rings.receive(ringOf(identity, 0, recorder.memory.buffer));
    recorder.instant(Op.mark, 0, NaN, 0);
    new Uint32Array(recorder.memory.buffer)[13] = 0x7fffffff; // a page that writes nonsense into its ring
    transport.drain();
    expect(faults).toEqual(['reading the ring of x']);
    transport.drain();
    expect(faults.length).toBe(1);
  });
});

test("messages between creator and worker are distinguished from the app's", () => {
  const message = { mark: 'vfscope', id: 'abc' };
  expect(isFromWorker({ ...message, k: 'ready' }, 'abc')).toBe(true);
  expect(isFromWorker({ ...message, k: 'ready' }, 'other')).toBe(false);
  expect(isFromWorker({ ...message, k: 'unfit' }, 'abc')).toBe(false);
  expect(isFromWorker({ ...message, k: 'unfit', reason: 'r' }, 'abc')).toBe(true);
  const thread = { id: 'abc', url: 'u', kind: 'worker', name: '', parent: null };
  expect(
    isFromWorker(
      { ...message, k: 'ring', thread, timeOrigin: 1, buffer: new SharedArrayBuffer(8) },
      'abc',
    ),
  ).toBe(true);
  expect(
    isFromWorker(
      { ...message, k: 'ring', thread, timeOrigin: 1, buffer: new ArrayBuffer(8) },
      'abc',
    ),
  ).toBe(false);
  expect(
    [null, undefined, 'vfscope', 3, [], { mark: 'vfscope' }].map(
      (v) => isFromWorker(v, 'abc') || isToWorker(v, 'abc'),
    ),
  ).not.toContain(true);
  expect(isToWorker({ ...message, k: 'restore' }, 'abc')).toBe(true);
  expect(isToWorker({ ...message, k: 'port' }, 'abc')).toBe(false);
});
