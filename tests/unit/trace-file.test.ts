// The trace file returns exactly what was written. Also what is readable after damage, from a newer
// version, or from another program.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventColumns, type EventRow } from '../../src/trace/columns.ts';
import { MAX_TRACE_NS } from '../../src/event/clock.ts';
import { Op } from '../../src/event/event.ts';
import { OPS } from '../../src/event/operations.ts';
import { ByteReader, ByteWriter, MalformedError } from '../../src/trace/file/bytes.ts';
import { COLUMNS } from '../../src/trace/file/chunk-columns.ts';
import { packRows, unpackRows } from '../../src/trace/file/chunk.ts';
import { FORMAT_VERSION, MAGIC, TraceFileError } from '../../src/trace/file/format.ts';
import { readOverview } from '../../src/trace/file/overview.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { sectionBytes } from '../../src/trace/file/section.ts';
import { saveTrace, TraceWriter } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { traceFormatDoc } from '../../tools/docs/trace-format.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { part } from '../full.ts';
import { ThreadBuilder, newStore } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticBatches, syntheticStore } from '../traces/synthetic.ts';

const bytesOf = async (store: TraceStore): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await (await saveTrace(store, { savedAt: 0 })).arrayBuffer());
const rowsOf = (events: EventColumns): EventRow[] =>
  Array.from({ length: events.count }, (_, i) => events.row(i));
const contentOf = (store: TraceStore): unknown =>
  store.threads.map((t) => ({
    info: t.info,
    said: t.said,
    rows: rowsOf(t.events),
    dropped: t.dropped,
    missing: t.missing,
    faults: t.faults,
    ended: t.ended,
    unknownUntilUs: t.unknownUntilUs,
  }));

const sameBytes = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.compare(
    Buffer.from(a.buffer, a.byteOffset, a.byteLength),
    Buffer.from(b.buffer, b.byteOffset, b.byteLength),
  ) === 0;

const u32 = fc.oneof(fc.nat(20), fc.integer({ min: 0, max: 0xffffffff }));
const row = fc.record({
  gapNs: fc.oneof(fc.constant(0), fc.nat(100_000), fc.nat(2 ** 40)),
  durNs: fc.oneof(fc.constant(0), fc.nat(100_000), fc.nat(2 ** 40)),
  seqGap: fc.oneof(
    fc.constant(1),
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 1_000_000 }),
  ),
  end: fc.oneof(fc.constant(1), fc.constant(0), fc.nat(50), fc.integer({ min: -5, max: 0xfffff })),
  op: fc.constantFrom(
    ...OPS.flatMap((o) => (o && o.code > 0 && o.code < Op.end ? [o.code] : [250])),
  ),
  flags: fc.nat(255),
  result: fc.oneof(fc.constant(0), fc.integer()),
  offset: fc.oneof(
    fc.constant(NaN),
    fc.nat(1000).map((n) => n * 4096),
    fc.double(),
    fc.maxSafeInteger(),
  ),
  length: u32,
  object: u32,
  parent: u32,
  context: u32,
  aux: u32,
  aux2: fc.oneof(fc.constant(0), u32),
});

describe('packed columns', () => {
  test('return every field of any rows', () => {
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 80 }),
        fc.boolean(),
        (drawn, withAux2) => {
          const events = new EventColumns(drawn.length);
          let [ns, seq] = [0, 0];
          drawn.forEach((d, i) => {
            ns += d.gapNs;
            seq += d.seqGap;
            events.t0[i] = ns / 1e3;
            events.dur[i] = d.durNs / 1e3;
            events.seq[i] = seq;
            events.endSeq[i] = d.end === 0 ? 0 : Math.max(1, seq + d.end);
            for (const field of [
              'op',
              'flags',
              'result',
              'offset',
              'length',
              'object',
              'parent',
              'context',
              'aux',
            ] as const)
              events[field][i] = d[field];
            if (withAux2) events.set('aux2', i, d.aux2);
          });
          events.count = drawn.length;
          const back = unpackRows(packRows(events, 0, events.count), events.count);
          expect(rowsOf(back)).toEqual(rowsOf(events));
        },
      ),
      { numRuns: 500 },
    );
  });
});

