/**
 * Reads SQLite's own headers in wasm from the buffer of an xRead or xWrite: page types, WAL frames,
 * a zeroed journal header, the change counter. It reads at most 32 bytes of the app's memory, a
 * word at a time. event/operations.ts documents the results. Pages that show the structure of their
 * database are passed on whole (structure-decode.ts).
 */
import {
  DATABASE_HEADER,
  SMALLEST_PAGE,
  VERSION_AT,
  VERSION_BYTES,
} from '../../sqlite/page-size.ts';
import { BTREE_PAGES } from '../../sqlite/page.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../sqlite/wal.ts';
import { HeadersOf, PAGE_BITS_SHIFT } from './engine-block.ts';
import * as w from './wasm-writer.ts';
import { OP, type Bytes, type Signature } from './wasm-writer.ts';

/**
 * What the buffer of a transfer begins with. `body`: the page of a frame, whose header came before.
 */
export const Headed = {
  none: 0,
  body: 1,
  page: 2,
  page1: 3,
  walHeader: 4,
  frame: 5,
  journal: 6,
  version: 7,
} as const;

export interface Decoder {
  /** where(HeadersOf | page bits, length, offset i64) -> Headed */
  readonly where: number;
  /** aux(Headed, buffer), aux2(Headed, buffer): values for the record */
  readonly aux: number;
  readonly aux2: number;
  /** First free index after them. */
  readonly behind: number;
  readonly signatures: readonly Signature[];
  readonly bodies: readonly Bytes[];
}

/**
 * @param first index of the first of these functions in its module
 * @param peek index of peek(address) -> word
 */
export function decodeParts(first: number, peek: number): Decoder {
  return {
    where: first,
    aux: first + 1,
    aux2: first + 2,
    behind: first + 3,
    signatures: [
      { params: 'iij', results: 'i' },
      { params: 'ii', results: 'i' },
      { params: 'ii', results: 'i' },
    ],
    bodies: [whereBody(), auxBody(peek), aux2Body(peek)],
  };
}

function whereBody(): Bytes {
  const [kind, length, offset, within] = [0, 1, 2, 3] as const;
  const isKind = (k: number): Bytes => [
    ...w.get(kind),
    ...w.i32((1 << PAGE_BITS_SHIFT) - 1),
    OP.and,
    ...w.i32(k),
    OP.eq,
  ];
  const atStart = [...w.get(offset), OP.i64Eqz];
  const pageBits = [...w.get(kind), ...w.i32(PAGE_BITS_SHIFT), OP.shrU];
  const frameBytes = [
    ...w.i32(1),
    ...pageBits,
    OP.shl,
    ...w.i32(WAL_FRAME_HEADER),
    OP.add,
    OP.i64FromU32,
  ];
  // at a sync point, SQLite splits a frame's header over two writes; the first eight bytes are
  // enough
  const header = [...w.get(length), ...w.i32(8), OP.geU, ...w.i32(Headed.frame), OP.mul];
  const body = [
    ...[
      ...w.get(within),
      ...w.i64(WAL_FRAME_HEADER),
      OP.i64Eq,
      ...w.get(length),
      ...w.i32(1),
      ...pageBits,
      OP.shl,
      OP.eq,
      OP.and,
    ],
  ];
  const inFrame = [
    ...[
      ...w.get(offset),
      ...w.i64(WAL_HEADER),
      OP.i64Sub,
      ...frameBytes,
      OP.i64RemU,
      ...w.tee(within),
      OP.i64Eqz,
    ],
    ...w.choose(header, body),
  ];
  const frameOr0 = [
    ...pageBits,
    ...w.choose(inFrame, [
      ...w.get(length),
      ...w.i32(WAL_FRAME_HEADER),
      OP.eq,
      ...w.i32(Headed.frame),
      OP.mul,
    ]),
  ];
  const wal = [
    ...atStart,
    ...w.choose(
      [...w.get(length), ...w.i32(WAL_HEADER), OP.eq, ...w.i32(Headed.walHeader), OP.mul],
      [
        ...w.get(offset),
        ...w.i64(WAL_HEADER),
        OP.i64LtU,
        ...w.choose(w.i32(Headed.none), frameOr0),
      ],
    ),
  ];
  const version = [
    ...[
      ...w.get(offset),
      ...w.i64(VERSION_AT),
      OP.i64Eq,
      ...w.get(length),
      ...w.i32(VERSION_BYTES),
      OP.eq,
      OP.and,
    ],
    ...[...w.i32(Headed.version), OP.mul],
  ];
  const page = [
    ...[...w.get(length), ...w.i32(SMALLEST_PAGE), OP.geU],
    ...w.choose([...atStart, ...w.i32(Headed.page), OP.add], version),
  ];
  const journal = [
    ...[
      ...atStart,
      ...w.get(length),
      ...w.i32(8),
      OP.geU,
      OP.and,
      ...w.get(length),
      ...w.i32(SMALLEST_PAGE),
      OP.ltU,
      OP.and,
    ],
    ...[...w.i32(Headed.journal), OP.mul],
  ];
  return w.functionBody(
    [[1, 'j']],
    [
      ...isKind(HeadersOf.mainDb),
      ...w.choose(page, [...isKind(HeadersOf.wal), ...w.choose(wal, journal)]),
    ],
  );
}

