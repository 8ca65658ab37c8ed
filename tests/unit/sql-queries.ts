// Queries over traces as the SQL view asks them, without a browser.
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
/** The same for each question to a trace, as in the worker. */
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
/** What was computed of a trace that has changed is computed again; what queries have kept stays. */
export const analyseAnew = (store: TraceStore): void =>
  void contexts.set(store, { ...contextOf(store), facts: new Facts(store) });

let lastId = 0;
/** Of a query: the next that there is. */
export const nextId = (): number => ++lastId;
/** A query as the SQL view asks it. */
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
/** Its rows. */
export const rows = async (store: TraceStore, sql: string): Promise<unknown[][]> =>
  (await run(store, sql)).rows;

/** What a query needs of the worker. */
export const loadSqlite = (): void =>
  useWasm(readFileSync(createRequire(import.meta.url).resolve('wa-sqlite/dist/wa-sqlite.wasm')));

/** Names of files. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '\u202egnp.exe',
  "'; DROP TABLE events; --",
  'tab\tline\nnul\u0001',
  '💾'.repeat(2000),
  'x'.repeat(100_000),
];

/** Two reads of each of them, one without an end; and one of what has no name, far away. */
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