test("a column that doesn't change takes no bytes for each event", () => {
  const n = 1000;
  const events = new EventColumns(n);
  for (let i = 0; i < n; i++) {
    events.seq[i] = i + 1;
    events.op[i] = Op.xRead;
    events.offset[i] = NaN;
    for (const field of ['flags', 'result', 'object', 'length', 'context', 'aux'] as const)
      events[field][i] = 7;
  }
  events.count = n;
  const packed = packRows(events, 0, n);
  expect(packed.length).toBeLessThan(2 * n + 150); // op and seq
  expect(rowsOf(unpackRows(packed, n))).toEqual(rowsOf(events));
});

test('docs/trace-format.md has the table of columns (to fix it: npm run docs)', () => {
  const page = readFileSync('docs/trace-format.md', 'utf8');
  expect(traceFormatDoc(page)).toBe(page);
  expect(new Set(COLUMNS.map(({ number }) => number)).size).toBe(COLUMNS.length);
  for (const { field, number } of COLUMNS) expect(page).toContain(`| ${number} | \`${field}\` |`);
});

describe('damaged columns', () => {
  const { events } = syntheticStore({ events: 40 }).threads[0]!;
  const whole = packRows(events, 0, events.count);
  const numberOf = (field: keyof EventRow): number =>
    COLUMNS.find((column) => column.field === field)!.number;
  /** The same chunk with these bytes as a column, or without that column. */
  function withColumn(field: keyof EventRow, bytes: Uint8Array | null): Uint8Array {
    const out = new ByteWriter();
    const add = (number: number, column: Uint8Array): void => {
      out.u8(number);
      out.varint(column.length);
      out.append(column);
    };
    for (const r = new ByteReader(whole); r.left;) {
      const number = r.u8();
      const column = r.take(r.varint());
      if (number !== numberOf(field)) add(number, column);
    }
    if (bytes) add(numberOf(field), bytes);
    return out.view8();
  }
  /** A column that has the same number for each event. */
  function constant(number: number): Uint8Array {
    const out = new ByteWriter();
    out.zigzag(number);
    out.append(Uint8Array.of(0, 0));
    return out.view8();
  }
  const { count } = events;
  const steps = (...numbers: number[]): Uint8Array => Uint8Array.of(0, 0, 1, ...numbers);
  const ones = Array<number>(count).fill(1);

  test.each<[what: string, bytes: Uint8Array, message: string | RegExp]>([
    [
      'a column twice',
      new Uint8Array([...whole, numberOf('op'), 0]),
      `column ${numberOf('op')} comes twice`,
    ],
    ['an empty column', withColumn('seq', new Uint8Array(0)), /^a number is cut off/],
    ['too few numbers', withColumn('seq', steps(...ones.slice(1))), /^a number is cut off/],
    ['too many numbers', withColumn('seq', steps(...ones, 1)), 'its seq is longer than its events'],
    ['no operations', withColumn('op', null), 'event 0 has an impossible op: 0'],
    [
      'an end as an operation',
      withColumn('op', constant(255)),
      'event 0 has an impossible op: 255',
    ],
    [
      'one sequence number',
      withColumn('seq', constant(999)),
      'event 1 has sequence number 999 after 999',
    ],
    [
      'falling numbers',
      withColumn('seq', Uint8Array.of(198, 1, 1, 1, ...ones)),
      'event 1 has sequence number 97 after 98',
    ],
    ['large flags', withColumn('flags', constant(256)), 'event 0 has an impossible flags: 256'],
    ['a large result', withColumn('result', constant(2 ** 31)), /impossible result: 2147483648/],
    ['a small result', withColumn('result', constant(-(2 ** 31) - 1)), /impossible result/],
    ['an early end', withColumn('endSeq', constant(-1000)), 'event 0 has an impossible endSeq'],
    ['a late parent', withColumn('parent', constant(2 ** 32 - 1)), /impossible parent$/],
    ['a half offset', withColumn('offset', constant(2 ** 32)), /impossible offset: 4294967296/],
    ['a time too far', withColumn('t0', constant(MAX_TRACE_NS)), /^event 0 has an impossible t0/],
    ['negative time', withColumn('dur', constant(-1)), 'event 0 has an impossible dur: -1'],
    [
      'steps beyond every number',
      withColumn(
        'aux',
        new Uint8Array([0, 0, ...[255, 255, 255, 255, 255, 255, 255, 15], ...ones]),
      ),
      /^event 0 has an impossible aux/,
    ],
  ])('%s: refused by name', (_, bytes, message) => {
    expect(() => unpackRows(bytes, count)).toThrow(MalformedError);
    expect(() => unpackRows(bytes, count)).toThrow(message);
  });
});

