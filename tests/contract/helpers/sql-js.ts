/**
 * sql.js in Node, as published or with other bytes, other glue, and another way to create its
 * instance.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { SCRIPT } from './script.ts';

const require = createRequire(import.meta.url);
const path = require.resolve('sql.js/dist/sql-wasm.js');

export interface SqlJs {
  Database: new () => {
    run(sql: string): void;
    exec(sql: string): { values: unknown[][] }[];
    close(): void;
  };
}
export const sqlJsWasm = (): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(require.resolve('sql.js/dist/sql-wasm.wasm')));

export interface SqlJsOptions {
  /** Changes the text of the glue. */
  glue?: (source: string) => string;
  /** How the app gets its instance. */
  instantiate: (imports: WebAssembly.Imports) => Promise<{ exports: WebAssembly.Exports }>;
}

export async function loadSqlJs({
  glue = (s): string => s,
  instantiate,
}: SqlJsOptions): Promise<SqlJs> {
  const module = { exports: {} as unknown };
  // a fresh copy each time, like in a page
  const evaluate = new Function(
    'module',
    'exports',
    'require',
    '__dirname',
    '__filename',
    glue(readFileSync(path, 'utf8')),
  );
  Reflect.apply(evaluate, undefined, [module, module.exports, require, '.', path]);
  const init = module.exports as (o: object) => Promise<SqlJs>;
  return new Promise((resolve, reject) => {
    const instantiateWasm = (
      imports: WebAssembly.Imports,
      done: (instance: object) => void,
    ): object => {
      instantiate(imports).then(done, reject);
      return {};
    };
    init({ instantiateWasm }).then(resolve, reject);
  });
}

/** Runs the script, each statement with sqlite3_exec. @returns its results */
export function runSqlJs(SQL: SqlJs): unknown[] {
  const db = new SQL.Database();
  const answers = SCRIPT.map((sql) => db.exec(sql).map((r) => r.values));
  db.close();
  return answers;
}
