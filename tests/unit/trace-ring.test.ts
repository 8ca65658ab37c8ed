// The hot path: a thread's records arrive once and in order, whatever the ring, the reader, or a
// forger does.
import { Worker } from 'node:worker_threads';
import { buildSync } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { part } from '../full.ts';
import { RecordReader, type Batch } from '../../src/event/batch.ts';
import { BUFFER_KIB } from '../../src/event/capture.ts';
import { counters, drainRecords, drainSharedDefinitions } from '../../src/record/drain.ts';
import { Field, Flag, Op, RECORD_BYTES } from '../../src/event/event.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { NOTHING, Recorder, type Token } from '../../src/record/recorder.ts';
import { ringLayout } from '../../src/record/ring-layout.ts';
import { TraceStore, type ThreadInfo, type ThreadStore } from '../../src/trace/store.ts';
import { batchOf } from '../traces/builder.ts';

const ORIGIN = 1_700_000_000_000;
const info: ThreadInfo = {
  id: 't',
  kind: 'worker',
  url: '',
  name: '',
  parent: null,
  timeOrigin: ORIGIN,
};
const newThread = (): ThreadStore => new TraceStore(ORIGIN).thread(info);

function batchFrom(recorder: Recorder, limit?: number): Batch | null {
  const drained = drainRecords(recorder.memory.buffer, limit);
  if (!drained) return null;
  return {
    thread: 't',
    timeOrigin: ORIGIN,
    ...counters(recorder.memory.buffer),
    definitions: recorder.takeDefinitions(),
    ...drained,
  };
}

/** A recorder whose clock advances by a millisecond at each reading. */
function newRecorder(capacity: number, shared = false): Recorder {
  let ms = 0;
  const recorder = new Recorder({ capacity, shared, maxEngines: 0, now: () => ++ms });
  recorder.askForDrains(0); // drained only by the test
  return recorder;
}

