/**
 * Shared parts of all trampolines, as wasm functions in each generated module: look up a file,
 * begin a record, finish it. `begin` and `finish` mirror Recorder.begin and Recorder.finish
 * (record/recorder.ts) exactly: change both together.
 */
import { Field, Op, RECORD_BYTES } from '../../event/event.ts';
import { Header, RING_AT } from '../../record/ring-layout.ts';
import { Block, FILE_ENTRIES, FileEntry, HASH, HASH_SHIFT } from './engine-block.ts';
import * as w from './wasm-writer.ts';
import { OP, type Bytes } from './wasm-writer.ts';

interface RingParts {
  readonly capacity: number;
  readonly shared: boolean;
  /** Byte address of the engine's block. */
  readonly block: number;
  /** Indices of the imported functions. */
  readonly now: number;
  readonly pressure: number;
}

/** A word of the trace memory at a constant address. */
export const word = (at: number): Bytes => [...w.i32(0), ...w.load(at)];
export const setWord = (at: number, value: Bytes): Bytes => [...w.i32(0), ...value, ...w.store(at)];

/** lookup(file, pMethods) -> byte address of its entry, or 0 */
export const LOOKUP: w.Signature = { params: 'ii', results: 'i' };
export function lookupBody(p: RingParts): Bytes {
  const file = 0;
  const pMethods = 1;
  const at = 2;
  const key = 3;
  const first = p.block + Block.files;
  const behind = first + FILE_ENTRIES * FileEntry.bytes;
  return w.functionBody(
    [[2, 'i']],
    [
      ...[
        ...w.get(file),
        ...w.i32(HASH),
        OP.mul,
        ...w.i32(HASH_SHIFT),
        OP.shrU,
        ...w.i32(4),
        OP.shl,
        ...w.i32(first),
        OP.add,
        ...w.set(at),
      ],
      ...[OP.loop, 0x40],
      ...[
        ...w.get(at),
        ...w.load(FileEntry.file),
        ...w.tee(key),
        OP.eqz,
        ...w.when([...w.i32(0), OP.return]),
      ],
      ...[...w.get(key), ...w.get(file), OP.eq],
      ...w.when([
        ...[...w.get(at), ...w.load(FileEntry.pMethods), ...w.get(pMethods), OP.eq],
        ...w.choose(w.get(at), w.i32(0)),
        OP.return,
      ]),
      ...[
        ...w.get(at),
        ...w.i32(FileEntry.bytes),
        OP.add,
        ...w.tee(at),
        ...w.i32(behind),
        OP.eq,
        ...w.when([...w.i32(first), ...w.set(at)]),
      ],
      ...[...w.branch(0), OP.end],
      ...w.i32(0),
    ],
  );
}

/** Publish a record: HEAD goes up after the record's fields are written. */
const publish = (p: RingParts, head: number): Bytes => [
  ...[...w.i32(0), ...w.get(head), ...w.i32(1), OP.add],
  ...(p.shared ? w.atomicStore(Header.head) : w.store(Header.head)),
];
const slotAddress = (p: RingParts, head: number): Bytes => [
  ...[
    ...w.get(head),
    ...w.i32(p.capacity - 1),
    OP.and,
    ...w.i32(RECORD_BYTES),
    OP.mul,
    ...w.i32(RING_AT),
    OP.add,
  ],
];
const dropIfFull = (p: RingParts, head: number, leave: Bytes): Bytes => [
  ...[...w.get(head), ...word(Header.released), OP.sub, ...w.i32(p.capacity - 1), OP.gtU],
  ...w.when([
    ...setWord(Header.dropped, [...word(Header.dropped), ...w.i32(1), OP.add]),
    ...leave,
    OP.return,
  ]),
];

/** Writes a field of the record whose address is in a local. */
const putAt =
  (at: number) =>
  (field: number, value: Bytes, how = w.store): Bytes => [...w.get(at), ...value, ...how(field)];

/**
 * begin(op with flags << 8, object, offset, length, aux, timed, aux2) -> byte address of the
 * record, or 0
 */