/** The big-endian word at buffer + offset. */
function bigEndian(peek: number, offset: Bytes, scratch: number): Bytes {
  const rotated = (by: number, mask: number): Bytes => [
    ...w.get(scratch),
    ...w.i32(by),
    OP.rotl,
    ...w.i32(mask),
    OP.and,
  ];
  return [
    ...[...w.get(1), ...offset, OP.add, ...w.call(peek), ...w.set(scratch)],
    ...[...rotated(8, 0x00ff00ff), ...rotated(24, 0xff00ff00), OP.or],
  ];
}

function auxBody(peek: number): Bytes {
  const [headed, word] = [0, 2] as const;
  const counterOf = [...w.get(headed), ...w.i32(Headed.page1), OP.eq, ...w.i32(VERSION_AT), OP.mul];
  const hasWord = [
    ...w.i32((1 << Headed.page1) | (1 << Headed.frame) | (1 << Headed.version)),
    ...w.get(headed),
    OP.shrU,
    ...w.i32(1),
    OP.and,
  ];
  const said = [...hasWord, ...w.choose(bigEndian(peek, counterOf, word), w.i32(0))];
  return w.functionBody(
    [[1, 'i']],
    [...w.get(headed), ...w.i32(Headed.walHeader), OP.eq, ...w.choose(w.i32(-1), said)],
  );
}

function aux2Body(peek: number): Bytes {
  const [headed, buffer, word] = [0, 1, 2] as const;
  const at = (offset: number): Bytes => [
    ...w.get(buffer),
    ...w.i32(offset),
    OP.add,
    ...w.call(peek),
  ];
  const type = [
    ...[
      ...w.get(headed),
      ...w.i32(Headed.page1),
      OP.eq,
      ...w.i32(DATABASE_HEADER),
      OP.mul,
      ...w.get(buffer),
      OP.add,
      ...w.call(peek),
    ],
    ...[...w.i32(255), OP.and, ...w.tee(word)],
    ...[...w.i32(BTREE_PAGES), ...w.get(word), OP.shrU, ...w.i32(1), OP.and], // shifts by the low 5 bits of the type
    ...[...w.get(word), ...w.i32(16), OP.ltU, OP.and, OP.mul],
  ];
  const isZero = [...at(0), ...at(4), OP.or, OP.eqz];
  const isHeaded = (k: number): Bytes => [...w.get(headed), ...w.i32(k), OP.eq];
  // salt-1, pages of the freelist, or the commit size
  const place = [
    ...isHeaded(Headed.walHeader),
    ...w.choose(w.i32(16), [...isHeaded(Headed.version), ...w.choose(w.i32(12), w.i32(4))]),
  ];
  const rest = [...isHeaded(Headed.journal), ...w.choose(isZero, bigEndian(peek, place, word))];
  return w.functionBody(
    [[1, 'i']],
    [...w.get(headed), ...w.i32(Headed.page1), OP.gtU, ...w.choose(rest, type)],
  );
}