describe('recorder and drain', () => {
  test('what is written is what is drained', () => {
    const recorder = newRecorder(16);
    const token = recorder.begin(Op.xRead, 7, 4096, 512, 3, 9);
    recorder.amend(token, 'aux2', 5);
    recorder.end(token, 522, Flag.async, 100);
    const { records, first, count } = drainRecords(recorder.memory.buffer)!;
    const r = new RecordReader(records);
    expect({ first, count, bytes: records.byteLength }).toEqual({
      first: 0,
      count: 1,
      bytes: RECORD_BYTES,
    });
    expect([
      r.op(0),
      r.flags(0),
      r.object(0),
      r.offset(0),
      r.length(0),
      r.aux(0),
      r.aux2(0),
      r.context(0),
      r.result(0),
    ]).toEqual([...[Op.xRead, Flag.async, 7, 4096, 100, 3, 5, 9, 522]]);
    expect([r.t0(0), r.t1(0), r.seq(0), r.endSeq(0)]).toEqual([1, 2, 1, 2]);
    expect(drainRecords(recorder.memory.buffer)).toBeNull();
  });

  test('a call that outlives its record gets its own end record, with its final length', () => {
    const recorder = newRecorder(16);
    const thread = newThread();
    const slow = recorder.begin(Op.idbGet, 1, 0, 0);
    thread.append(batchFrom(recorder)!);
    expect(thread.events.row(0)).toMatchObject({ endSeq: 0, dur: 0 });
    recorder.end(slow, 0, Flag.async, 4096);
    expect(thread.append(batchFrom(recorder)!)).toEqual([0]);
    expect(thread.events.count).toBe(1);
    expect(thread.events.row(0)).toMatchObject({
      endSeq: 2,
      dur: 1000,
      length: 4096,
      flags: Flag.async,
    });
  });

  test('parents are the innermost call entered', () => {
    const recorder = newRecorder(16);
    const outer = recorder.begin(Op.sqlStep, 0, NaN, 0);
    const before = recorder.enter(outer, 4);
    recorder.end(recorder.begin(Op.xRead, 0, 0, 1), 0);
    recorder.leave(before, 0);
    recorder.end(outer, 101);
    recorder.end(recorder.begin(Op.xRead, 0, 0, 1), 0);
    const thread = newThread();
    thread.append(batchFrom(recorder)!);
    expect([0, 1, 2].map((i) => thread.events.parent[i])).toEqual([0, Recorder.seqOf(outer), 0]);
  });

  test('when switched off, nothing is recorded', () => {
    const recorder = newRecorder(16);
    recorder.enabled = false;
    const token = recorder.begin(Op.xRead, 0, 0, 0);
    recorder.end(token, 0);
    expect([token, recorder.backlogRecords, recorder.dropped]).toEqual([NOTHING, 0, 0]);
  });

  test('any order of begins, ends, and drains: every call arrives once, with its end if it ended, and dropped ones are counted', () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.constant({ k: 'begin' as const, n: 0 }) },
      { weight: 4, arbitrary: fc.nat(30).map((n) => ({ k: 'end' as const, n })) },
      { weight: 1, arbitrary: fc.nat(12).map((n) => ({ k: 'drain' as const, n: n + 1 })) },
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 300 }),
        fc.constantFrom(2, 4, 8, 32),
        fc.boolean(),
        (steps, capacity, shared) => {
          const recorder = newRecorder(capacity, shared);
          const thread = newThread();
          const open: { token: Token; id: number }[] = [];
          const begun: number[] = [];
          const ended = new Map<number, number>();
          let [tried, lostEnds] = [0, 0];
          const drain = (limit: number): void => {
            const batch = batchFrom(recorder, limit);
            if (batch) thread.append(batch);
          };
          for (const { k, n } of steps) {
            if (k === 'begin') {
              const id = ++tried;
              const token = recorder.begin(Op.xWrite, id, id * 4096, id);
              if (token !== NOTHING) {
                open.push({ token, id });
                begun.push(id);
              }
            } else if (k === 'end' && open.length) {
              const [{ token, id }] = open.splice(n % open.length, 1) as [
                { token: Token; id: number },
              ];
              const before = recorder.dropped;
              recorder.end(token, id + 1);
              if (recorder.dropped > before) lostEnds++;
              else ended.set(id, id + 1);
            } else if (k === 'drain') drain(n);
          }
          while (recorder.backlogRecords) drain(7);
          const { events } = thread;
          expect([...events.object.subarray(0, events.count)]).toEqual(begun);
          for (let i = 0; i < events.count; i++) {
            const id = events.object[i]!;
            expect([events.result[i], events.endSeq[i]! > 0], `call ${id}`).toEqual(
              ended.has(id) ? [id + 1, true] : [0, false],
            );
          }
          expect(recorder.dropped).toBe(tried - begun.length + lostEnds);
          expect([thread.missing, thread.orphanEnds]).toEqual([0, 0]);
        },
      ),
      { numRuns: 400 },
    );
  });

  test('the ring requests a drain under pressure, from inside the call that fills it', () => {
    const recorder = new Recorder({ capacity: 64, maxEngines: 0 });
    const thread = newThread();
    recorder.onPressure = () => void thread.append(batchFrom(recorder)!);
    for (let i = 0; i < 1000; i++) recorder.end(recorder.begin(Op.xRead, i + 1, 0, 0), 0);
    thread.append(batchFrom(recorder)!);
    expect([thread.events.count, recorder.dropped]).toEqual([1000, 0]);
  });

  test.each(BUFFER_KIB)(
    'a ring of %i KiB, as a user may choose it, requests a drain at half of it, and only while it may',
    (kib) => {
      const capacity = (kib * 1024) / RECORD_BYTES;
      const recorder = new Recorder({ capacity, maxEngines: 0 });
      const asked: number[] = [];
      recorder.onPressure = () => void asked.push(recorder.backlogRecords);
      const call = (): void => recorder.end(recorder.begin(Op.xRead, 1, 0, 0), 0);
      recorder.askForDrains(0);
      for (let i = 0; i < capacity / 2; i++) call();
      expect(asked).toEqual([]);
      recorder.askForDrains(Infinity);
      call();
      expect(asked).toEqual([capacity / 2]);
    },
  );

  test('sequence counters that pass 2^32 keep their place in the ring', () => {
    const recorder = newRecorder(8);
    const words = new Uint32Array(recorder.memory.buffer);
    for (const word of [0, 4, 8]) words[word >>> 2] = 0xfffffffd; // head, claimed, released
    for (let i = 0; i < 6; i++) recorder.end(recorder.begin(Op.xRead, i + 1, 0, 0), 0);
    const thread = newThread();
    thread.append(batchFrom(recorder, 2)!);
    thread.append(batchFrom(recorder)!);
    expect([...thread.events.object.subarray(0, 6)]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(thread.missing).toBe(0);
  });

  test('a ring with an impossible layout is rejected', () => {
    for (const capacity of [1, 3, 100, 2 ** 19])
      expect(() => ringLayout(capacity, 0, 0)).toThrow(/ring's capacity can't be/);
  });
});

