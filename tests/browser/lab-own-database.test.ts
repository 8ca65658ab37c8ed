// `vfscope lab run own-database --file` in real browsers, from the command line: the same rows as
// in Node, and a file that isn't a database is rejected.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunResult } from '../../src/lab/experiments/model/result-types.ts';

const DIST = process.env['VFSCOPE_DIST'] ?? 'dist';
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'vfscope-own-'));
  const init = createRequire(import.meta.url)('sql.js') as () => Promise<{
    Database: new () => { run(sql: string): void; export(): Uint8Array };
  }>;
  const db = new (await init()).Database();
  // large enough for several pieces on its way to the page
  db.run(`CREATE TABLE item(id INTEGER PRIMARY KEY, body TEXT);
WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n WHERE x<12000) INSERT INTO item SELECT x, printf('%0120d', x) FROM n;`);
  writeFileSync(path.join(folder, 'shop.sqlite'), db.export());
  writeFileSync(path.join(folder, 'torn.sqlite'), 'SQLite format 3\0 and no more');
  writeFileSync(
    path.join(folder, 'ask.sql'),
    "SELECT id FROM item WHERE id % 3 = 0; UPDATE item SET body = 'x' WHERE id < 5;\n",
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** @returns exit code and output */
const vfscope = (...args: string[]): Promise<{ code: number; out: string; said: string }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(DIST, 'cli', 'vfscope.mjs'), 'lab', 'run', 'own-database', ...args],
      { maxBuffer: 1 << 26 },
      (error, out, said) => resolve({ code: error ? Number(error.code) : 0, out, said }),
    );
  });
const on = (file: string, ...more: string[]): string[] => [
  '--file',
  path.join(folder, file),
  '--sql',
  path.join(folder, 'ask.sql'),
  ...more,
];

async function counted(...more: string[]): Promise<RunResult> {
  const { code, out, said } = await vfscope(...on('shop.sqlite', '--count', '--json', ...more));
  expect([code, said]).toEqual([0, expect.anything()]);
  return (JSON.parse(out) as RunResult[])[0]!;
}

it('Chromium and Firefox: the rows and calls of Node, on their own storage', async () => {
  const node = await counted('--node');
  expect(node.totals).toMatchObject({ rows: 4000, statements: 2 });
  for (const browser of ['chromium', 'firefox']) {
    const memory = await counted('--browser', browser);
    expect(memory.totals).toEqual(node.totals);
    expect(memory.digest).toEqual(node.digest);
    const opfs = await counted('--browser', browser, '--config', 'vfs=OPFSCoopSync');
    expect(opfs.totals).toMatchObject({
      rows: 4000,
      'vfs.main-db.xWrite': node.totals['vfs.main-db.xWrite'],
    });
    expect(opfs.totals['opfs.writes']).toBeGreaterThan(0);
  }
}, 240_000);

it("a file that isn't a database, and a missing file", async () => {
  const torn = await vfscope(...on('torn.sqlite'));
  expect(torn).toMatchObject({
    code: 2,
    out: '',
    said: expect.stringMatching(/torn\.sqlite is damaged\. SQLite reports: .*\.recover/),
  });
  expect(await vfscope(...on('nowhere.sqlite'))).toMatchObject({
    code: 2,
    said: expect.stringMatching(/nowhere\.sqlite/),
  });
});
