import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SqlFolder } from '../../src/sqlite/sql-fold.ts';
import { fingerprint, foldLiterals, tokens } from '../../src/sqlite/sql-text.ts';

describe('foldLiterals', () => {
  it.each([
    [
      "INSERT INTO t VALUES(1, -2.5e3, 'it''s', x'00FF', NULL)",
      'INSERT INTO t VALUES(?, ?, ?, ?, NULL)',
    ],
    [
      'SELECT "a 1", [b 2], `c 3` FROM t1 WHERE d=\'x\'',
      'SELECT "a 1", [b 2], `c 3` FROM t1 WHERE d=?',
    ],
    ['SELECT ?1, :name, @v2, $a::b(c) , ?', 'SELECT ?1, :name, @v2, $a::b(c) , ?'],
    ['SELECT 0x1F, 1_000, .5, 1e-3, 12.', 'SELECT ?, ?, ?, ?, ?'],
    ["SELECT 1 -- don't\n, /* it's 2 */ 3", "SELECT ? -- don't\n, /* it's 2 */ ?"],
    [
      'SELECT a-1, a - 1, -1, (-1), - 1, a = -1 FROM t LIMIT -1',
      'SELECT a-?, a - ?, ?, (?), ?, a = ? FROM t LIMIT ?',
    ],
    [
      'SELECT * FROM t WHERE a IN (1, 2, 3) AND b in(?,?)',
      'SELECT * FROM t WHERE a IN (?, ...) AND b in(?, ...)',
    ],
    ["INSERT INTO t VALUES (1,'a'), (2,'b'),(3,'c')", 'INSERT INTO t VALUES (?,?), ...'],
    [
      'SELECT substr(a, 1, 2), max(1, 2) FROM "x IN (?, ?)"',
      'SELECT substr(a, ?, ?), max(?, ?) FROM "x IN (?, ?)"',
    ],
    ["SELECT 'not closed", 'SELECT ?'],
    ["SELECT x'00", 'SELECT ?'],
    ['SELECT a$b, t2.c3, größe FROM été', 'SELECT a$b, t2.c3, größe FROM été'],
    ['', ''],
    ['PRAGMA cache_size=-2000', 'PRAGMA cache_size=-2000'],
    [
      '/* c */ pragma main . Page_Size ( 8192 ) ; SELECT 1',
      '/* c */ pragma main . Page_Size ( 8192 ) ; SELECT ?',
    ],
    ['PRAGMA "a".wal_autocheckpoint = + 100, 5', 'PRAGMA "a".wal_autocheckpoint = + 100, ?'],
    [
      "PRAGMA key=1234; PRAGMA user_version=7; PRAGMA cache_size='8'",
      'PRAGMA key=?; PRAGMA user_version=?; PRAGMA cache_size=?',
    ],
    ['PRAGMA cache_size SELECT 5; cache_size=5', 'PRAGMA cache_size SELECT ?; cache_size=?'],
    ['SELECT pragma, cache_size = 5 FROM pragma', 'SELECT pragma, cache_size = ? FROM pragma'],
    ['PRAGMA page_size.key = 1234', 'PRAGMA page_size.key = ?'],
    [
      "INSERT INTO 'todos' (\"id\", 'text') VALUES ('a', 'b')",
      'INSERT INTO \'todos\' ("id", ?) VALUES (?, ?)',
    ],
    [
      "update 'main'.'t' SET a='x' WHERE b IS DISTINCT FROM 'y' OR b IS NOT DISTINCT FROM 'z'",
      "update 'main'.'t' SET a=? WHERE b IS DISTINCT FROM ? OR b IS NOT DISTINCT FROM ?",
    ],
    [
      "SELECT 'x' FROM 't' JOIN 'u' ON 'v' = u.a WHERE EXISTS (SELECT 'w' FROM /* of all */ 'q')",
      "SELECT ? FROM 't' JOIN 'u' ON ? = u.a WHERE EXISTS (SELECT ? FROM /* of all */ 'q')",
    ],
    [
      "VACUUM main INTO 'file:copy.db?key=1'; INSERT INTO 't' SELECT .5 'x'",
      "VACUUM main INTO ?; INSERT INTO 't' SELECT ? ?",
    ],
    [
      "CREATE TABLE IF NOT EXISTS 't'(a DEFAULT 'x'); DROP INDEX 'i'",
      "CREATE TABLE IF NOT EXISTS 't'(a DEFAULT ?); DROP INDEX 'i'",
    ],
  ])('%s', (sql, folded) => expect(foldLiterals(sql)).toBe(folded));

  it('joined tokens give the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        (s) => [...tokens(s)].map((t) => t.text).join('') === s,
      ),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...`'"\`[]-*/;x?:$@1 e.\n`) }),
        (s) => [...tokens(s)].map((t) => t.text).join('') === s,
      ),
    );
  });

  it('no literal is left, and folding again changes nothing', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...`'"\`[]-*/;xin?:$@1() e.,\n`), maxLength: 40 }),
        (s) => {
          const folded = foldLiterals(s);
          expect(
            [...tokens(folded)].filter(
              (t) => t.kind === 'string' || t.kind === 'blob' || t.kind === 'number',
            ),
          ).toEqual([]);
          expect(foldLiterals(folded)).toBe(folded);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('no string, number, or blob remains, wherever it is', () => {
    const secret = fc.oneof(
      fc
        .string({ unit: fc.constantFrom(...'secret\' "-/*'), minLength: 1 })
        .map((s) => ({ sql: `'${s.replaceAll("'", "''")}'` })),
      fc.integer({ min: 1000 }).map((n) => ({ sql: String(n) })),
      fc
        .double({ min: 1000, noNaN: true, noDefaultInfinity: true })
        .map((n) => ({ sql: String(n) })),
      fc.uint8Array({ minLength: 2 }).map((b) => ({ sql: `x'${Buffer.from(b).toString('hex')}'` })),
    );
    const around = fc.constantFrom(
      ['SELECT * FROM t WHERE a = ', ' AND b'],
      ['VALUES(', ')'],
      ['SELECT a,', ''],
      ['/* c */ SELECT ', '-- end'],
      ['SELECT a IS DISTINCT FROM ', ' FROM t'],
      ['SELECT a FROM t ON ', ''],
      ['VACUUM INTO ', ''],
      ['EXPLAIN VACUUM main INTO ', ''],
    );
    fc.assert(
      fc.property(secret, around, ({ sql }, [before, after]) => {
        expect(foldLiterals(before! + sql + after!)).toBe(`${before}?${after}`);
      }),
    );
  });
});

