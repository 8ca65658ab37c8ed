// What the SQL layer stores at each capture level, and stacks of statements, in real engines:
// recorded values match what the app bound.
import { afterEach, describe, expect, it } from 'vitest';
import type { EngineOptions } from '../../src/engines/install.ts';
import { callStack, withoutOurs } from '../../src/engines/call-stacks.ts';
import { Op } from '../../src/event/event.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { loadSqlJs, sqlJsWasm, type SqlJs } from './helpers/sql-js.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

const begin = (options: EngineOptions): Traced => (traced = new Traced({}, options));
function said<K extends Definition['kind']>(
  t: Traced,
  kind: K,
): Extract<Definition, { kind: K }>[] {
  t.drain();
  return t.definitions.filter((d): d is Extract<Definition, { kind: K }> => d.kind === kind);
}
const LONG = `it's ${'x'.repeat(300)}`;
const VALUES = [7, -1.5, LONG, new Uint8Array(12), null, 2n ** 40n];
const SAID = ['7', '-1.5', `'it''s ${'x'.repeat(195)}…'`, "x'(12 bytes)'", 'NULL', '1099511627776'];

describe.each(['journey-sync', 'journey-async', 'wa1-sync', 'wa1-async'] as const)(
  'bound values, %s',
  (build) => {
    it('are reported at level 3, once per run, with its first step', async () => {
      const t = begin({ level: 3 });
      const { sqlite3 } = await loadWaSqlite(build);
      const db = await sqlite3.open_v2('a.db');
      await sqlite3.exec(db, 'CREATE TABLE t(a, b, c, d, e, f)');
      for await (const stmt of sqlite3.statements(db, 'INSERT INTO t VALUES(?, ?, ?, ?, ?, ?)')) {
        sqlite3.bind_collection(stmt, VALUES);
        expect(await sqlite3.step(stmt)).toBe(101);
        await sqlite3.reset(stmt);
        sqlite3.bind_collection(stmt, [8]); // the others stay bound
        expect(await sqlite3.step(stmt)).toBe(101);
      }
      for await (const stmt of sqlite3.statements(db, 'SELECT a FROM t WHERE a >= ?')) {
        sqlite3.bind_collection(stmt, [0]);
        while ((await sqlite3.step(stmt)) === 100);
      }
      const values = said(t, 'values');
      expect(values.map((v) => v.values)).toEqual([SAID, ['8', ...SAID.slice(1)], ['0']]);
      const steps = t.all().filter((r) => r.op === Op.sqlStep);
      const texts = new Map(said(t, 'sql').map((d) => [d.id, d.text]));
      expect(values.map((v) => texts.get(steps.find((r) => r.seq === v.of)!.object))).toEqual([
        'INSERT INTO t VALUES(?, ?, ?, ?, ?, ?)',
        'INSERT INTO t VALUES(?, ?, ?, ?, ?, ?)',
        'SELECT a FROM t WHERE a >= ?',
      ]);
      expect(t.counters().faults).toBe(0);
    });

    it.each([0, 1, 2] as const)("aren't read at level %i", async (level) => {
      const t = begin({ level });
      const { sqlite3 } = await loadWaSqlite(build);
      const db = await sqlite3.open_v2('a.db');
      for await (const stmt of sqlite3.statements(db, "SELECT 'secret', ?")) {
        sqlite3.bind_collection(stmt, ['hidden']);
        expect(await sqlite3.step(stmt)).toBe(100);
        expect(sqlite3.column(stmt, 1)).toBe('hidden');
      }
      expect(said(t, 'values')).toEqual([]);
      expect(said(t, 'sql').map((d) => d.text)).toEqual(
        [[], ['SELECT ?, ?'], ["SELECT 'secret', ?"]][level],
      );
      expect(t.all().filter((r) => r.op === Op.sqlStep).length).toBeGreaterThanOrEqual(1);
      expect(t.counters().faults).toBe(0);
    });
  },
);

