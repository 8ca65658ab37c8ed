// The commands on a trace file: what they print, and their messages when they fail.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { printAnswer } from '../../src/cli/answer.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { summaryCommand } from '../../src/cli/summary.ts';
import { reportMarkdown } from '../../src/analysis/report/report-markdown.ts';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { reportOf } from '../traces/analyses.ts';

const SAMPLE = 'tests/traces/v1-sample.vfst';
const folder = mkdtempSync(join(tmpdir(), 'vfscope-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

let stdout = '';
let stderr = '';
beforeEach(() => {
  stdout = stderr = '';
  const into = (add: (text: string) => void) => (text: unknown, done?: unknown) => {
    add(String(text));
    if (typeof done === 'function') (done as () => void)();
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(
    into((t) => (stdout += t)) as typeof process.stdout.write,
  );
  vi.spyOn(process.stderr, 'write').mockImplementation(
    into((t) => (stderr += t)) as typeof process.stderr.write,
  );
});
afterEach(() => vi.restoreAllMocks());

/** The sample with other file names. */
function named(path: string): TraceStore {
  const store = sampleStore();
  for (const { definitions } of store.threads)
    for (const [id, d] of definitions)
      if (d.kind === 'file' && d.fileKind === 'main-db') definitions.set(id, { ...d, path });
  return store;
}

describe('summary', () => {
  test('--json prints one object with the keys that checks rely on', async () => {
    expect(await summaryCommand({ file: SAMPLE, json: true })).toBe(0);
    const s = JSON.parse(stdout) as Summary;
    expect(s).toEqual(JSON.parse(JSON.stringify(summaryOf(sampleStore()))));
    expect(s).toMatchObject({
      format: 1,
      events: 57,
      dropped: 3,
      commits: 3,
      syncsPerCommit: 1,
      statements: { count: 3, distinct: 1 },
    });
    expect(s.transactions).toEqual({ read: 0, write: 3, rolledBack: 0 });
    // from three readings; the connection was opened earlier
    expect(s.pageCache).toEqual({ hits: 20, misses: 4, writes: 2, spills: 2, hitRate: 20 / 24 });
    expect(s.web.idb).toMatchObject({ get: 3, put: 1, transactions: 3, readwriteTransactions: 3 });
    expect(s.web.opfs).toMatchObject({ writes: 1, writeBytes: 100 });
    const main = s.files.find((f) => f.kind === 'main-db')!;
    expect(main).toEqual({
      ...{ path: '/app.db', kind: 'main-db' },
      vfs: {
        xOpen: 0,
        xRead: 3,
        xReadBytes: 48,
        xWrite: 3,
        xWriteBytes: 12288,
        xSync: 3,
        xLock: 6,
        xUnlock: 3,
        xTruncate: 0,
        xDelete: 0,
      },
      web: { reads: 3, readBytes: 12288, writes: 0, writeBytes: 0, flushes: 0 },
    });
    expect(s.files.find((f) => f.kind === 'memory-journal')!.vfs).toMatchObject({
      xWrite: 3,
      xWriteBytes: 12,
    });
    expect(s.engines[0]).toMatchObject({
      thread: 'db',
      name: 'wa-sqlite',
      vfs: ['IDBBatchAtomicVFS'],
      layers: { web: true, vfs: true, sql: true, counters: true },
    });
    expect(s.threads.map((t) => [t.kind, t.layers])).toEqual([
      ['page', ['web']],
      ['worker', ['sql', 'vfs', 'web']],
    ]);
    expect(s.threads[0]!.note).toContain('started before recording');
  });

  test("what a trace can't show is null, never 0", () => {
    const s = summaryOf(newStore());
    expect(s).toMatchObject({
      commits: null,
      syncsPerCommit: null,
      statements: { count: null, distinct: null },
    });
    expect(s.transactions).toEqual({ read: null, write: null, rolledBack: null });
    expect(s.pageCache).toEqual({
      hits: null,
      misses: null,
      writes: null,
      spills: null,
      hitRate: null,
    });
  });

  test('a null number comes with its cause', () => {
    const s = summaryOf(newStore());
    expect(Object.keys(s.unknown).sort()).toEqual(
      [
        'commits',
        'pageCache',
        'statements',
        'syncsPerCommit',
        'time',
        'transactions.read',
        'transactions.rolledBack',
        'transactions.write',
      ].sort(),
    );
    expect(s.unknown['time']).toMatch(/no SQL or VFS call/);
    expect(summaryOf(sampleStore()).unknown).toEqual({});
  });

  test('for people, unknown reads n/a, and no text of a trace can control the terminal', async () => {
    expect(await summaryCommand({ file: SAMPLE })).toBe(0);
    expect(stdout).toContain('wa-sqlite, SQLite 3.53.0, VFS IDBBatchAtomicVFS');
    expect(stdout).toMatch(/Commits\s+≥ 3\n\s*Syncs per commit\s+1 \(partial\)\n/);
    expect(stdout).toMatch(/Events dropped: 3 events didn't fit in the buffer, or got lost/);
    for (const heading of [
      'Recorded',
      'SQLite',
      'Time on the thread of SQLite',
      'Statements that took',
      'Longest trans',
      'Files',
      'Findings',
    ])
      expect(stdout).toContain(`\n${heading}`);
    const text = reportText(reportOf(named('/evil\u001b[2J.db')));
    expect(text).not.toContain('\u001b');
    expect(text).toContain('/evil?[2J.db');
    expect(reportText(reportOf(newStore()))).toMatch(/Commits\s+n\/a/);
  });

  test("--markdown: the trace can't break out of table cells", async () => {
    expect(await summaryCommand({ file: SAMPLE, markdown: true })).toBe(0);
    const rows = stdout.split('\n').filter((line) => line.startsWith('|'));
    expect(rows.length).toBeGreaterThan(12);
    // every row has the columns of its header; the count includes bars that no backslash escapes
    let columns = 0;
    for (const line of stdout.split('\n')) {
      const bars = line.match(/(?<!\\)\|/g)?.length ?? 0;
      if (!line.startsWith('|')) columns = 0;
      else if (columns === 0) columns = bars;
      else expect(bars, line).toBe(columns);
    }
    const store = named('/a|b<img src=x onerror=alert(1)>`@octocat #1 [x](y).db');
    store.threads[0]!.info.url = '</table><script>![x](http://y)';
    const text = reportMarkdown(reportOf(store, { warnings: ['| ends\n# here'] }));
    expect(text).toContain(
      '/a\\|b\\<img src=x onerror=alert(1)\\>\\`&#64;octocat &#35;1 \\[x\\](y).db',
    );
    expect(text).not.toMatch(/(?<!\\)<|@|(?<!\\)\]\(|^# here/m);
  });

  test('--privacy reports what the trace reveals about its app', async () => {
    expect(await summaryCommand({ file: SAMPLE, privacy: true })).toBe(0);
    expect(stdout).toMatch(/^level 1: 1 SQL text \(0 with literals\)/);
    stdout = '';
    expect(await summaryCommand({ file: SAMPLE, privacy: true, json: true })).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ level: 1, sqlTexts: 1, sqlWithLiterals: 0 });
  });
});

describe('unreadable files', () => {
  test.each([
    ['no such file', join(folder, 'none.vfst'), /there is no such file/],
    ['a folder', folder, /is a folder/],
    ['no trace', 'package.json', /isn't a vfscope recording.*looks like JSON/],
  ])('%s: exit code 2 and the cause', async (_, file, message) => {
    const failure = await summaryCommand({ file, json: true }).catch((e: unknown) => e);
    expect(failure).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message) as string,
    });
    expect(stdout).toBe('');
  });

  test('a truncated file is summarized as far as it goes, with a warning', async () => {
    const file = join(folder, 'cut.vfst');
    writeFileSync(file, readFileSync(SAMPLE).subarray(0, -40));
    expect(await summaryCommand({ file, json: true })).toBe(0);
    expect(stderr).toMatch(/cut off at byte/);
    expect((JSON.parse(stdout) as Summary).events).toBe(57);
  });
});

describe('export', () => {
  test('writes the requested file', async () => {
    const out = join(folder, 'trace.json');
    expect(await exportCommand({ file: SAMPLE, format: 'chrome', out })).toBe(0);
    const { traceEvents } = JSON.parse(readFileSync(out, 'utf8')) as {
      traceEvents: { ph: string }[];
    };
    // and one instant event: the page's visibility
    expect(traceEvents.filter((e) => e.ph === 'X').length).toBe(56);
  });

  test('without --out prints it', async () => {
    expect(await exportCommand({ file: SAMPLE, format: 'chrome' })).toBe(0);
    expect(JSON.parse(stdout)).toHaveProperty('traceEvents');
  });

  test('an unknown format and an unwritable path are named', async () => {
    expect(await exportCommand({ file: SAMPLE, format: 'toString' })).toBe(2);
    expect(stderr).toMatch(/no export format "toString": expected chrome/);
    await expect(
      exportCommand({ file: SAMPLE, format: 'chrome', out: join(folder, 'no', 'x.json') }),
    ).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/can't be written: there is no folder/) as string,
    });
  });
});

describe('the answer of a new recording', () => {
  const printed = async (store: TraceStore): Promise<boolean> => {
    const file = join(folder, 'new.vfst');
    writeFileSync(file, new Uint8Array(await (await saveTrace(store)).arrayBuffer()));
    return printAnswer(file, true);
  };
  const page = (): ThreadBuilder =>
    new ThreadBuilder(newStore(), { kind: 'page', url: 'https://a.example/' });

  test('names a page without SQLite', async () => {
    const { store } = page();
    expect(await printed(store)).toBe(false);
    expect(stderr).toMatch(/^vfscope: No SQLite was seen on this page\. [^\n]*\n$/);
  });

  test('names a page that was already running instead', async () => {
    const late = page();
    const url = 'https://a.example/late';
    const text = 'SQLite was loaded. Reload.';
    for (let i = 0; i < 2; i++) late.define({ kind: 'note', topic: 'late-start', text, url });
    late.send();
    expect(await printed(late.store)).toBe(false);
    expect(stderr).toBe(`vfscope: The page was running already: ${text} (${url})\n`);
  });
});