describe('a file', () => {
  test('holds the whole trace', async () => {
    const store = syntheticStore({ events: 150_000, threads: 2 });
    const {
      store: read,
      warnings,
      header,
    } = await readTrace(await saveTrace(store, { origin: 'https://app.example' }));
    expect(warnings).toEqual([]);
    expect(header).toMatchObject({
      origin: 'https://app.example',
      originMs: store.originMs,
      sanitized: false,
    });
    for (const [i, thread] of store.threads.entries()) {
      const [a, b] = [thread.events, read.threads[i]!.events];
      expect(b.count).toBe(a.count);
      for (const field of [
        't0',
        'dur',
        'seq',
        'endSeq',
        'op',
        'flags',
        'result',
        'offset',
        'length',
        'object',
        'parent',
        'context',
        'aux',
      ] as const)
        expect(sameBytes(b[field].subarray(0, b.count), a[field].subarray(0, a.count)), field).toBe(
          true,
        );
    }
    expect(summaryOf(read)).toEqual(summaryOf(store));
  });

  test('is as small as it should be', async () => {
    for (const [clockStepUs, most] of [
      [5, 3.5],
      [100, 2.5],
    ] as const) {
      const store = syntheticStore({ events: 200_000, clockStepUs });
      expect((await saveTrace(store)).size / store.eventCount).toBeLessThan(most);
    }
  });

  test('written during the recording is the same as one written at the end, with late ends in their rows', async () => {
    const store = newStore();
    const parts: Uint8Array[] = [];
    const writer = new TraceWriter(store, { write: (b) => void parts.push(b) }, { savedAt: 0 });
    const b = new ThreadBuilder(store);
    const file = b.file('/app.db');
    b.call('xRead', { object: file, length: 4096, offset: 0 });
    b.call('idbTransaction', { open: true });
    b.send();
    await writer.append();
    const rowsBefore = b.thread.events.count;
    for (const { info, batch } of syntheticBatches({ events: 3000, threads: 2, batch: 500 })) {
      store.thread(info).append(batch);
      await writer.append();
    }
    expect(rowsBefore).toBe(2);
    b.thread.events.endSeq[1] = 4;
    b.thread.events.dur[1] = 12.5;
    b.thread.events.result[1] = -3;
    b.thread.events.set('aux', 1, 70_000);
    b.thread.events.set('aux2', 1, 9);
    b.thread.dropped = 7;
    await writer.finish();
    const read = await readTrace(new Blob(parts as BlobPart[]));
    expect(read.warnings).toEqual([]);
    expect(contentOf(read.store)).toEqual(contentOf(store));
  });

  test('shows the whole trace from its summaries alone', async () => {
    const store = syntheticStore({ events: 20_000, threads: 2 });
    const { chunks } = (await readOverview(await saveTrace(store)))!;
    expect(chunks.reduce((n, c) => n + c.count, 0)).toBe(store.eventCount);
    for (const chunk of chunks) {
      expect(chunk.lanes.map((l) => l.kind)).toEqual(['sql', 'vfs', 'lock']);
      expect(chunk.lanes[1]!.busy.filter((v) => v > 0).length).toBeGreaterThan(100);
    }
  });

  test('reports progress up to its end, and can be canceled', async () => {
    const file = await saveTrace(syntheticStore({ events: 5000 }));
    const seen: number[] = [];
    await readTrace(file, { onProgress: (bytes, total) => void seen.push(bytes, total) });
    expect(seen.at(-1)).toBe(file.size);
    const control = new AbortController();
    await expect(
      readTrace(file, { signal: control.signal, onProgress: () => control.abort() }),
    ).rejects.toMatchObject({
      fault: 'canceled',
    });
  });

  test('with more events than can be shown reports it', async () => {
    const { store, warnings } = await readTrace(
      await saveTrace(syntheticStore({ events: 4000, threads: 2 })),
      { maxEvents: 3000 },
    );
    expect(store.eventCount).toBeLessThanOrEqual(3000);
    expect(warnings.join()).toMatch(/more than a file of its size may have \(3000\)/);
  });
});

