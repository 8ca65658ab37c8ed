// The cost of an SQL call in the hook: one engine was loaded before the hook, one with it; the same
// calls go to both in turn.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { installEngines } from '../../src/engines/install.ts';
import { sink } from './sink.ts';

const RUNS = Number(process.env['REPEATS'] ?? 9);
const STATEMENTS = 2000;
const ROWS = 100;

export const title = 'Cost per SQL call (Node)';
export const about =
  `Nanoseconds that SQL takes longer when it is recorded: minimum of ${RUNS} interleaved runs on a database in memory (no VFS calls), called through ` +
  "Emscripten's Module as a glue library does. A text of a statement is about 80 bytes. Aim: under 500 ns an event beyond two readings of the clock, under " +
  '2 us more for a text that was never seen before. "Query counters": with what SQLite counts of each run, hashes of values, and memory.';

type Call = (...args: number[]) => number;
export interface Engine {
  db: number;
  sql(text: string): number;
  call(name: string): Call;
  word(address: number): number;
  out: number;
}

const require = createRequire(import.meta.url);

/** A separate engine with a database in memory. @param copy of the glue */
export async function load(file: string, copy: string): Promise<Engine> {
  const at = (suffix: string): string =>
    require.resolve(`@journeyapps/wa-sqlite/dist/${file}.${suffix}`);
  // a separate copy of the glue, so that the engines don't share the compiler's feedback
  const { default: factory } = (await import(`${pathToFileURL(at('mjs')).href}?${copy}`)) as {
    default: (o: object) => Promise<Record<string, unknown>>;
  };
  const module = await factory({ wasmBinary: readFileSync(at('wasm')) });
  const call = (name: string): Call => module[`_${name}`] as Call;
  const text = call('malloc')(16384);
  const out = call('malloc')(8);
  const encoder = new TextEncoder();
  const engine: Engine = {
    db: 0,
    out,
    call,
    sql(sql) {
      const heap = module['HEAPU8'] as Uint8Array;
      const { written } = encoder.encodeInto(sql, heap.subarray(text, text + 16000));
      heap[text + written] = 0;
      return text;
    },
    word: (address) => (module['HEAP32'] as Int32Array)[address >>> 2]!,
  };
  if (call('sqlite3_open_v2')(engine.sql(':memory:'), out, 6, 0) !== 0)
    throw new Error('sqlite3_open_v2 failed');
  engine.db = engine.word(out);
  return engine;
}

function prepare(e: Engine, sql: string): number {
  const rc = e.call('sqlite3_prepare_v2')(e.db, e.sql(sql), -1, e.out, 0);
  if (rc !== 0) throw new Error(`sqlite3_prepare_v2 answered ${rc} for ${sql}`);
  return e.word(e.out);
}
function execute(e: Engine, sql: string): void {
  const stmt = prepare(e, sql);
  e.call('sqlite3_step')(stmt);
  e.call('sqlite3_finalize')(stmt);
}

/** Each: its name, its default number of statements, and how to run them. */
export const WORKLOADS: {
  name: string;
  statements: number;
  execute: (e: Engine, round: number, times?: number) => void;
}[] = [
  {
    name: 'INSERTs, each a text of its own',
    statements: STATEMENTS,
    execute(e, round, times = STATEMENTS) {
      execute(e, 'BEGIN');
      for (let i = 0; i < times; i++) {
        const n = round * times + i;
        execute(
          e,
          `INSERT INTO customers(id, score, name, note) VALUES(${n}, ${n * 7}, 'name number ${n}', NULL)`,
        );
      }
      execute(e, 'ROLLBACK');
    },
  },
  {
    name: 'one prepared INSERT: bind, step, reset',
    statements: STATEMENTS,
    execute(e, round, times = STATEMENTS) {
      execute(e, 'BEGIN');
      const stmt = prepare(e, 'INSERT INTO customers(id, score) VALUES(?1, ?2)');
      const [bind, step, reset] = [
        e.call('sqlite3_bind_int'),
        e.call('sqlite3_step'),
        e.call('sqlite3_reset'),
      ];
      for (let i = 0; i < times; i++) {
        bind(stmt, 1, round * times + i);
        bind(stmt, 2, i);
        step(stmt);
        reset(stmt);
      }
      e.call('sqlite3_finalize')(stmt);
      execute(e, 'ROLLBACK');
    },
  },
  {
    name: `SELECTs of ${ROWS} rows`,
    statements: 100,
    execute(e, round, times = 100) {
      const [step, column, finalize] = [
        e.call('sqlite3_step'),
        e.call('sqlite3_column_int'),
        e.call('sqlite3_finalize'),
      ];
      for (let i = 0; i < times; i++) {
        const stmt = prepare(
          e,
          `SELECT id, score FROM hundred WHERE id >= ${-round * times - i} ORDER BY id LIMIT ${ROWS}`,
        );
        let sum = 0;
        while (step(stmt) === ROWS) sum += column(stmt, 1);
        finalize(stmt);
        if (sum !== 4950) throw new Error(`the rows' sum is ${sum}`);
      }
    },
  },
];

export function fill(e: Engine): void {
  execute(e, 'CREATE TABLE customers(id INTEGER PRIMARY KEY, score INT, name TEXT, note TEXT)');
  execute(e, 'CREATE TABLE hundred(id INTEGER PRIMARY KEY, score INT)');
  for (let i = 0; i < ROWS; i++) execute(e, `INSERT INTO hundred VALUES(${i}, ${i})`);
}

function clockPair(): number {
  const start = performance.now();
  for (let i = 0; i < 20_000; i++) performance.now();
  return ((performance.now() - start) * 2e6) / 20_000;
}

/** @param query read SQLite's counters of each run, and hash the values of queries */
async function measure(file: string, query: boolean): Promise<(string | number)[][]> {
  const plain = await load(file, 'plain');
  const recorder = sink({ capacity: 16384 });
  const installed = installEngines(recorder, { query, salt: query ? 7 : 0 });
  try {
    const traced = await load(file, 'traced');
    [plain, traced].forEach(fill);
    return WORKLOADS.map((w) => {
      const [off, on] = [plain, traced].map((): number[] => []) as [number[], number[]];
      let events = 0;
      const once = (e: Engine, round: number): void => {
        const before = recorder.begunRecords;
        const start = performance.now();
        w.execute(e, round);
        (e === traced ? on : off).push((performance.now() - start) * 1e6);
        if (e === traced) events = (recorder.begunRecords - before) >>> 0;
      };
      for (let i = 0; i < RUNS; i++)
        for (const e of i % 2 ? [plain, traced] : [traced, plain]) once(e, i);
      const least = [off, on].map((v) => Math.min(...v)) as [number, number];
      const clock = Math.min(...Array.from({ length: RUNS }, clockPair));
      const perEvent = (least[1] - least[0]) / events;
      return [
        `${file}: ${w.name}${query ? ', query counters' : ''}`,
        (events / w.statements).toFixed(1),
        ...[
          least[0] / w.statements,
          least[1] / w.statements,
          (least[1] - least[0]) / w.statements,
          perEvent,
          perEvent - clock,
        ].map(Math.round),
      ];
    });
  } finally {
    installed.restore();
  }
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  for (const file of ['wa-sqlite', 'wa-sqlite-async'])
    for (const query of [false, true]) rows.push(...(await measure(file, query)));
  return {
    columns: [
      'build and workload',
      'events a statement',
      'off, ns a statement',
      'on',
      'more',
      'ns an event',
      'beyond two clock readings',
    ],
    rows,
  };
}