describe('fingerprint', () => {
  it('is the same for two runs of one query', () => {
    const a = fingerprint('select *  FROM "T" where ID=1 /* one */ ;');
    expect(a).toBe('select * from "T" where id=?');
    expect(fingerprint('SELECT *\nfrom "T" -- two\n WHERE id=22')).toBe(a);
  });
});

describe('SqlFolder', () => {
  const folder = new SqlFolder((length) => new Uint8Array(length), 0);
  const text = (bytes: Uint8Array): string =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  /** Statement by statement, as sqlite3_prepare goes through a script. */
  const split = (sql: string): string[] => {
    const bytes = new TextEncoder().encode(sql);
    const out: string[] = [];
    for (let i = 0; i < bytes.length;) {
      const end = folder.fold(bytes, i, bytes.length, true);
      if (folder.statements > 0) out.push(text(bytes.subarray(i, end)).trimStart());
      i = end + 1;
    }
    folder.fold(bytes, 0, bytes.length, false);
    expect(folder.statements).toBe(out.length);
    return out;
  };
  it('cuts a script into its statements', () => {
    expect(split(`;; SELECT ';', ";", [;], \`;\`; -- a;b\nSELECT 2 /* ; */ ; \n`)).toEqual([
      'SELECT \';\', ";", [;], `;`',
      '-- a;b\nSELECT 2 /* ; */ ',
    ]);
    expect(split("SELECT 'it''s;'; SELECT 2")).toEqual(["SELECT 'it''s;'", 'SELECT 2']);
  });
  it('a trigger ends after its END', () => {
    const trigger =
      "CREATE TEMP TRIGGER IF NOT EXISTS x AFTER INSERT ON t BEGIN UPDATE t SET a=CASE WHEN 1 THEN 2 END; SELECT 'end;'; END";
    expect(split(`${trigger};SELECT 1`)).toEqual([trigger, 'SELECT 1']);
    expect(split('SELECT a AS "trigger"; SELECT 2')).toEqual(['SELECT a AS "trigger"', 'SELECT 2']);
    expect(split('SELECT a AS trigger; SELECT :trigger; SELECT 3')).toHaveLength(3);
    expect(
      split('EXPLAIN QUERY PLAN CREATE TEMP TRIGGER x BEGIN SELECT 1; END; SELECT 2'),
    ).toHaveLength(2);
  });
  it('folds bytes like strings, up to the NUL', () => {
    const pieces = fc.constantFrom(
      ...`'a' 'it''s "q" [b] \`c\` é 😀 SELECT IN VALUES ( ) (1,2) , ; ? ?1 :a - + 1 .5 0x1F x'00' -- /* */`.split(
        ' ',
      ),
      '\n',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (all) => {
        const sql = all.join('');
        const bytes = new TextEncoder().encode(`${sql}\0 1 'not a part' */`);
        expect(folder.fold(bytes, 0, bytes.length, false)).toBe(bytes.indexOf(0));
        expect(text(folder.out.subarray(0, folder.length))).toBe(foldLiterals(sql));
      }),
      { numRuns: 500 },
    );
  });
});