describe('a damaged file', () => {
  test('truncated anywhere, loses at most its last section and reports where', async () => {
    const store = syntheticStore({ events: 6000, threads: 3, batch: 1000 });
    const parts: Uint8Array[] = [];
    const writer = new TraceWriter(store, { write: (b) => void parts.push(b) }, { savedAt: 0 });
    await writer.finish();
    const whole = new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
    const ends: number[] = [];
    parts.reduce((at, part) => (ends.push(at + part.length), at + part.length), 0);
    for (let cut = ends[0]!; cut < whole.length; cut += 997) {
      const { store: read, warnings } = await readTrace(whole.subarray(0, cut));
      const wholeParts = ends.filter((end) => end <= cut).length;
      expect(warnings.length, `cut at ${cut}`).toBe(1);
      const { store: expected } = await readTrace(whole.subarray(0, ends[wholeParts - 1]));
      expect(read.eventCount, `cut at ${cut}`).toBe(expected.eventCount);
    }
    const { warnings } = await readTrace(whole.subarray(0, ends.at(-3)! + 20));
    expect(warnings[0]).toMatch(/cut off at byte \d+, within its last .*\(\d+ bytes are missing\)/);
  });

  test('with a damaged chunk is read without it, and the chunk is named', async () => {
    const bytes = await bytesOf(syntheticStore({ events: 9000, threads: 3, batch: 1000 }));
    const chunks = [...new TextDecoder('latin1').decode(bytes).matchAll(/EVNT/g)].map(
      (m) => m.index,
    );
    bytes[chunks[1]! + 400]! ^= 0xff;
    const { store, warnings } = await readTrace(bytes);
    expect(warnings).toEqual([
      expect.stringMatching(
        /chunk of events at byte \d+ is damaged \(its checksum does not match\)/,
      ),
    ]);
    expect(store.threads.map((t) => t.events.count > 0)).toEqual([true, false, true]);
  });

  test('unknown sections and columns are skipped', async () => {
    const bytes = await bytesOf(sampleStore());
    const header = 20 + new DataView(bytes.buffer).getUint32(12, true);
    const strange = sectionBytes('WXYZ', new Uint8Array(100));
    const { store, warnings } = await readTrace(
      new Uint8Array([...bytes.subarray(0, header), ...strange, ...bytes.subarray(header)]),
    );
    expect(warnings).toEqual([]);
    expect(contentOf(store)).toEqual(contentOf(sampleStore()));
    const { events } = sampleStore().threads[0]!;
    const packed = packRows(events, 0, events.count);
    const widened = new Uint8Array([...packed, 200, 3, 1, 2, 3]);
    expect(rowsOf(unpackRows(widened, events.count))).toEqual(rowsOf(events));
  });

  test('a newer version, a file of another kind, and a broken header are rejected by name', async () => {
    const refusal = async (bytes: Uint8Array | Blob): Promise<TraceFileError> => {
      const error: unknown = await readTrace(bytes).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(TraceFileError);
      return error as TraceFileError;
    };
    const bytes = await bytesOf(sampleStore());
    const newer = bytes.slice();
    new DataView(newer.buffer).setUint32(8, FORMAT_VERSION + 6, true);
    expect((await refusal(newer)).message).toBe(
      `The file has format version ${FORMAT_VERSION + 6}; this vfscope reads up to version ${FORMAT_VERSION}. Open it with a newer vfscope.`,
    );
    const text = new TextEncoder();
    expect((await refusal(text.encode('SQLite format 3\0 and more of it'))).message).toMatch(
      /a vfscope recording: the file is a SQLite database/,
    );
    expect((await refusal(text.encode('{"traceEvents":[]}'))).message).toMatch(
      /looks like JSON.*Choose a \.vfst file/,
    );
    expect((await refusal(new Uint8Array(0))).message).toMatch(/is empty/);
    expect((await refusal(new Blob([MAGIC]))).fault).toBe('damaged');
    const broken = bytes.slice();
    broken[25]! ^= 1;
    expect((await refusal(broken)).message).toMatch(
      /header is damaged: its checksum does not match/,
    );
  });

  test('thousands of mutated files: a trace or a named error, and nothing else', async () => {
    const original = await bytesOf(sampleStore());
    let seed = 42;
    const random = (n: number): number => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 1) % n;
    let [read, refused] = [0, 0];
    for (let i = 0; i < part(3000); i++) {
      let bytes = original.slice();
      for (let k = random(4); k >= 0; k--) {
        const at = random(bytes.length);
        if (random(3) === 0) bytes[at] = random(256);
        else if (random(2)) bytes.fill(255, at, at + 1 + random(8));
        else bytes = new Uint8Array([...bytes.subarray(0, at), ...bytes.subarray(at + random(30))]);
      }
      if (random(2)) mendChecksums(bytes);
      try {
        const { store } = await readTrace(bytes);
        for (const { events } of store.threads)
          for (let r = 1; r < events.count; r++)
            if (!(events.seq[r]! > events.seq[r - 1]! && events.t0[r]! >= events.t0[r - 1]!))
              expect.fail(`event ${r} isn't behind the one before it`);
        summaryOf(store);
        read++;
      } catch (e) {
        if (!(e instanceof TraceFileError)) throw e;
        refused++;
      }
    }
    expect(read).toBeGreaterThan(part(500));
    expect(refused).toBeGreaterThan(part(50));
  }, 60_000);
});

/** Corrects the checksums, so that readers reach the damage behind them. */
function mendChecksums(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (
    let at = bytes.length > 20 ? 20 + view.getUint32(12, true) : bytes.length;
    at + 12 <= bytes.length;
  ) {
    const length = view.getUint32(at + 4, true);
    if (at + 12 + length > bytes.length) return;
    const tag = String.fromCharCode(...bytes.subarray(at, at + 4));
    view.setUint32(
      at + 8,
      new DataView(sectionBytes(tag, bytes.subarray(at + 12, at + 12 + length)).buffer).getUint32(
        8,
        true,
      ),
      true,
    );
    at += 12 + length;
  }
}

describe('versions', () => {
  test('the stored sample of version 1 reads back unchanged', async () => {
    const file = new Uint8Array(readFileSync('tests/traces/v1-sample.vfst'));
    const { store, warnings } = await readTrace(file);
    expect({ warnings, version: file[MAGIC.length] }).toEqual({ warnings: [], version: 1 });
    expect(contentOf(store)).toEqual(contentOf(sampleStore()));
  });
});