export const BEGIN: w.Signature = { params: 'iidiiii', results: 'i' };
export function beginBody(p: RingParts): Bytes {
  const [op, object, offset, length, aux, timed, aux2, head, at, seq, t] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ] as const;
  const put = putAt(at);
  return w.functionBody(
    [
      [3, 'i'],
      [1, 'd'],
    ],
    [
      ...[...word(Header.enabled), OP.eqz, ...w.when([...w.i32(0), OP.return])],
      ...[
        ...word(Header.head),
        ...w.tee(head),
        ...word(Header.claimed),
        OP.sub,
        ...word(Header.pressure),
        OP.geU,
        ...[...w.i32(0), ...w.loadF64(Header.lastClock)],
        ...[...w.i32(0), ...w.loadF64(Header.due)],
        ...[OP.f64Ge, OP.or],
      ],
      ...w.when([...w.call(p.pressure), ...word(Header.head), ...w.set(head)]),
      ...dropIfFull(p, head, w.i32(0)),
      ...[...slotAddress(p, head), ...w.set(at)],
      ...setWord(Header.seq, [...word(Header.seq), ...w.i32(1), OP.add, ...w.tee(seq)]),
      ...w.get(timed),
      ...w.when(
        [
          ...w.get(seq),
          ...w.call(p.now),
          ...w.set(t),
          ...w.i32(0),
          ...w.get(t),
          ...w.storeF64(Header.lastClock),
        ],
        [...w.i32(0), ...w.loadF64(Header.lastClock), ...w.set(t)],
      ),
      ...put(Field.t0, w.get(t), w.storeF64),
      ...put(Field.t1, w.get(t), w.storeF64),
      ...put(Field.seq, w.get(seq)),
      ...put(Field.endSeq, w.i32(0)),
      ...put(Field.op, w.get(op)),
      ...put(Field.result, w.i32(0)),
      ...put(Field.offset, w.get(offset), w.storeF64),
      ...put(Field.length, w.get(length)),
      ...put(Field.object, w.get(object)),
      ...put(Field.parent, word(Header.current)),
      ...put(Field.context, word(Header.context)),
      ...put(Field.aux, w.get(aux)),
      ...put(Field.aux2, w.get(aux2)),
      ...publish(p, head),
      ...w.get(at),
    ],
  );
}

/**
 * finish(record, seq, result, flags << 8, timed, aux, aux2). aux and aux2 are known only after the
 * call, or are 0 and 0
 */
export const FINISH: w.Signature = { params: 'iiiiiii', results: '' };
export function finishBody(p: RingParts): Bytes {
  const [at, seq, result, flags, timed, aux, aux2, head, endSeq, claimed, t] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ] as const;
  const put = putAt(at);
  const slot = [...w.get(at), ...w.i32(RING_AT), OP.sub, ...w.i32(6), OP.shrU];
  const isUnclaimed = [
    ...[
      ...w.i32(0),
      ...(p.shared ? w.atomicLoad(Header.claimed) : w.load(Header.claimed)),
      ...w.set(claimed),
    ],
    ...[
      ...slot,
      ...w.get(claimed),
      OP.sub,
      ...w.i32(p.capacity - 1),
      OP.and,
      ...word(Header.head),
      ...w.get(claimed),
      OP.sub,
      OP.ltU,
    ],
  ];
  return w.functionBody(
    [
      [3, 'i'],
      [1, 'd'],
    ],
    [
      ...setWord(Header.seq, [...word(Header.seq), ...w.i32(1), OP.add, ...w.tee(endSeq)]),
      ...w.get(timed),
      ...w.when(
        [
          ...w.get(seq),
          ...w.call(p.now),
          ...w.set(t),
          ...w.i32(0),
          ...w.get(t),
          ...w.storeF64(Header.lastClock),
        ],
        [...w.i32(0), ...w.loadF64(Header.lastClock), ...w.set(t)],
      ),
      ...[...w.get(at), ...w.load(Field.seq), ...w.get(seq), OP.eq],
      ...w.when([
        ...isUnclaimed,
        ...w.when([
          ...put(Field.t1, w.get(t), w.storeF64),
          ...put(Field.result, w.get(result)),
          ...put(Field.op, [...w.get(at), ...w.load(Field.op), ...w.get(flags), OP.or]),
          ...[
            ...w.get(aux),
            ...w.get(aux2),
            OP.or,
            ...w.when([...put(Field.aux, w.get(aux)), ...put(Field.aux2, w.get(aux2))]),
          ],
          ...put(Field.endSeq, w.get(endSeq), p.shared ? w.atomicStore : w.store),
          // a reader on another thread may have taken the record in the meantime, perhaps without
          // its end, so it is written again
          ...(p.shared ? [...isUnclaimed, ...w.when([OP.return])] : [OP.return]),
        ]),
      ]),
      ...[...word(Header.head), ...w.set(head)],
      ...dropIfFull(p, head, []),
      ...[...slotAddress(p, head), ...w.set(at)],
      ...put(Field.t0, w.get(t), w.storeF64),
      ...put(Field.t1, w.get(t), w.storeF64),
      ...put(Field.seq, w.get(seq)),
      ...put(Field.endSeq, w.get(endSeq)),
      ...put(Field.op, [...w.i32(Op.end), ...w.get(flags), OP.or]),
      ...put(Field.result, w.get(result)),
      ...put(Field.offset, w.f64(NaN), w.storeF64),
      ...put(Field.length, w.i32(0)),
      ...put(Field.aux, w.get(aux)),
      ...put(Field.aux2, w.get(aux2)),
      ...publish(p, head),
    ],
  );
}
