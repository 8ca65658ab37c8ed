/**
 * Finds, in wasm, the page images that show the structure of their database: page 1, interior
 * pages, and leaves that b-tree-reader.ts has requested. Each page takes a type test. Only matching
 * pages go to JavaScript, with the headers of frames: a frame of a WAL is written as its header,
 * which has the page's number, and its page.
 */
import { WAL_FRAME_HEADER } from '../../sqlite/wal.ts';
import { Block, WANTED_MASK } from './engine-block.ts';
import { Headed } from './header-decode.ts';
import { word } from './trampoline-parts.ts';
import * as w from './wasm-writer.ts';
import { OP, type Bytes } from './wasm-writer.ts';

const INTERIOR = (1 << 2) | (1 << 5);
const TABLE_LEAF = 13;
/** "SQLi", the beginning of page 1, as a word. */
export const FIRST_WORD = 0x694c5153;

/**
 * structure(Headed, aux, aux2, object, buffer, length, 1 = a write, offset i64), with aux and aux2
 * as in the record
 */
export const STRUCTURE: w.Signature = { params: 'iiiiiiij', results: '' };

/**
 * @param peek, image indices of peek(address) -> word and TrampolineHost.image
 * @param block byte address of the engine's block
 */
export function structureBody(peek: number, image: number, block: number): Bytes {
  const [headed, aux, type, object, buffer, length, write, offset, page] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8,
  ] as const;
  const isHeaded = (k: number): Bytes => [...w.get(headed), ...w.i32(k), OP.eq];
  const handOn = [
    ...[object, page, buffer, length, write].flatMap((i) => w.get(i)),
    ...w.get(offset),
    OP.f64FromI64,
    ...w.call(image),
  ];
  const move = (local: number, op: number): Bytes => [
    ...w.get(local),
    ...w.i32(WAL_FRAME_HEADER),
    op,
    ...w.set(local),
  ];
  const frame = [
    ...[...w.get(aux), ...w.set(page), ...w.get(length), ...w.i32(WAL_FRAME_HEADER), OP.gtU],
    ...[...w.when([...move(buffer, OP.add), ...move(length, OP.sub)]), ...handOn, OP.return],
  ];
  const wanted = [
    ...[...w.get(offset), ...w.get(length), OP.ctz, OP.i64FromU32, OP.i64ShrU, OP.i32FromI64], // lengths are powers of two
    ...[
      ...w.i32(WANTED_MASK),
      OP.and,
      ...w.tee(page),
      ...w.i32(3),
      OP.shrU,
      ...w.load8(block + Block.wanted),
    ],
    ...[...w.get(page), ...w.i32(7), OP.and, OP.shrU, ...w.i32(1), OP.and],
  ];
  const isWanted = [...isHeaded(Headed.body), ...w.choose(word(block + Block.frameWanted), wanted)];
  return w.functionBody(
    [[1, 'i']],
    [
      ...[...isHeaded(Headed.frame), ...w.when(frame)],
      ...[
        ...w.i32(INTERIOR),
        ...w.get(type),
        OP.shrU,
        ...w.get(type),
        ...w.i32(16),
        OP.ltU,
        OP.and,
      ],
      ...[...w.get(type), ...w.i32(TABLE_LEAF), OP.eq, ...w.choose(isWanted, w.i32(0)), OP.or],
      ...[...w.get(buffer), ...w.call(peek), ...w.i32(FIRST_WORD), OP.eq, OP.or],
      ...w.when([...w.i32(0), ...w.set(page), ...handOn]),
    ],
  );
}
