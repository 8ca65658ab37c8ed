// Decoding of b-tree pages that real SQLite wrote, malformed ones, and random bytes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { childrenOf, schemaRowsOf } from '../../src/sqlite/b-tree.ts';
import { walk } from '../contract/helpers/b-tree-walk.ts';
import { loadWaSqlite } from '../contract/helpers/wa-sqlite.ts';
import { interior, SIZE } from '../traces/interior-page.ts';

const children = (bytes: Uint8Array, page: number, size = SIZE): number[] | null =>
  childrenOf(bytes, 0, page, size);

/** Bytes of a database that SQLite wrote, with what its own SELECT reports about the schema. */
async function real(setup: string): Promise<{
  file: Uint8Array;
  rows: [type: string, name: string, table: string, root: number][];
  size: number;
}> {
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('a.db');
  const rows: [string, string, string, number][] = [];
  await sqlite3.exec(db, setup);
  await sqlite3.exec(db, 'SELECT type, name, tbl_name, rootpage FROM sqlite_schema', (row) =>
    rows.push([...row] as (typeof rows)[number]),
  );
  await sqlite3.close(db);
  const [, found] = [
    ...(vfs.mapNameToFile as Map<string, { data: ArrayBuffer; size: number }>),
  ].find(([path]) => path.endsWith('a.db'))!;
  const file = new Uint8Array(found.data.slice(0, found.size));
  return { file, rows, size: walk(file, new Map()).pageSize };
}
const SCHEMA =
  Array.from(
    { length: 30 },
    (_, i) =>
      `CREATE TABLE "täble ${i}"(a INTEGER PRIMARY KEY, b TEXT, c TEXT UNIQUE); CREATE INDEX "i${i}" ON "täble ${i}"(b);`,
  ).join('') +
  'CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts5(x);' +
  "WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<4000) INSERT INTO \"täble 3\" SELECT x, 'text '||x, 'other '||x FROM c;";

describe('pages as SQLite writes them', () => {
  test.each([
    ['UTF-8', 1024, 1],
    ['UTF-16le', 1024, 2],
    ['UTF-16be', 65536, 3],
  ] as const)('%s, %i bytes: children and names', async (encoding, pageSize, code) => {
    const { file, rows, size } = await real(
      `PRAGMA encoding='${encoding}'; PRAGMA page_size=${pageSize}; ${SCHEMA}`,
    );
    expect(size).toBe(pageSize);
    const named = rows.filter(([, , , root]) => root > 0);
    const { names } = walk(file, new Map(named.map(([, name, , root]) => [root, name])));
    const seen = new Map<number, number>();
    const found: [string, string, number][] = [];
    for (const [page, name] of names) {
      const image = file.subarray((page - 1) * size, page * size);
      for (const child of children(image, page, size) ?? []) seen.set(child, page);
      const isLeaf = image[page === 1 ? 100 : 0] === 13;
      const schema = isLeaf ? schemaRowsOf(image, 0, page, size, size, code) : null;
      if (name !== 'sqlite_schema') expect(!schema || schema.roots.length === 0).toBe(true);
      else if (isLeaf)
        schema!.roots.forEach((root, i) =>
          found.push([schema!.names[i]!, schema!.tables[i]!, root]),
        );
    }
    const roots = new Set([1, ...named.map(([, , , root]) => root)]);
    // every page except the roots has one parent, of the same b-tree
    expect([...seen.keys()].sort((a, b) => a - b)).toEqual(
      [...names.keys()].filter((page) => !roots.has(page)).sort((a, b) => a - b),
    );
    for (const [child, page] of seen) expect(names.get(child)).toBe(names.get(page));
    const expected = named.map(([type, name, table, root]): [string, string, number] => [
      name,
      type === 'index' ? table : '',
      root,
    ]);
    expect(found.sort()).toEqual(expected.sort());
  });

  test('a malformed page gives nothing', () => {
    const sound = interior([7, 8, 9]);
    expect(children(sound, 2)).toEqual([7, 8, 9]);
    expect(children(interior([7, 8, 9], 1), 1)).toEqual([7, 8, 9]);
    expect(children(interior([7], 1), 1)).toEqual([7]);
    const broken = (change: (b: Uint8Array) => void): Uint8Array => {
      const bytes = sound.slice();
      change(bytes);
      return bytes;
    };
    for (const bytes of [
      interior([7]), // only page 1 may have no cells
      interior([7, 2, 9]), // its own number
      interior([7, 1, 9]),
      interior([7, 0, 9]),
      broken((b) => (b[0] = 13)),
      broken((b) => (b[3] = 0xff)), // more cells than fit
      broken((b) => (b[5] = 0x05)), // content after the end
      broken((b) => (b[12] = 0)), // a cell before the content
      broken((b) => b.set([0x03, 0xff], 12)), // a cell across the end
      sound.subarray(0, SIZE - 1),
      new Uint8Array(SIZE),
    ])
      expect(children(bytes, 2)).toBeNull();
  });

  test('random and damaged bytes never throw, and never give more than fits in a page', async () => {
    const { file, size } = await real(`PRAGMA page_size=1024; ${SCHEMA}`);
    const pages = file.length / size;
    const check = (bytes: Uint8Array, page: number): void => {
      expect(childrenOf(bytes, 0, page, bytes.length)?.length ?? 0).toBeLessThanOrEqual(
        bytes.length / 2,
      );
      for (const encoding of [0, 1, 2, 3, 9]) {
        const rows = schemaRowsOf(
          bytes,
          0,
          page,
          bytes.length,
          bytes.length - (encoding === 9 ? 255 : 0),
          encoding,
        );
        if (!rows) continue;
        expect(rows.roots.length).toBeLessThanOrEqual(bytes.length / 2);
        expect([rows.names.length, rows.tables.length]).toEqual([
          rows.roots.length,
          rows.roots.length,
        ]);
        expect(rows.names.every((name) => name.length <= 510)).toBe(true);
      }
    };
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 512, maxLength: 512 }),
        fc.constantFrom(2, 5, 10, 13),
        fc.constantFrom(1, 2),
        (bytes, type, page) => {
          bytes[page === 1 ? 100 : 0] = type;
          check(bytes, page);
        },
      ),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: pages }),
        fc.array(fc.tuple(fc.nat(size - 1), fc.nat(255)), { maxLength: 12 }),
        (page, damage) => {
          const bytes = file.slice((page - 1) * size, page * size);
          for (const [at, value] of damage) bytes[at] = value;
          check(bytes, page);
        },
      ),
      { numRuns: 300 },
    );
  });
});
