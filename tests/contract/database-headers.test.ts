// Database headers decoded from passing writes, compared with the bytes that the VFS holds,
// statement by statement.
import { afterEach, describe, expect, it } from 'vitest';
import {
  isDatabaseHeader,
  type DatabaseHeaderDefinition,
} from '../../src/event/database-headers.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { Op } from '../../src/event/event.ts';
import { PageType } from '../../src/sqlite/page.ts';
import { loadSqlJs, sqlJsWasm } from './helpers/sql-js.ts';
import { storeOf } from './helpers/store.ts';
import { Traced, type Row } from './helpers/traced.ts';
import { loadWaSqlite, type Build } from './helpers/wa-sqlite.ts';
import { databaseHeadersOf, pagesOf, staleCachesOf } from '../traces/analyses.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

const headersOf = (definitions: readonly Definition[]): DatabaseHeaderDefinition[] =>
  definitions.filter((d): d is DatabaseHeaderDefinition => d.kind === 'database-header');
const said = ({ pageSize, pages, free, schema, vacuum }: DatabaseHeaderDefinition): number[] => [
  pageSize,
  pages,
  free,
  schema,
  vacuum,
];
/** The same numbers from the bytes of a file. */
function inFile(file: DataView): number[] {
  const pageSize = file.getUint16(16) === 1 ? 65536 : file.getUint16(16);
  return [
    pageSize,
    file.getUint32(28),
    file.getUint32(36),
    file.getUint32(40),
    file.getUint32(52) ? (file.getUint32(64) ? 2 : 1) : 0,
  ];
}
const FILL = `WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<400) INSERT INTO t SELECT NULL, zeroblob(900) FROM c`;
const SCRIPT = [
  'CREATE TABLE t(a INTEGER PRIMARY KEY, b)',
  FILL,
  'DELETE FROM t WHERE a % 50 != 0',
  'UPDATE t SET b = 1 WHERE a = 50',
  FILL,
  'CREATE TABLE u(a)',
  'DROP TABLE t',
  'VACUUM',
];

async function start(
  build: Build,
  pragmas: string,
  options: ConstructorParameters<typeof Traced>[1] = {},
) {
  const t = (traced = new Traced({}, options));
  const { sqlite3, vfs } = await loadWaSqlite(build);
  const db = await sqlite3.open_v2('h.db');
  if (pragmas) await sqlite3.exec(db, pragmas);
  const file = (): DataView => {
    const [, found] = [
      ...(vfs.mapNameToFile as Map<string, { data: ArrayBuffer; size: number }>),
    ].find(([path]) => path.endsWith('h.db'))!;
    return new DataView(found.data.slice(0, found.size));
  };
  return { t, sqlite3, db, file };
}
const transfers = (t: Traced, rows: readonly Row[], op: number): Row[] =>
  rows.filter((r) => r.op === op && t.kind(r) === 'main-db');

