// vfscope/field on an engine: page lifecycle, and a report with the same findings as the trace of
// the same run.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findings } from '../../src/analysis/findings/index.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { observe, type Field, type FieldReport } from '../../src/field/index.ts';
import { FIELD_RULES } from '../../src/field/report.ts';
import { saveTrace } from '../../src/field/trace.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { loadSqlJs, sqlJsWasm } from './helpers/sql-js.ts';

const refusal = (name: string): DOMException => new DOMException('The browser refuses it', name);
/** Results of the platform's next calls. */
let answers: (() => unknown)[] = [];
const next = (): unknown => answers.shift()?.();
class FileSystemFileHandle {
  async createSyncAccessHandle(): Promise<unknown> {
    return next();
  }
}
class FileSystemSyncAccessHandle {
  flush(): void {}
  write(): unknown {
    return next();
  }
}
class LockManager {
  async request(_name: string, callback: (lock: object) => unknown): Promise<unknown> {
    await next();
    return callback({});
  }
}

let field: Field;
let later = 0;
const [reports, reasons]: [FieldReport[], string[]] = [[], []];
beforeEach(() => {
  for (const each of [FileSystemFileHandle, FileSystemSyncAccessHandle, LockManager])
    vi.stubGlobal(each.name, each);
  const origin = 'https://app.example';
  vi.stubGlobal('location', { origin, href: `${origin}/list?user=ann#?note` });
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

test('a page life without SQLite has no report', async () => {
  await new LockManager().request('db', () => {});
  later += 50;
  const handle = new FileSystemSyncAccessHandle();
  handle.flush();
  field.flush();
  expect(reports).toEqual([]);
  new (await engine())().run('select 1');
  field.flush();
  expect(reports).toMatchObject([{ engine: 'sql.js', runs: 1, storage: 'opfs' }]);
});

test('a pending call requests a trace once, by its name', async () => {
  const db = new (await engine())();
  answers = [() => new Promise(() => {})];
  void new FileSystemFileHandle().createSyncAccessHandle();
  for (let life = 0; life < 2; life++) {
    db.run('select 1');
    later += 3000;
    field.flush();
  }
  await Promise.resolve();
  expect(reasons).toEqual(['slow call: FileSystemFileHandle.createSyncAccessHandle']);
  expect(reports.map(({ trace }) => trace)).toEqual([...reasons, null]);
});

test('statements that differ only in literals count as one, however often they are prepared', async () => {
  const db = new (await engine())();
  for (let i = 0; i < 20; i++) {
    db.run(` select ${i}, 'name ${i}', ?; select 2`, [i]);
    db.run(`select ${i} + x'0${i % 10}', ?`, [i]);
    db.run(`PRAGMA cache_size=${100 + (i % 2)}`, []);
  }
  field.flush();
  expect(reports[0]!.statements.map(({ text, runs }) => [text, runs]).sort()).toEqual([
    ['PRAGMA cache_size=100', 10],
    ['PRAGMA cache_size=101', 10],
    ['select ? + ?, ?', 20],
    ['select ?, ?, ?', 20],
  ]);
});

test('the last seconds name the page without query and fragment', () => {
  expect(field.last()!.url).toBe('https://app.example/list');
});

test('a report finds the same as a trace of the same run', async () => {
  const Database = await engine();
  const fails = (run: () => unknown): void => expect(run).toThrow();
  // a file that opens at the second attempt, one that never does, and a full disk: F42
  const refused = async (): Promise<never> => {
    throw refusal('NoModificationAllowedError');
  };
  const file = new FileSystemFileHandle();
  answers = [refused, () => new FileSystemSyncAccessHandle(), refused];
  await expect(file.createSyncAccessHandle()).rejects.toThrow();
  const handle = (await file.createSyncAccessHandle()) as FileSystemSyncAccessHandle;
  await expect(file.createSyncAccessHandle()).rejects.toThrow();
  answers = [
    () => {
      throw refusal('QuotaExceededError');
    },
  ];
  fails(() => handle.write());
  // a slow write
  answers = [() => (later += 3000)];
  handle.write();
  // F32, F53, F06
  fails(() => new Database(new Uint8Array(4096).fill(1)).run('select * from t'));
  const [db, other] = [new Database(), new Database()];
  for (let i = 0; i < 30; i++) db.run('select ?', [i]);
  db.run('create table t(a)');
  other.run(`attach '${db.filename}' as shared`);
  db.run('begin exclusive');
  for (let i = 0; i < 4; i++) fails(() => other.run('insert into shared.t values (?)', [i]));
  // leaders are elected by a lock that the others wait for while they work
  let elect = (): void => {};
  answers = [() => new Promise<void>((resolve) => (elect = resolve))];
  const elected = new LockManager().request('leader', () => {});
  later += 3000;
  db.run('commit');
  elect();
  await elected;

  const blob = await saveTrace(field.last()!);
  field.flush();
  const { store } = await readTrace(new Uint8Array(await blob.arrayBuffer()));
  const rules = new Set<string>(Object.values(FIELD_RULES));
  const shown = new Facts(store).get(findings).map(({ rule }) => rule);
  const [report] = reports;
  expect(report!.findings.map(([rule]) => rule)).toEqual(['F06', 'F32', 'F42', 'F53']);
  expect(report!.findings.map(([rule]) => rule)).toEqual(
    [...new Set(shown)].filter((rule) => rules.has(rule)).sort(),
  );
});