describe('definitions', () => {
  test('of a shared ring arrive in order, across its end and when it was full', () => {
    const recorder = newRecorder(64, true);
    const drain = (): Definition[] =>
      drainSharedDefinitions(recorder.memory.buffer, recorder.layout.definitionsAt);
    const said: string[] = [];
    const heard: string[] = [];
    for (let i = 0; i < 400; i++) {
      const text = `${i} ${'ä'.repeat(i * 37)}`;
      said.push(text);
      recorder.define({ kind: 'name', text });
      if (i % 150 === 149) heard.push(...drain().map((d) => (d.kind === 'name' ? d.text : '')));
    }
    for (let more = drain(); more.length; more = drain()) {
      heard.push(...more.map((d) => (d.kind === 'name' ? d.text : '')));
      // waiting definitions leave with the next event
      recorder.end(recorder.begin(Op.mark, 0, NaN, 0), 0);
    }
    expect(heard).toEqual(said);
  });

  test('faults are counted, and the first few described', () => {
    const recorder = newRecorder(16);
    for (let i = 0; i < 50; i++) recorder.fault('xRead', new TypeError('no'));
    const notes = recorder.takeDefinitions();
    expect([recorder.faults, notes.length, notes[0]]).toEqual([
      50,
      20,
      { kind: 'note', id: 0, topic: 'tracer-error', text: 'xRead: TypeError: no' },
    ]);
  });
});

describe('a concurrent reader', () => {
  test('loses and duplicates nothing over many events', async () => {
    const events = part(1_000_000);
    const { text } = buildSync({
      stdin: { contents: WRITER, resolveDir: 'tests/unit', loader: 'ts' },
      ...{ bundle: true, write: false, format: 'cjs', platform: 'node', logLevel: 'error' },
    }).outputFiles![0]!;
    const worker = new Worker(text, { eval: true, workerData: { events } });
    try {
      const memory = await new Promise<WebAssembly.Memory>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      let done = false;
      worker.on('message', () => (done = true));
      const thread = newThread();
      for (let last = false; !last;) {
        last = done;
        for (
          let drained = drainRecords(memory.buffer);
          drained;
          drained = drainRecords(memory.buffer)
        )
          thread.append({
            thread: 't',
            timeOrigin: ORIGIN,
            ...counters(memory.buffer),
            definitions: [],
            ...drained,
          });
        await new Promise((resolve) => setImmediate(resolve));
      }
      const columns = thread.events;
      expect([columns.count, thread.dropped, thread.missing, thread.orphanEnds]).toEqual([
        events,
        0,
        0,
        0,
      ]);
      let wrong = 0;
      for (let i = 0; i < events; i++) {
        const right =
          columns.object[i] === i + 1 &&
          columns.offset[i] === i * 8 &&
          columns.result[i] === (i * 7) % 1000 &&
          columns.length[i] === i % 4097 &&
          columns.endSeq[i]! > columns.seq[i]!;
        if (!right) wrong++;
      }
      expect(wrong).toBe(0);
      // some ends came late, so the race did happen
      expect(thread.received).toBeGreaterThan(events);
    } finally {
      await worker.terminate();
    }
  }, 60_000);
});

const WRITER = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { Recorder } from '../../src/record/recorder.ts';
  const recorder = new Recorder({ capacity: 8192, shared: true, maxEngines: 0 });
  const words = new Uint32Array(recorder.memory.buffer); // 0 begun, 2 released
  parentPort!.postMessage(recorder.memory);
  const open: [number, number][] = [];
  const endOne = (): void => {
    const [token, i] = open.shift()!;
    recorder.end(token, (i * 7) % 1000, 0, i % 4097);
  };
  for (let i = 0; i < workerData.events; i++) {
    while (((words[0]! - Atomics.load(words, 2)) >>> 0) > 7000); // until the reader has freed space
    open.push([recorder.begin(2, i + 1, i * 8, 0), i]);
    while (open.length > (i % 1024 < 900 ? 0 : 12)) endOne();
  }
  while (open.length) endOne();
  parentPort!.postMessage('done');
