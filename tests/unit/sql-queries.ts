// Runs queries over traces like the Query view, without a browser.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Facts } from '../../src/analysis/core/graph.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import type { QueryContext } from '../../src/viewer/session/queries/context.ts';
import type { SqlAnswer } from '../../src/protocol/answers/sql.ts';
import { sqlQueries } from '../../src/viewer/session/sql/sql-query.ts';
import { useWasm } from '../../src/viewer/session/queries/wasm-source.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const contexts = new WeakMap<TraceStore, QueryContext>();
/** Always the same one per trace, as in the worker. */
export function contextOf(store: TraceStore): QueryContext {
  let context = contexts.get(store);
  if (context) return context;
  const kept = new Map<string, unknown>();
  const memo = <T>(key: string, make: () => T): T => {
    if (!kept.has(key)) kept.set(key, make());
    return kept.get(key) as T;
  };
  context = { store, facts: new Facts(store), memo } as unknown as QueryContext;
  contexts.set(store, context);
  return context;
}
/** Repeats the analyses of a trace that has changed. What queries have stored stays. */
export const analyseAnew = (store: TraceStore): void =>
  void contexts.set(store, { ...contextOf(store), facts: new Facts(store) });

let lastId = 0;
/** The next query's id. */
export const nextId = (): number => ++lastId;
/** Runs a query like the Query view. */
export const run = (
  store: TraceStore,
  sql: string,
  options: { maxMs?: number; stop?: Int32Array } = {},
): Promise<SqlAnswer> =>
  sqlQueries.sqlRun(contextOf(store), {
    id: nextId(),
    sql,
    maxMs: options.maxMs ?? 60_000,
    stop: options.stop ?? null,
  });
export const rows = async (store: TraceStore, sql: string): Promise<unknown[][]> =>
  (await run(store, sql)).rows;

/** Loads SQLite, as the worker does before a query. */
export const loadSqlite = (): void =>
  useWasm(readFileSync(createRequire(import.meta.url).resolve('wa-sqlite/dist/wa-sqlite.wasm')));

/** File names that an app might use to cause harm. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '\u202egnp.exe',
  "'; DROP TABLE events; --",
  'tab\tline\nnul\u0001',
  '💾'.repeat(2000),
  'x'.repeat(100_000),
];

/**
 * Two reads of each file, one without an end, and a read of an undefined object at a huge offset.
 */
export function hostile(): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store, { name: 'hostile' });
  for (const path of HOSTILE) {
    const file = t.file(path);
    t.call('xRead', { object: file, offset: 2 ** 40, length: 4_294_967_295, result: 266, dur: 3 });
    t.call('xRead', { object: file, offset: NaN, open: true });
  }
  t.call('xRead', { object: 4_000_000_000, offset: 1e300 });
  t.send();
  return store;
}