describe.each(['journey-sync', 'journey-async', 'wa1-sync', 'wa1-async'] as const)(
  '%s',
  (build) => {
    it.each([
      '',
      'PRAGMA page_size=65536;',
      'PRAGMA auto_vacuum=full;',
      'PRAGMA auto_vacuum=incremental;',
    ])('numbers of the header are those of the file after every statement: %s', async (pragma) => {
      const { t, sqlite3, db, file } = await start(build, pragma);
      for (const sql of SCRIPT) {
        const mark = t.mark();
        const before = headersOf(t.definitions).map(said);
        await sqlite3.exec(db, sql);
        const writes = transfers(t, t.since(mark), Op.xWrite).filter((r) => r.offset === 0);
        const after = headersOf(t.definitions).map(said);
        expect([sql, after.at(-1)]).toEqual([sql, inFile(file())]);
        expect(writes.at(-1)!.aux).toBe(file().getUint32(24));
        // reported if a number has changed, and not for the change counter alone
        if (sql.startsWith('UPDATE')) expect(after).toHaveLength(before.length);
      }
      const all = headersOf(t.definitions);
      expect(
        all.every(
          (d) => isDatabaseHeader(d as never) && t.kind({ object: d.file } as Row) === 'main-db',
        ),
      ).toBe(true);
      expect(all.some((d) => d.free > (pragma.includes('full') ? -1 : 0))).toBe(true);
      expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
    });

    it.each(['none', 'full', 'incremental'])(
      'pages of the pointer map are known by number: auto_vacuum=%s',
      async (vacuum) => {
        const { t, sqlite3, db } = await start(
          build,
          `PRAGMA page_size=512; PRAGMA cache_size=20; PRAGMA auto_vacuum=${vacuum};`,
        );
        for (const sql of SCRIPT.slice(0, 2)) await sqlite3.exec(db, sql);
        const [{ places } = { places: null }] = pagesOf(storeOf(t)).filter(({ path }) =>
          path.endsWith('h.db'),
        );
        const typed = [...places!.place].filter((_, i) => places!.type[i] === PageType.pointerMap);
        // 102 entries of 5 bytes in 512: each map page is followed by the 102 pages that it
        // describes
        const mapPages = [2, 105, 208, 311, 414, 517, 620, 723];
        expect(typed.slice(0, 8)).toEqual(vacuum === 'none' ? [] : mapPages);
        expect(typed.every((page) => (page - 2) % 103 === 0)).toBe(true);
      },
    );

    it("another connection's commit shows in the 16 bytes that are compared", async () => {
      const { t, sqlite3, db } = await start(build, '');
      for (const sql of SCRIPT.slice(0, 3)) await sqlite3.exec(db, sql);
      const other = await sqlite3.open_v2('h.db');
      const compared = async (sql: string, by: number): Promise<number[][]> => {
        const mark = t.mark();
        await sqlite3.exec(by, sql);
        return transfers(t, t.since(mark), Op.xRead)
          .filter((r) => r.offset === 24)
          .map((r) => [r.length, r.aux, r.aux2]);
      };
      await compared('SELECT * FROM t', other);
      const [[length, counter, free] = []] = await compared('SELECT * FROM t', db);
      expect([length, free]).toEqual([16, headersOf(t.definitions).at(-1)!.free]);
      await sqlite3.exec(other, 'UPDATE t SET b = 2 WHERE a = 100');
      expect(await compared('SELECT * FROM t', db)).toEqual([[16, counter! + 1, free]]);
      // for these connections: which found its cache stale, and after how many commits of others
      await sqlite3.exec(db, 'UPDATE t SET b = 3 WHERE a = 100');
      for (let i = 0; i < 3; i++) await sqlite3.exec(db, `UPDATE t SET b = ${i} WHERE a = 150`);
      await sqlite3.exec(other, 'SELECT * FROM t');
      const store = storeOf(t);
      const caches = staleCachesOf(store);
      expect(caches.map(({ stale, commits, rows }) => [stale, commits, rows.length])).toEqual([
        [1, 1, 1],
        [1, 4, 1],
      ]);
      // without those of the empty database
      const all = transfers(t, t.all(), Op.xRead).filter((r) => r.offset === 24 && r.aux);
      expect(caches.reduce((n, { compared }) => n + compared, 0)).toBe(all.length);
      await sqlite3.close(other);
    });

    it('pages that are freed, reused, and appended over time', async () => {
      const { t, sqlite3, db, file } = await start(build, '');
      const states: number[][] = [];
      for (const sql of SCRIPT) {
        await sqlite3.exec(db, sql);
        const [, pages, free] = inFile(file());
        states.push([pages!, free!]);
      }
      const store = storeOf(t);
      const [headers] = databaseHeadersOf(store);
      const { count, us, pages, free, pageSize, ...sums } = headers!;
      expect(Array.from({ length: count }, (_, i) => [pages[i], free[i]])).toEqual(
        states.filter((s, i) => String(s) !== String(states[i - 1])),
      );
      expect([...us]).toEqual([...us].sort((a, b) => a - b));
      type State = [pages: number, free: number];
      const [created, filled, deleted, , again, , dropped, vacuumed] = states as [
        State,
        State,
        State,
        State,
        State,
        State,
        State,
        State,
      ];
      expect(deleted[1]).toBeGreaterThan(50);
      expect(again[1]).toBe(0); // all of it was reused, and the rest was appended
      expect({ pageSize, ...sums }).toEqual({
        ...{
          pageSize: 4096,
          vacuum: 0,
          severalOrigins: false,
          reused: deleted[1],
          freed: deleted[1] + dropped[1],
        },
        ...{ appended: dropped[0] - created[0], cut: dropped[0] - vacuumed[0] },
      });
      expect(filled[0]).toBeLessThan(dropped[0]);
    });

    it('in WAL mode the page in the log has them', async () => {
      const { t, sqlite3, db, file } = await start(
        build,
        'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;',
      );
      for (const sql of SCRIPT.slice(0, 3)) await sqlite3.exec(db, sql);
      t.drain();
      const before = headersOf(t.definitions).at(-1)!;
      expect(before.free).toBeGreaterThan(20);
      await sqlite3.exec(db, 'PRAGMA wal_checkpoint(TRUNCATE)');
      expect(said(before)).toEqual(inFile(file()));
    });

    it('at capture level 0, and without the SQL layer: numbers reveal no name', async () => {
      for (const options of [{ level: 0 }, { sql: false }] as const) {
        const { t, sqlite3, db, file } = await start(build, '', options);
        await sqlite3.exec(db, SCRIPT[0]!);
        t.drain();
        expect(said(headersOf(t.definitions).at(-1)!)).toEqual(inFile(file()));
        t.restore();
      }
    });
  },
);

it('sql.js: header numbers match the file that it exports', async () => {
  const t = (traced = new Traced());
  const SQL = await loadSqlJs({
    instantiate: async (imports) => (await WebAssembly.instantiate(sqlJsWasm(), imports)).instance,
  });
  const db = new SQL.Database() as InstanceType<typeof SQL.Database> & { export(): Uint8Array };
  for (const sql of SCRIPT.slice(0, 3)) db.run(sql);
  t.drain();
  const last = said(headersOf(t.definitions).at(-1)!);
  const bytes = db.export();
  expect(last).toEqual(inFile(new DataView(bytes.buffer, bytes.byteOffset)));
});
