/**
 * The structure of an engine's databases, from the page images that pass: children of interior
 * pages, roots and names of tables and indexes, and the numbers in the database header. Each page
 * is decoded once, and again after it has changed. New facts go out as definitions
 * (b-tree-definitions.ts, database-headers.ts). Everything is bounded, and a definition marks where
 * tracking stops. A closure, because local names minify: every page parses the hook.
 */
import { MOST_SAID, SAID_COST } from '../../event/b-tree-definitions.ts';
import { MOST_HEADERS } from '../../event/database-headers.ts';
import type { Recorder } from '../../record/recorder.ts';
import { Header } from '../../record/ring-layout.ts';
import { childrenOf, schemaRowsOf } from '../../sqlite/b-tree.ts';
import { DATABASE_HEADER, SMALLEST_PAGE } from '../../sqlite/page-size.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../sqlite/wal.ts';
import { Block, WANTED_MASK } from './engine-block.ts';
import type { EngineMemory } from './io-methods.ts';
import { FIRST_WORD } from './structure-decode.ts';
import type { TrampolineHost } from './trampolines.ts';

/** State of one database. A tuple, because property names don't minify. */
type Database = [
  /** The rest of the MOST_SAID budget. */
  room: number,
  pageSize: number,
  usable: number,
  encoding: number,
  /** Pages of the schema's b-tree, by parent page. */
  schema: Map<number, number>,
  /**
   * By page: a hash of the first words of its b-tree. By minus the page: a hash of its children.
   */
  known: Map<number, number>,
  /** Pages, by frame of its WAL. */
  frames: number[],
  /** A hash of the header's numbers, and how often they may still be reported. */
  header: number,
  headers: number,
];

const hash = (words: readonly number[]): number =>
  words.reduce((sum, word) => (Math.imul(sum, 31) + word) | 0, 1);

/**
 * @param databaseOf returns the id of the database that a file's pages belong to, 0 = none
 * @param block byte address of the engine's block
 * @param names false: reports only the numbers of database headers
 */
export function bTreeReader(
  recorder: Recorder,
  memory: EngineMemory,
  databaseOf: (object: number) => number,
  block: number,
  names: boolean,
): TrampolineHost['image'] {
  const databases = new Map<number, Database>();
  const u32 = new Uint32Array(recorder.memory.buffer);
  const sayHeader = (database: Database, file: number, bytes: Uint8Array, at: number): void => {
    const number = (i: number): number =>
      ((bytes[at + i]! << 24) |
        (bytes[at + i + 1]! << 16) |
        (bytes[at + i + 2]! << 8) |
        bytes[at + i + 3]!) >>>
      0;
    const isValid = number(24) === number(92);
    const pages = isValid ? number(28) : 0;
    const [pageSize, free, schema] = [number(16) >>> 16, number(36), number(40)];
    const vacuum = number(52) ? (number(64) ? 2 : 1) : 0;
    const content = hash([pageSize, pages, free, schema, vacuum]);
    if (database[7] === content || !database[8]) return;
    database[7] = content;
    database[8]--;
    const kind = 'database-header';
    recorder.define({
      kind,
      file,
      at: u32[Header.seq >>> 2]!,
      pageSize: pageSize === 1 ? 65536 : pageSize,
      pages,
      free,
      schema,
      vacuum,
    });
  };
  const read: TrampolineHost['image'] = (object, page, at, length, write, offset) => {
    const file = databaseOf(object);
    if (!file || at & 3) return; // SQLite's buffers are aligned
    const bytes = memory.bytes();
    let database = databases.get(file);
    if (!database)
      databases.set(
        file,
        (database = [names ? MOST_SAID : 0, 0, 0, 1, new Map(), new Map(), [], 0, MOST_HEADERS]),
      );
    const [, , , , schema, known, frames] = database;
    const isFirst = memory.word(at) === FIRST_WORD;
    if (isFirst) {
      database[1] = length;
      database[2] = length - bytes[at + 20]!;
      database[3] = bytes[at + 59]! || 1; // 0 before the first table is made
      sayHeader(database, file, bytes, at);
    }
    if (object === file) page = offset / length + 1;
    else {
      const frame = Math.floor((offset - WAL_HEADER) / (WAL_FRAME_HEADER + database[1]));
      page ||= frames[frame] ?? 0;
      frames[frame] = page;
    }
    u32[(block + Block.frameWanted) >>> 2] = schema.has(page) ? 1 : 0;
    if (length < SMALLEST_PAGE || !page || database[0] <= 0) return;
    const head = at + (page === 1 ? DATABASE_HEADER : 0);
    // page 1 is written at every commit: its schema cookie shows whether the schema has changed
    let sign = isFirst ? memory.word(at + 40) : 0;
    for (let i = 0; i < 12; i += 4) sign = (Math.imul(sign, 31) + memory.word(head + i)) | 0;
    if ((!write || isFirst) && known.get(page) === sign) return;
    known.set(page, sign);
    const isSchema = page === 1 || schema.has(page);
    const children = childrenOf(bytes, at, page, length);
    const rows =
      children || !isSchema
        ? null
        : schemaRowsOf(bytes, at, page, length, database[2], database[3]);
    const content = hash(children || []);
    const says = children || rows?.roots;
    if (!says || (children && known.get(-page) === content)) return;
    known.set(-page, content);
    if (isSchema) {
      for (const [child, above] of schema) if (above === page) schema.delete(child);
      for (const child of children || []) {
        schema.set(child, page);
        const bit = (child - 1) & WANTED_MASK;
        u32[(block + Block.wanted + (bit >>> 3)) >>> 2]! |= 1 << bit; // shifts by the low 5 bits
      }
    }
    database[0] -= SAID_COST + says.length;
    const where = { file, at: u32[Header.seq >>> 2]!, page };
    if (database[0] <= 0) recorder.define({ kind: 'b-tree-end', ...where });
    else
      recorder.define(
        rows
          ? { kind: 'b-tree-names', ...where, ...rows }
          : { kind: 'b-tree-pages', ...where, children: says },
      );
  };
  return (object, page, at, length, write, offset) => {
    try {
      read(object, page, at, length, write, offset);
    } catch (error) {
      recorder.fault('a page', error);
    }
  };
}
