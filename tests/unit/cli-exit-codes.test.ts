// The command line: exit codes and messages for invalid input to every command, and a help that
// lists everything.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { optionsByCommand } from '../../src/cli/completion.ts';
import { usageOf } from '../../src/cli/usage.ts';
import { checkStartable, didNotStart } from '../../src/drive/startable.ts';
import { buildCommand } from './cli-command.ts';

const SAMPLE = 'tests/traces/v1-sample.vfst';
const GOLDEN = 'tests/traces/golden/idb-batch-atomic.vfst';
const folder = mkdtempSync(join(tmpdir(), 'vfscope-cli-'));
const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

let command: string;
beforeAll(async () => {
  command = await buildCommand('vfscope-cli-test');
});
afterAll(() => rmSync(folder, { recursive: true }));

function vfscope(args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}
const URL = 'http://localhost:1/';
const OUT = ['--out', join(folder, 'x.vfst')];
const NONE = join(folder, 'none.vfst');

describe('invalid use has exit code 2, reports what is wrong, and prints no result', () => {
  const budget = file('good.json', '{"commits": {"max": 10}}');
  test.each<[string[], RegExp]>([
    [[], /vfscope record <url>/],
    [['recrod'], /Unknown command "recrod"\. Did you mean "record"\?/],
    [['compare', 'a', 'b'], /Unknown command "compare"\. Did you mean "diff"\?/],
    [['--nothing'], /Unknown command "--nothing"\.\n/],
    [['record'], /expected one URL, got none/],
    [['demo', URL], /expected 0 arguments, got 1/],
    [
      ['demo', '--vfs', 'coop'],
      /--vfs coop: expected OPFSCoopSync, AccessHandlePool, IDBBatchAtomic/,
    ],
    [['completion'], /expected one shell, got none/],
    [['completion', 'tcsh'], /Unknown shell "tcsh": expected bash, zsh, fish/],
    [['record', URL, '--out'], /--out.*argument missing/],
    [['record', 'localhost:8080', ...OUT], /"localhost:8080" isn't a web address/],
    [['record', URL, ...OUT, '--seconds', 'ten'], /--seconds ten: expected a number above 0/],
    [['record', URL, ...OUT, '--seconds', '0'], /--seconds 0/],
    [['record', URL, ...OUT, '--scope', 'window'], /--scope window: expected tab or origin/],
    [['record', URL, ...OUT, '--browser', 'lynx'], /Unknown browser "lynx"/],
    [['record', URL, ...OUT, '--script', 'none.mjs'], /none\.mjs can't be loaded/],
    [['record', URL, '--out', join(folder, 'no', 'x.vfst')], /There is no folder .*no to write/],
    [['record', URL, '--out', folder], /can't be written: it isn't a file/],
    [
      ['record', URL, ...OUT, '--screenshot', join(folder, 'no', 'x.png')],
      /There is no folder .*no to write .*x\.png/,
    ],
    [['record', URL, ...OUT, '--capture', '4'], /--capture 4: expected 0 \(no SQL text\)/],
    [['record', URL, ...OUT, '--capture', '-1'], /--capture/],
    [
      ['record', URL, ...OUT, '--layers', 'sql,opfs'],
      /--layers sql,opfs: expected some of sql,vfs,web/,
    ],
    [['record', URL, ...OUT, '--layers', ''], /--layers : expected some of/],
    [
      ['record', URL, ...OUT, '--buffer', '1000'],
      /--buffer 1000: expected 256, 512, 1024, 2048, 4096/,
    ],
    [['record', URL, ...OUT, '--until', 'true', '--until-mark'], /only one can end the recording/],
    [['record', URL, ...OUT, '--untill', 'x'], /Unknown option '--untill'/],
    [['doctor'], /expected one URL, got none/],
    [['doctor', 'localhost:8080'], /"localhost:8080" isn't a web address/],
    [['doctor', URL, '--json', '--markdown'], /--markdown can't be combined with --json/],
    [['doctor', URL, '--seconds', '0'], /--seconds 0: expected a number above 0/],
    [['doctor', '--connect', 'ftp://x'], /--connect ftp:\/\/x: expected an address/],
    [['fleet'], /vfscope fleet needs a command: expected add, compact, or report/],
    [['fleet', 'ad'], /vfscope fleet has no command "ad"/],
    [['fleet', 'add', SAMPLE], /--out is missing/],
    [['fleet', 'add', NONE, '--out', folder], /there is no such file/],
    [['fleet', 'add', 'package.json', '--out', join(folder, 'f')], /it has no reports/],
    [['fleet', 'add', 'README.md', '--out', folder], /expected a \.vfst trace, or reports/],
    [['fleet', 'add', SAMPLE, '--out', folder, '--shard', '3/2'], /--shard 3\/2: expected i\/n/],
    [['fleet', 'add', SAMPLE, '--out', folder, '--label', 'x'], /--label x: expected name=value/],
    [['fleet', 'compact', join(folder, 'no')], /isn't a data set of vfscope fleet/],
    [['fleet', 'report', join(folder, 'no')], /has no recordings or reports/],
    [['fleet', 'report', folder, '--by', 'os'], /--by os: expected one of release, browser/],
    [
      ['fleet', 'report', folder, '--json', '--markdown'],
      /--markdown can't be combined with --json/,
    ],
    [['summary'], /expected one file, got none/],
    [['summary', SAMPLE, SAMPLE], /expected one file, got 2/],
    [['summary', NONE], /there is no such file/],
    [['summary', folder], /is a folder, not a trace file/],
    [['summary', 'package.json'], /a vfscope recording/],
    [['summary', SAMPLE, '--markdown', '--json'], /--markdown can't be combined/],
    [['findings', NONE], /there is no such file/],
    [['findings', SAMPLE, '--csv'], /Unknown option '--csv'/],
    [['export', SAMPLE], /--format is missing/],
    [['export', SAMPLE, '--format', 'csv'], /--out is missing/],
    [['export', SAMPLE, '--format', 'csv', '--out', '-', '--json'], /--json needs --out FILE/],
    [
      ['export', SAMPLE, '--format', 'pdf', '--out', '-'],
      /no export format "pdf": expected chrome/,
    ],
    [['export', NONE, '--format', 'csv', '--out', '-'], /there is no such file/],
    [['export', folder, '--format', 'csv', '--out', '-'], /only --format parquet takes one/],
    [['export', folder, '--format', 'parquet', '--out', join(folder, 'p')], /has no \.vfst files/],
    [
      ['export', SAMPLE, '--format', 'csv', '--out', join(folder, 'no', 'x.csv')],
      /x\.csv can't be written: there is no folder .*no\./,
    ],
    [['export', SAMPLE, '--format', 'csv', '--out', folder], /can't be written: it is a folder/],
    [
      ['export', SAMPLE, '--format', 'csv', '--out', `./${SAMPLE}`],
      /is the recording itself: expected another file/,
    ],
    [['diff', SAMPLE], /expected 2 files, got 1/],
    [['diff', SAMPLE, NONE], /there is no such file/],
    [['check', SAMPLE], /check needs --budget/],
    [['check', SAMPLE, '--budget', NONE], /none\.vfst: there is no such file/],
    [['check', SAMPLE, '--budget', folder], /is a folder, not a budget file/],
    [['check', SAMPLE, '--budget', file('bad.json', '{')], /it isn't JSON/],
    [['check', SAMPLE, '--budget', file('empty.json', '{}')], /it has no limits/],
    [
      ['check', SAMPLE, '--budget', file('wrong.json', '{"commits": {"most": 1}}')],
      /unknown "most"; known: min, max, optional/,
    ],
    [['check', NONE, '--budget', budget], /there is no such file/],
    [
      ['lab'],
      /vfscope lab needs a command: expected list, run, show, diff, check, replay, advise, crash, or versions/,
    ],
    [
      ['lab', 'rnu'],
      /vfscope lab has no command "rnu": expected list, run, show, diff, check, replay, advise, crash, or versions/,
    ],
    [['lab', 'run', 'nope'], /unknown experiment or workload "nope": expected one of .*own-sql/],
    [['lab', 'run', 'own-sql', '--sql', NONE, '--node'], /none\.vfst: there is no such file/],
    ...(
      [
        [
          file('random.db', 'no database at all'.repeat(100)),
          /random\.db: This isn't a SQLite database: it doesn't begin with/,
        ],
        [
          file('short.db', 'SQLite format 3\0cut off'),
          /short\.db is damaged\. SQLite reports: .*\. Use a backup, or recover/,
        ],
        [file('none.db', ''), /none\.db: This isn't a SQLite database: it is empty/],
        [folder, /is a folder, not a database/],
        [NONE, /none\.vfst: there is no such file/],
      ] as const
    ).map(([database, message]): [string[], RegExp] => [
      [
        'lab',
        'run',
        'own-database',
        '--node',
        '--count',
        '--file',
        database,
        '--sql',
        file('one.sql', 'SELECT 1;'),
      ],
      message,
    ]),
    [['open'], /expected one file, got none/],
    [['query', SAMPLE, 'SELECT 1', '--short'], /--short needs --tables/],
    [['open', NONE], /none\.vfst: there is no such file/],
    [
      ['open', SAMPLE, '--screenshot', join(folder, 'no', 'x.png')],
      /There is no folder .*no to write/,
    ],
    [['open', folder], /is a folder, not a trace file/],
    [['open', 'package.json'], /package\.json: This isn't a vfscope recording/],
  ])('%j', (args, message) => {
    const { code, stdout, stderr } = vfscope(args);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /); // no stack
    expect([code, stdout]).toEqual([2, '']);
  });
});

describe('the other codes', () => {
  test('0, with the result on stdout and nothing on stderr', () => {
    for (const args of [
      ['summary'],
      ['summary', '--json'],
      ['summary', '--markdown'],
      ['findings'],
      ['findings', '--json'],
    ]) {
      const { code, stdout, stderr } = vfscope([args[0]!, SAMPLE, ...args.slice(1)]);
      expect([code, stderr], args.join(' ')).toEqual([0, '']);
      expect(stdout.length).toBeGreaterThan(50);
    }
    expect(vfscope(['diff', SAMPLE, SAMPLE]).code).toBe(0);
  });

  test('0, and what a result reveals about its app is reported once, but not for a sanitized trace', () => {
    const clean = join(folder, 'clean.vfst');
    const as = (from: string, ...args: string[]) =>
      vfscope(['export', from, '--format', 'vfst', ...args]);
    expect(as(SAMPLE, '--out', join(folder, 'copy.vfst')).stderr).toMatch(
      /The file contains .* To anonymize it: --sanitize/,
    );
    expect(as(SAMPLE, '--out', clean, '--sanitize')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(as(clean, '--out', join(folder, 'again.vfst'))).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  test("3 if the user's SQL fails in a run, with SQLite's message", () => {
    const { code, stdout, stderr } = vfscope([
      'lab',
      'run',
      'own-sql',
      '--node',
      '--count',
      '--sql',
      file('bad.sql', 'SELEC 1;'),
    ]);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/own-sql failed: .*near "SELEC": syntax error/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('1 if a limit is broken, with the table', () => {
    const { code, stdout } = vfscope([
      'check',
      SAMPLE,
      '--budget',
      file('broken.json', '{"commits": {"max": 1}}'),
    ]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/1 of 1 limits broken[^]*commits +3 +1 +BROKEN/);
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    [
      'no browser',
      [],
      { CHROMIUM: join(folder, 'no-browser') },
      /There is no browser at .*no-browser \(from \$CHROMIUM\)/,
    ],
    [
      'no Firefox',
      ['--browser', 'firefox'],
      { FIREFOX: join(folder, 'no-fox') },
      /There is no browser at .*no-fox \(from \$FIREFOX\)/,
    ],
  ])('3 with %s', (_, args, env, message) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [command, 'record', URL, ...OUT, ...args],
      {
        encoding: 'utf8',
        env: { ...process.env, ...env },
      },
    );
    expect(stderr).toMatch(message);
    expect([status, stdout]).toEqual([3, '']);
  });
});

describe("3 if a browser can't be started, with its name", () => {
  const program = file('program', '#!/bin/sh\n');
  chmodSync(program, 0o755);

  test.each<[string, string, boolean, RegExp]>([
    ['a folder', folder, false, /is a folder, not a program/],
    ['no program', file('text', ''), false, /text isn't a program that can be started/],
    ['a window and no display', program, true, /There is no display to open a window on/],
  ])('%s', (_, path, headed, message) => {
    vi.stubEnv('DISPLAY', '');
    vi.stubEnv('WAYLAND_DISPLAY', '');
    expect(() => checkStartable(path, headed)).toThrow(message);
    vi.unstubAllEnvs();
  });

  test('what can be', () => expect(() => checkStartable(program, false)).not.toThrow());

  test('what is none', () => {
    const cause = new Error(
      'Failed to launch the browser process:  Code: 0\n\nstderr:\n\n\nTROUBLESHOOTING: https://pptr.dev/x\n',
    );
    expect(didNotStart('/bin/true', 'a Firefox 140', cause)).toMatchObject({
      exitCode: 3,
      message:
        '/bin/true did not start: Failed to launch the browser process: Code: 0. Is it a Firefox 140 or newer?',
    });
  });
});

describe('--json', () => {
  test("each command takes it, and the documents list those that don't", () => {
    const without = [...optionsByCommand()].flatMap(([name, options]) =>
      options.includes('--json') ? [] : [name],
    );
    expect(without).toEqual(['mcp', 'completion']);
    const [said] = /^`--json` works [^]*?\n\n/m.exec(readFileSync('docs/commands.md', 'utf8'))!;
    expect(said.match(/`\w+`/g)).toEqual(['`mcp`', '`completion`']);
  });

  test.each([
    'summary $F',
    'findings $F',
    'findings $F --short',
    'query $F --tables',
    'plans $F',
    'diff $F $F',
    'check $F --baseline $F',
    'export $F --format csv --out $D/x.csv',
    'fleet add $F --out $D/fleet',
    'fleet compact $D/fleet',
    'fleet report $D/fleet',
    'lab list',
  ])('%s prints one value, and nothing else', (line) => {
    const args = line.replaceAll('$F', GOLDEN).replaceAll('$D', folder).split(' ');
    const { code, stdout } = vfscope([...args, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  });

  test('of an export: what was written', () => {
    const out = join(folder, 'y.csv');
    const { stdout } = vfscope(['export', GOLDEN, '--format', 'csv', '--out', out, '--json']);
    const bytes = readFileSync(out).length;
    expect(JSON.parse(stdout)).toEqual({ file: out, format: 'csv', bytes, sanitized: false });
  });
});

describe('help', () => {
  const source = readFileSync('src/cli/vfscope.ts', 'utf8');
  const commands = [...source.matchAll(/^ {4}case '(\w+)'/gm)]
    .map((m) => m[1]!)
    .filter((name) => name !== 'help');

  test.each(['--help', '-h', 'help'])('%s names every command, a line each', (arg) => {
    const { code, stdout } = vfscope([arg]);
    expect(code).toBe(0);
    expect(commands).toEqual(
      expect.arrayContaining(['record', 'summary', 'findings', 'export', 'diff', 'check', 'open']),
    );
    for (const name of commands)
      expect(stdout).toMatch(new RegExp(`^ {2}vfscope (?:fleet )?${name} .* {2}\\S`, 'm'));
    expect(stdout.split('\n').length).toBeLessThan(40);
  });

  test('of the commands: every option', () => {
    const options = [...source.matchAll(/['{ ]([a-z][a-z-]*)'?: (?:text|yes|words)\b/g)].map(
      (m) => m[1]!,
    );
    expect(options.length).toBeGreaterThan(20);
    const help = [...commands, 'fleet'].map((name) => usageOf(name)).join('\n');
    for (const name of new Set(options)) expect(help, name).toMatch(new RegExp(`--${name}\\b`));
  });

  test.each([
    ['help', 'export'],
    ['export', '--help'],
    ['export', SAMPLE, '-h'],
  ])('%s %s: that command alone', (...args) => {
    const { code, stdout, stderr } = vfscope(args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^ {2}vfscope export FILE [^]*--sanitize[^]*as with fleet add\n$/);
    expect(stdout).not.toMatch(/vfscope (record|diff)/);
  });

  test('lab has nine', () =>
    expect(vfscope(['lab', '--help']).stdout.match(/^ {2}vfscope lab \w+/gm)).toHaveLength(9));

  test.each([
    ['help', 'lab', 'crash'],
    ['lab', 'crash', '--help'],
  ])('%s %s %s: that one alone', (...args) =>
    expect(vfscope(args).stdout.match(/^ {2}vfscope .*/gm)).toEqual([
      expect.stringMatching(/^ {2}vfscope lab crash /),
    ]),
  );

  test('invalid words end with the usage of their command, not of all', () => {
    const { stderr } = vfscope(['summary', SAMPLE, '--jsn']);
    expect(stderr).toMatch(
      /^vfscope: Unknown option '--jsn'\.\n\n {2}vfscope summary [^]*--privacy/,
    );
    expect(stderr).not.toMatch(/vfscope (record|findings)/);
  });

  test('--version', () =>
    expect(vfscope(['--version'])).toEqual({ code: 0, stdout: '1.2.3\n', stderr: '' }));
});
