import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { part } from '../full.ts';
import { RecordReader } from '../../src/event/batch.ts';
import { counters, drainRecords } from '../../src/record/drain.ts';
import { Flag, Op, RECORD_BYTES } from '../../src/event/event.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { Recorder } from '../../src/record/recorder.ts';
import { RING_AT } from '../../src/record/ring-layout.ts';
import { fileKindOfPath } from '../../src/event/file-names.ts';
import { hasType } from '../../src/vfs-instrumented/interpose/link-probe.ts';
import {
  tableGet,
  tableSet,
  type WasmFunction,
} from '../../src/vfs-instrumented/interpose/natives.ts';
import { VfsTracer } from '../../src/vfs-instrumented/interpose/vfs-tracer.ts';
import { measureVfsCost } from '../../src/vfs-instrumented/interpose/self-cost.ts';
import * as w from '../../src/vfs-instrumented/interpose/wasm-writer.ts';

/** An engine that consists only of a table, each of whose functions calls JavaScript. */
class Toy {
  readonly memory = new WebAssembly.Memory({ initial: 4 });
  readonly table = new WebAssembly.Table({ element: 'anyfunc', initial: 64 });
  readonly words = new Uint32Array(this.memory.buffer);
  private next = 1;

  /** @returns the slot of a wasm function of this type that returns what `body` does */
  add(
    params: string,
    body: (...args: (number | bigint)[]) => number = () => 0,
    results = 'i',
  ): number {
    const type = w.functionType({ params, results });
    const module = new WebAssembly.Module(
      w.moduleBytes(
        w.section(1, w.vector([type])),
        w.section(2, w.vector([w.importFunction('j', 'f', 0)])),
        w.section(3, w.vector([[0]])),
        w.section(7, w.vector([w.exportFunction('f', 1)])),
        w.section(
          10,
          w.vector([
            w.functionBody([], [...[...params].flatMap((_, i) => w.get(i)), ...w.call(0)]),
          ]),
        ),
      ),
    );
    const slot = this.next++;
    tableSet(
      this.table,
      slot,
      new WebAssembly.Instance(module, { j: { f: body } }).exports.f as WasmFunction,
    );
    return slot;
  }
  /** Calls the slot's current function. */
  call(slot: number, ...args: (number | bigint)[]): number {
    return (tableGet(this.table, slot) as (...a: (number | bigint)[]) => number)(...args);
  }
  put(address: number, ...words: number[]): void {
    this.words.set(words, address >>> 2);
  }
  text(address: number, s: string): void {
    new Uint8Array(this.memory.buffer).set(new TextEncoder().encode(`${s}\0`), address);
  }
}

const IO_TYPES = [
  'i',
  'iiij',
  'iiij',
  'ij',
  'ii',
  'ii',
  'ii',
  'ii',
  'ii',
  'iii',
  'i',
  'i',
  'iiiii',
  'iiii',
  'i',
  'ii',
  'ijii',
  'iji',
];
const METHODS = 4096;
const VFS = 8192;
const NAME = 12288;
const FILE = 16384;

/** A VFS with io_methods version 3, as an engine would have it. */
function toyVfs(recorder = new Recorder({ capacity: 64, maxEngines: 2 })) {
  const toy = new Toy();
  const slots = IO_TYPES.map((params, i) => toy.add(params, () => 100 + i, i === 14 ? '' : 'i'));
  toy.put(METHODS, 3, ...slots);
  const xOpen = toy.add('iiiii', (_vfs, _name, file) => {
    toy.put(Number(file), METHODS);
    return 0;
  });
  const xDelete = toy.add('iii');
  const xAccess = toy.add('iiii');
  toy.put(VFS, 1, 64, 512, 0, NAME - 64, 0, xOpen, xDelete, xAccess);
  toy.text(NAME - 64, 'toy');
  toy.text(NAME, '/a.db');
  const definitions: Definition[] = [];
  const tracer = new VfsTracer(recorder, {
    memory: toy.memory,
    table: toy.table,
    asyncify: false,
    engine: () => 7,
  });
  tracer.install();
  const read = (): RecordReader => {
    definitions.push(...recorder.takeDefinitions());
    return new RecordReader(drainRecords(recorder.memory.buffer)?.records ?? new ArrayBuffer(0));
  };
  return { toy, slots, xOpen, xDelete, xAccess, recorder, tracer, definitions, read };
}