describe('sql.js', () => {
  interface Bound {
    run(sql: string, values?: unknown[]): void;
  }
  const loadAll = (t: Traced): Promise<SqlJs> => {
    expect(t.recorder.enabled).toBe(true);
    return loadSqlJs({
      instantiate: async (imports) =>
        (await WebAssembly.instantiate(sqlJsWasm(), imports)).instance,
    });
  };
  const load = async (t: Traced): Promise<Bound> => {
    const { Database } = await loadAll(t);
    return new Database() as unknown as Bound;
  };

  it('values at level 3; scripts with their literals at level 2', async () => {
    const t = begin({ level: 3 });
    const db = await load(t);
    db.run("CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 'one')");
    db.run('INSERT INTO t VALUES(?, ?)', [2, 'two']);
    expect(said(t, 'values').map((v) => v.values)).toEqual([['2', "'two'"]]);
    expect(said(t, 'sql').map((d) => d.text)).toEqual(
      expect.arrayContaining(["CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 'one')"]),
    );
  });

  it('a stack for each text and connection, once', async () => {
    const t = begin({ stacks: { own: null } });
    const db = await load(t);
    function insertFromHere(n: number): void {
      db.run('INSERT INTO t VALUES(?, ?)', [n, n]);
    }
    db.run('CREATE TABLE t(a, b)');
    for (let n = 0; n < 5; n++) insertFromHere(n);
    const texts = new Map(said(t, 'sql').map((d) => [d.id, d.text]));
    const stacks = said(t, 'stack').filter((s) => texts.get(s.of) === 'INSERT INTO t VALUES(?, ?)');
    expect(stacks).toHaveLength(1);
    expect(stacks[0]!.text).toContain('insertFromHere');
    expect(stacks[0]!.text.length).toBeLessThanOrEqual(4096);
  });

  it('a stack for each of two connections whose ids differ only by 65536', async () => {
    const t = begin({ stacks: { own: null } });
    const { Database } = await loadAll(t);
    new Database().run('CREATE TABLE here(a)');
    const [first] = said(t, 'stack');
    while (t.recorder.nextId() < first!.connection + 65535);
    new Database().run('CREATE TABLE here(a)');
    expect(said(t, 'stack').map(({ of, connection }) => [of, connection])).toEqual([
      [first!.of, first!.connection],
      [first!.of, first!.connection + 65536],
    ]);
  });
});

describe('stacks', () => {
  const own = { url: 'blob:https://a.test/1', lines: 3, columns: Infinity, shift: 3 };
  const V8 = [
    'Error',
    '    at n.call (blob:https://a.test/1:2:900)',
    '    at blob:https://a.test/1:3:7',
    '    at wasm://wasm/00aa:wasm-function[12]:0x45',
    '    at Object.save (https://a.test/app.js?v=2:10:3)',
    '    at async blob:https://a.test/1:13:5',
  ].join('\n');

  it("without vfscope's frames, and with the app's own line numbers in a script after the hook", () => {
    expect(withoutOurs(V8, own)).toBe(
      [
        'at wasm://wasm/00aa:wasm-function[12]:0x45',
        'at Object.save (https://a.test/app.js?v=2:10:3)',
        'at async blob:https://a.test/1:10:5',
      ].join('\n'),
    );
  });
  it('as Firefox and Safari write them', () => {
    const stack = [
      'call@blob:https://a.test/1:2:900',
      'save@https://a.test/app.js:10:3',
      '@blob:https://a.test/1:4:1',
      '',
    ].join('\n');
    expect(withoutOurs(stack, own)).toBe(
      ['save@https://a.test/app.js:10:3', '@blob:https://a.test/1:1:1'].join('\n'),
    );
  });
  it('on the line that the app shares with vfscope, columns distinguish them', () => {
    const inFront = { url: 'https://a.test/w.js', lines: 1, columns: 500, shift: 0 };
    const stack =
      'Error\n    at h (https://a.test/w.js:1:400)\n    at f (https://a.test/w.js:1:600)\n    at g (https://a.test/w.js:8:2)';
    expect(withoutOurs(stack, inFront)).toBe(
      'at f (https://a.test/w.js:1:600)\nat g (https://a.test/w.js:8:2)',
    );
  });
  it('are whole frames, at most 4096 characters', () => {
    const frame = `    at f (https://a.test/${'a'.repeat(480)}.js:1:1)`;
    const cut = withoutOurs(['Error', ...Array<string>(20).fill(frame)].join('\n'), null);
    expect(cut.split('\n')).toHaveLength(8);
    expect(cut.length).toBeLessThanOrEqual(4096);
  });
  it("leave the app's own error handling unchanged", () => {
    const E = Error as { prepareStackTrace?: unknown; stackTraceLimit?: unknown };
    let asked = 0;
    E.prepareStackTrace = () => ++asked;
    const before = [E.prepareStackTrace, E.stackTraceLimit];
    try {
      expect(callStack(null)).toContain('capture.test');
      expect([E.prepareStackTrace, E.stackTraceLimit]).toEqual(before);
      expect(asked).toBe(0);
    } finally {
      delete E.prepareStackTrace;
    }
  });
});
