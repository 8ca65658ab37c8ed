// vfscope/field on an engine: page lives.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { observe, type Field, type FieldReport } from '../../src/field/index.ts';
import { loadSqlJs, sqlJsWasm } from './helpers/sql-js.ts';

/** What the platform's calls do next. */
let answers: (() => unknown)[] = [];
const next = (): unknown => answers.shift()?.();
class FileSystemFileHandle {
  async createSyncAccessHandle(): Promise<unknown> {
    return next();
  }
}

let field: Field;
let later = 0;
const [reports, reasons]: [FieldReport[], string[]] = [[], []];
beforeEach(() => {
  vi.stubGlobal('FileSystemFileHandle', FileSystemFileHandle);
  vi.stubGlobal('location', { origin: 'https://app.example', href: 'https://app.example/' });
  vi.stubGlobal('navigator', { userAgent: 'test' });
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + later);
  later = reports.length = reasons.length = 0;
  field = observe({
    onReport: (report) => reports.push(report),
    onTrace: (_, why) => reasons.push(why),
  });
});
afterEach(() => {
  field.stop();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

interface Database {
  filename: string;
  run(sql: string, values?: unknown[]): void;
}
/** sql.js, as an app loads it. */
async function engine(): Promise<new (bytes?: Uint8Array) => Database> {
  const instantiate = async (imports: WebAssembly.Imports): Promise<WebAssembly.Instance> =>
    (await WebAssembly.instantiate(sqlJsWasm(), imports)).instance;
  return (await loadSqlJs({ instantiate })).Database as unknown as new (
    bytes?: Uint8Array,
  ) => Database;
}

test('a call that is pending asks for a trace once, by its name', async () => {
  const db = new (await engine())();
  answers = [() => new Promise(() => {})];
  void new FileSystemFileHandle().createSyncAccessHandle();
  for (let life = 0; life < 2; life++) {
    db.run('select 1');
    later += 3000;
    field.flush();
  }
  await Promise.resolve();
  expect(reasons).toEqual(['slow call: opfsOpenSyncAccessHandle']);
  expect(reports.map(({ trace }) => trace)).toEqual([...reasons, null]);
});