describe('trampolines', () => {
  it('link only under their own type', () => {
    const { toy, slots } = toyVfs();
    IO_TYPES.forEach((params, i) => {
      const fn = tableGet(toy.table, slots[i]!)!;
      expect(hasType(fn, { params, results: i === 14 ? '' : 'i' })).toBe(true);
      expect(hasType(fn, { params, results: i === 14 ? 'i' : '' })).toBe(false);
    });
    expect(hasType(tableGet(toy.table, slots[3]!)!, { params: 'ii', results: 'i' })).toBe(false);
  });

  it('record every method with its file, offset, length, and detail, and forward arguments and results', () => {
    const { toy, slots, xOpen, xDelete, xAccess, definitions, read } = toyVfs();
    expect(toy.call(xOpen, VFS, NAME, FILE, 0x106, 0)).toBe(0);
    const numbers: (number | bigint)[][] = [
      [0, 4096, 8192n],
      [0, 512, 2n ** 40n],
      [65536n],
      [2],
      [0],
      [1],
      [0],
      [0],
      [21, 0],
      [],
      [],
      [0, 1, 2, 3],
      [0, 1, 5],
      [],
      [1],
      [4096n, 100, 0],
      [4096n, 0],
    ];
    numbers.forEach((args, i) =>
      expect(toy.call(slots[i + 1]!, FILE, ...args)).toBe(i + 1 === 14 ? undefined : 101 + i),
    );
    toy.call(xDelete, VFS, NAME, 1);
    toy.call(xAccess, VFS, NAME, 2, 0);
    toy.call(slots[0]!, FILE);
    const r = read();
    const file = definitions.find((d) => d.kind === 'file')!;
    expect(definitions).toEqual([
      {
        kind: 'file',
        id: file.id,
        path: '/a.db',
        fileKind: 'main-db',
        vfs: 'toy',
        engine: 7,
        flags: 0x106,
      },
    ]);
    const rows = Array.from({ length: r.count }, (_, i) => [
      r.op(i),
      r.offset(i),
      r.length(i),
      r.aux(i),
      r.result(i),
      r.flags(i),
    ]);
    const na = NaN;
    expect(rows).toEqual([
      [Op.xOpen, na, 0, 0x106, 0, 0],
      [Op.xRead, 8192, 4096, 0, 101, 0],
      [Op.xWrite, 2 ** 40, 512, 0, 102, 0],
      [Op.xTruncate, 65536, 0, 0, 103, 0],
      [Op.xSync, na, 0, 2, 104, 0],
      [Op.xFileSize, na, 0, 0, 105, 0],
      [Op.xLock, na, 0, 1, 106, 0],
      [Op.xUnlock, na, 0, 0, 107, 0],
      [Op.xCheckReservedLock, na, 0, 0, 108, 0],
      [Op.xFileControl, na, 0, 21, 109, 0],
      [Op.xSectorSize, na, 0, 0, 110, Flag.untimed],
      [Op.xDeviceCharacteristics, na, 0, 0, 111, Flag.untimed],
      [Op.xShmMap, na, 0, 0, 112, 0],
      [Op.xShmLock, na, 0, 5, 113, 0],
      [Op.xShmBarrier, na, 0, 0, 0, 0],
      [Op.xShmUnmap, na, 0, 1, 115, 0],
      [Op.xFetch, 4096, 100, 0, 116, 0],
      [Op.xUnfetch, 4096, 0, 0, 117, 0],
      [Op.xDelete, na, 0, 1, 0, 0],
      [Op.xAccess, na, 0, 2, 0, 0],
      [Op.xClose, na, 0, 0, 100, 0],
    ]);
    for (let i = 0; i < r.count; i++) {
      expect(r.object(i)).toBe(file.id);
      expect([r.seq(i), r.endSeq(i)]).toEqual([2 * i + 1, 2 * i + 2]);
      expect(r.t0(i)).toBeGreaterThan(0);
      expect(r.t1(i)).toBeGreaterThanOrEqual(r.t0(i));
    }
  });

  it('write the same bytes as the recorder, including ends after a drain, and drops', () => {
    const calls = fc.array(
      fc.record({
        size: fc.nat(65536),
        at: fc.nat(2 ** 40),
        drain: fc.boolean(),
        within: fc.boolean(),
      }),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(calls, (list) => {
        let tick = 1;
        const a = new Recorder({ capacity: 16, maxEngines: 1, now: () => tick++ });
        const b = new Recorder({ capacity: 16, maxEngines: 1, now: () => tick++ });
        const toy = new Toy();
        let within = false;
        const read = toy.add('iiij', () => {
          if (within) drainRecords(a.memory.buffer);
          return 522;
        });
        toy.put(
          METHODS,
          1,
          toy.add('i'),
          read,
          toy.add('iiij'),
          toy.add('ij'),
          ...[5, 6, 7, 8].map(() => toy.add('ii')),
        );
        toy.put(FILE, METHODS);
        const tracer = new VfsTracer(a, {
          memory: toy.memory,
          table: toy.table,
          asyncify: false,
          engine: () => 0,
        });
        tracer.install();
        tick = 1;
        for (const c of list) {
          within = c.within;
          toy.call(read, FILE, 0, c.size, BigInt(c.at));
          if (c.drain) drainRecords(a.memory.buffer);
        }
        tick = 1;
        b.define({
          kind: 'file',
          path: '(opened before recording)',
          fileKind: 'other',
          vfs: '',
          engine: 0,
          flags: 0,
        });
        for (const c of list) {
          const token = b.begin(Op.xRead, 1, c.at, c.size);
          if (c.within) drainRecords(b.memory.buffer);
          b.end(token, 522);
          if (c.drain) drainRecords(b.memory.buffer);
        }
        const ring = (r: Recorder): Uint8Array =>
          new Uint8Array(r.memory.buffer, RING_AT, 16 * RECORD_BYTES);
        expect(counters(a.memory.buffer)).toEqual(counters(b.memory.buffer));
        expect(ring(a)).toEqual(ring(b));
      }),
      { numRuns: 60 },
    );
  });

  it('decode the headers of databases, logs, and journals as the recorder would write them, including late ends', () => {
    const BUFFER = 32768;
    const flags = { 'main-db': 0x106, wal: 0x80006, journal: 0x806, temp: 0x206 };
    const call = fc.record({
      write: fc.boolean(),
      length: fc.oneof(fc.constant(4096), fc.constantFrom(4, 8, 12, 16, 24, 28, 32, 100, 512)),
      offset: fc.oneof(
        fc.constant(0),
        fc.constantFrom(24, 32, 33, 512, 32 + 24 + 4096, 32 + 5 * (24 + 4096)),
        fc.nat(2 ** 40),
      ),
      first: fc.constantFrom(0, 2, 3, 5, 10, 13, 34, 255),
      words: fc.array(fc.constantFrom(0, 1, 4096, 512, 77, 2 ** 32 - 2), {
        minLength: 8,
        maxLength: 8,
      }),
      result: fc.constantFrom(0, 0, 0, 522),
      within: fc.boolean(),
    });
    /** The documentation of AUX, in other words than the wasm. */
    const says = (
      kind: string,
      pageSize: number,
      length: number,
      offset: number,
      view: DataView,
    ): [number, number] => {
      if (kind === 'main-db' && length >= 512) {
        const type = view.getUint8(offset === 0 ? 100 : 0);
        return [offset === 0 ? view.getUint32(24) : 0, [2, 5, 10, 13].includes(type) ? type : 0];
      }
      if (kind === 'main-db' && offset === 24 && length === 16)
        return [view.getUint32(0), view.getUint32(12)];
      if (kind === 'journal' && offset === 0 && length >= 8 && length < 512)
        return [0, view.getBigUint64(0) === 0n ? 1 : 0];
      if (kind !== 'wal') return [0, 0];
      if (offset === 0) return length === 32 ? [0xffffffff, view.getUint32(16)] : [0, 0];
      const isFrame =
        offset >= 32 &&
        (pageSize ? (offset - 32) % (24 + pageSize) === 0 && length >= 8 : length === 24);
      return isFrame ? [view.getUint32(0), view.getUint32(4)] : [0, 0];
    };
    fc.assert(
      fc.property(
        fc.constantFrom('main-db' as const, 'wal' as const, 'journal' as const, 'temp' as const),
        fc.array(call, { maxLength: 30 }),
        (kind, calls) => {
          let tick = 1;
          const a = new Recorder({ capacity: 16, maxEngines: 1, now: () => tick++ });
          const b = new Recorder({ capacity: 16, maxEngines: 1, now: () => tick++ });
          const { toy, xOpen } = toyVfs(a);
          let now: (typeof calls)[number];
          const fill = (): void => {
            const view = new DataView(toy.memory.buffer, BUFFER);
            now.words.forEach((word, i) => view.setUint32(4 * i, word));
            view.setUint8(0, now.first);
            view.setUint8(100, now.first);
          };
          const body = (): number => {
            if (now.within) drainRecords(a.memory.buffer);
            if (!now.write) fill();
            return now.result;
          };
          const [read, write] = [toy.add('iiij', body), toy.add('iiij', body)];
          toy.put(
            METHODS,
            1,
            toy.add('i'),
            read,
            write,
            toy.add('ij'),
            ...[5, 6, 7, 8].map(() => toy.add('ii')),
          );
          toy.call(xOpen, VFS, NAME, FILE, flags[kind], 0);
          const file = (a.takeDefinitions().find((d) => d.kind === 'file')! as { id: number }).id;
          drainRecords(a.memory.buffer);
          b.end(b.begin(Op.xOpen, file, NaN, 0, flags[kind]), 0);
          drainRecords(b.memory.buffer);
          tick = 1;
          let pageSize = 0;
          const expected: [number, number][] = [];
          for (const c of calls) {
            now = c;
            fill();
            toy.call(c.write ? write : read, FILE, BUFFER, c.length, BigInt(c.offset));
            const view = new DataView(toy.memory.buffer, BUFFER);
            const known = c.write || c.result === 0;
            expected.push(known ? says(kind, pageSize, c.length, c.offset, view) : [0, 0]);
            const size = view.getUint32(8);
            if (known && expected.at(-1)![0] === 0xffffffff && size === 4096) pageSize = 4096;
            else if (known && expected.at(-1)![0] === 0xffffffff && size === 512) pageSize = 512;
          }
          tick = 1;
          calls.forEach((c, i) => {
            const [aux, aux2] = expected[i]!;
            const token = c.write
              ? b.begin(Op.xWrite, file, c.offset, c.length, aux, 0, aux2)
              : b.begin(Op.xRead, file, c.offset, c.length);
            if (c.within) drainRecords(b.memory.buffer);
            if (c.write) b.end(token, c.result);
            else b.end(token, c.result, 0, undefined, aux, aux2);
          });
          const ring = (r: Recorder): Uint8Array =>
            new Uint8Array(r.memory.buffer, RING_AT, 16 * RECORD_BYTES);
          expect(a.faults).toBe(0);
          expect(ring(a).slice(64)).toEqual(ring(b).slice(64)); // the first holds the times of xOpen
          expect(counters(a.memory.buffer)).toEqual(counters(b.memory.buffer));
        },
      ),
      { numRuns: part(150) },
    );
  });

  it("SQLite's memory journal has no xLock: its calls are marked", () => {
    const { toy, slots, definitions, read } = toyVfs();
    const journal = 5000;
    toy.put(journal, 1, ...slots.slice(0, 6), 0, 0, 0, 0, 0, 0);
    toy.put(FILE, journal);
    toy.call(slots[2]!, FILE, 0, 512, 0n);
    toy.call(slots[0]!, FILE);
    const r = read();
    expect([r.op(0), r.flags(0), r.op(1), r.flags(1)]).toEqual([
      Op.xWrite,
      Flag.memoryJournal,
      Op.xClose,
      Flag.memoryJournal,
    ]);
    expect(definitions.map((d) => d.kind === 'file' && d.fileKind)).toEqual(['memory-journal']);
  });

  it('a function that only looks like xOpen is never recorded, and gets its slot back when it is hot', () => {
    const { toy, recorder, tracer, read } = toyVfs();
    const collation = toy.add('iiiii', () => 3);
    const own = tableGet(toy.table, collation);
    tracer.slotSet(collation, own);
    expect(tableGet(toy.table, collation)).not.toBe(own);
    expect(tracer.originalAt(collation)).toBe(own);
    for (let i = 0; i < 64; i++) expect(toy.call(collation, i * 4, 1, 2, 3, 4)).toBe(3);
    expect(tableGet(toy.table, collation)).toBe(own);
    expect(toy.call(collation, 0, 1, 2, 3, 4)).toBe(3);
    expect(read().count).toBe(0);
    expect(recorder.faults).toBe(0);
  });

  it('a VFS whose methods appear late, and one that changes its struct in place, are detected', () => {
    const { toy, slots, xOpen, tracer, read } = toyVfs();
    toy.call(xOpen, VFS, NAME, FILE, 0x106, 0);
    toy.call(slots[0]!, FILE);
    const late = toy.add('iiij', () => 9);
    tracer.slotSet(late, tableGet(toy.table, late));
    const lateLock = toy.add('ii', () => 8);
    toy.words[(METHODS >>> 2) + 2] = late;
    toy.words[(METHODS >>> 2) + 7] = lateLock;
    read();
    toy.call(xOpen, VFS, NAME, FILE, 0x106, 0);
    expect(toy.call(late, FILE, 0, 1, 2n)).toBe(9);
    expect(toy.call(lateLock, FILE, 4)).toBe(8);
    const r = read();
    expect([r.op(1), r.result(1), r.op(2), r.aux(2)]).toEqual([Op.xRead, 9, Op.xLock, 4]);
  });

  it('a failed xOpen leaves no name', () => {
    const { toy, slots, xOpen, tracer, definitions, read } = toyVfs();
    toy.call(xOpen, VFS, NAME, FILE, 0x106, 0);
    toy.text(NAME, '/b.db');
    const failing = toy.add('iiiii', (_v, _n, file) => {
      toy.put(Number(file), 0);
      return 14;
    });
    toy.words[(VFS >>> 2) + 6] = failing;
    tracer.slotSet(failing, tableGet(toy.table, failing));
    expect(toy.call(failing, VFS, NAME, FILE, 0x106, 0)).toBe(14);
    toy.put(FILE, METHODS);
    toy.call(slots[6]!, FILE, 1);
    const r = read();
    const path = (id: number): unknown => definitions.find((d) => d.kind === 'file' && d.id === id);
    expect(path(r.object(r.count - 1))).toMatchObject({ path: '(opened before recording)' });
  });

  it('restore gives every slot back', () => {
    const { toy, tracer, xOpen, slots, read } = toyVfs();
    const own = Array.from(
      { length: 64 },
      (_, i) => tracer.originalAt(i) ?? tableGet(toy.table, i),
    );
    toy.call(xOpen, VFS, NAME, FILE, 0x106, 0);
    tracer.restore();
    expect(
      Array.from({ length: 64 }, (_, i) => tableGet(toy.table, i) === own[i]).every(Boolean),
    ).toBe(true);
    read();
    toy.call(slots[6]!, FILE, 1);
    expect(read().count).toBe(0);
  });
});

it('the cost of one traced call is measured', () => {
  const { nsPerVfsEvent, nsPerClockPair } = measureVfsCost(2000, 2);
  expect(nsPerClockPair).toBeGreaterThan(0);
  expect(nsPerVfsEvent).toBeGreaterThan(0);
  expect(nsPerVfsEvent).toBeLessThan(100_000);
});

it('file kinds by name', () => {
  expect(['a.db-journal', 'a.db-wal', 'a.db', 'a.db-mj12345698C'].map(fileKindOfPath)).toEqual([
    'journal',
    'wal',
    'other',
    'journal',
  ]);
});