`;

describe('store', () => {
  const rowOf = (seq: number, t0 = seq, op: number = Op.xRead): number[] => [
    t0,
    t0 + 1,
    seq,
    seq + 1,
    op,
    0,
    NaN,
    0,
    seq,
    0,
    0,
    0,
    0,
  ];

  test('batches that arrive twice are stored once, and missing ones are counted', () => {
    const thread = newThread();
    const all = [1, 3, 5, 7, 9, 11].map((seq) => rowOf(seq));
    thread.append(batchOf(info, 0, all.slice(0, 3)));
    thread.append(batchOf(info, 0, all.slice(0, 3)));
    thread.append(batchOf(info, 2, all.slice(2, 4)));
    expect([...thread.events.seq.subarray(0, thread.events.count)]).toEqual([1, 3, 5, 7]);
    thread.append(batchOf(info, 5, all.slice(5)));
    expect([thread.events.count, thread.missing, thread.received]).toEqual([5, 1, 5]);
  });

  test('an empty batch with an old number changes nothing', () => {
    const thread = newThread();
    thread.append(batchOf(info, 0, [rowOf(1), rowOf(3)]));
    thread.append(batchOf(info, 0, []));
    thread.append(batchOf(info, 2, [rowOf(5)]));
    expect([thread.events.count, thread.missing]).toEqual([3, 0]);
  });

  test('an end whose begin is missing is counted', () => {
    const thread = newThread();
    thread.append(batchOf(info, 0, [[5, 5, 99, 100, Op.end, 0, NaN, 0, 0, 0, 0, 0, 0]]));
    expect([thread.events.count, thread.orphanEnds]).toEqual([0, 1]);
  });

  test('a half-read end is corrected by its end record', () => {
    const thread = newThread();
    thread.append(batchOf(info, 0, [[5, 5, 1, 2, Op.xRead, 0, NaN, 0, 0, 0, 0, 0, 0]]));
    thread.append(batchOf(info, 1, [[9, 9, 1, 2, Op.end, 3, NaN, 0, 0, 0, 0, 0, 0]]));
    expect(thread.events.row(0)).toMatchObject({ dur: 4, result: 3, endSeq: 2 });
  });

  test('two threads with one time origin share a timeline', () => {
    const store = new TraceStore(ORIGIN);
    const late = { ...info, id: 'late', timeOrigin: ORIGIN + 250.5 };
    store.thread(info).append(batchOf(info, 0, [rowOf(1, 300_000)]));
    store.thread(late).append(batchOf(late, 0, [rowOf(1, 1000)]));
    expect(store.threads.map((t) => t.events.t0[0])).toEqual([300_000, 251_500]);
    expect(store.extent()).toEqual([251_500, 300_001]);
  });

  test("forged batches can't break the order of the columns", () => {
    const forged = fc.record({
      first: fc.oneof(fc.nat(50), fc.integer({ min: 0, max: 0xffffffff })),
      bytes: fc.uint8Array({ maxLength: RECORD_BYTES * 6 }),
      small: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(forged, { maxLength: 8 }), (batches) => {
        const thread = newThread();
        for (const { first, bytes, small } of batches) {
          const count = Math.floor(bytes.length / RECORD_BYTES);
          const records = bytes.buffer.slice(
            bytes.byteOffset,
            bytes.byteOffset + count * RECORD_BYTES,
          ) as ArrayBuffer;
          const view = new DataView(records);
          for (let i = 0; small && i < count; i++) {
            view.setUint32(i * RECORD_BYTES + Field.seq, bytes[i]! % 16, true);
            view.setUint32(
              i * RECORD_BYTES + Field.op,
              [Op.xRead, Op.end, Op.idbGet][i % 3]!,
              true,
            );
            view.setFloat64(
              i * RECORD_BYTES + Field.t0,
              [1, -1e300, 5, NaN, Infinity][bytes[i + 1]! % 5]!,
              true,
            );
          }
          thread.append({
            thread: 't',
            first,
            count,
            timeOrigin: ORIGIN,
            dropped: 0,
            faults: 0,
            definitions: [],
            records,
          });
        }
        const { events } = thread;
        for (let i = 0; i < events.count; i++) {
          expect(
            Number.isFinite(events.t0[i]!) &&
              events.dur[i]! >= 0 &&
              Number.isFinite(events.dur[i]!),
          ).toBe(true);
          if (i)
            expect(events.seq[i]! > events.seq[i - 1]! && events.t0[i]! >= events.t0[i - 1]!).toBe(
              true,
            );
          expect(events.rowOfSeq(events.seq[i]!)).toBe(i);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a batch that isn't a whole number of records is rejected", () => {
    const batch = { ...batchOf(info, 0, []), records: new ArrayBuffer(63) };
    expect(() => newThread().append(batch)).toThrow(/whole records of 64 bytes/);
  });
});

test('only a ring that an engine may write to takes wasm memory, because a process has few addresses for it', () => {
  expect(new Recorder({ capacity: 64 }).memory).toBeInstanceOf(WebAssembly.Memory);
  const { memory, shared } = new Recorder({ capacity: 64, maxEngines: 0 });
  expect([memory.buffer.constructor, shared]).toEqual([ArrayBuffer, false]);
  expect(memory).not.toBeInstanceOf(WebAssembly.Memory);
});
