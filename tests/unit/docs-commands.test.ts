// Every command in the documents exists with its options, and those that need neither a browser nor
// a network run unchanged.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { usageOf } from '../../src/cli/usage.ts';
import { buildCommand } from './cli-command.ts';

interface Shown {
  /** File and line. */
  where: string;
  /** From `vfscope` on, without comments. */
  command: string;
  /**
   * In a shell block, which readers copy whole. Otherwise a sentence names it, possibly only a
   * part.
   */
  whole: boolean;
}

const DOCUMENTS = [
  'README.md',
  'SKILL.md',
  'llms.txt',
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

function* shownIn(file: string): Generator<Shown> {
  let inBlock = false;
  for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const where = `${file}:${at + 1}`;
    if (line.trimStart().startsWith('```')) inBlock = !inBlock;
    else if (inBlock) {
      const [, command] = /^\s*(?:npx )?(vfscope [^#]*?)\s*(?:#.*)?$/.exec(line) ?? [];
      if (command) yield { where, command, whole: /npx/.test(line) };
    } else
      for (const [, command] of line.matchAll(/`(?:npx )?(vfscope [^`]*)`/g))
        yield { where, command: command!, whole: false };
  }
}
const ALL = DOCUMENTS.flatMap((file) => [...shownIn(file)]);
const words = (command: string): string[] => command.split(/\s+/).slice(1);

test('exists, with its options', () => {
  expect(ALL.length).toBeGreaterThan(100);
  const wrong = ALL.filter(({ command }) => {
    const [name, verb] = words(command);
    if (name === '...' || name!.startsWith('--')) return false;
    const usage = usageOf(name!);
    if (!usage) return true;
    if (
      /^[a-z]+$/.test(verb ?? '') &&
      /^(lab|fleet)$/.test(name!) &&
      !usage.includes(`${name} ${verb}`)
    )
      return true;
    const options = command.replace(/"[^"]*"/g, '').match(/--[a-z][a-z-]*/g) ?? [];
    return options.some((option) => !new RegExp(`${option}(?![a-z-])`).test(usage));
  });
  expect(wrong.map(({ where, command }) => `${where}: ${command}`)).toEqual([]);
});

let command: string;
const folder = mkdtempSync(join(tmpdir(), 'vfscope-docs-'));
const golden = (name: string): string => resolve('tests/traces/golden', name);

function runLine(line: string): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['-c', `npx() { shift; node "$COMMAND" "$@"; }\n${line}`],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, COMMAND: command } },
  );
  return { status, said: stderr + stdout };
}

/** The files that the documents name, as a reader would have them. */
beforeAll(async () => {
  command = resolve(await buildCommand('docs-commands'));
  for (const file of ['app', 'before', 'after', 'save'])
    copyFileSync(golden('opfs-coop-sync.vfst'), join(folder, `${file}.vfst`));
  for (const name of ['reports', 'traces']) mkdirSync(join(folder, name));
  copyFileSync(golden('kvvfs.vfst'), join(folder, 'traces/a.vfst'));
  writeFileSync(join(folder, 'my.sql'), 'CREATE TABLE t(a); INSERT INTO t VALUES (1);');
  for (const line of [
    'npx vfscope lab run own-sql --sql my.sql --node --count --json > result.json',
    'npx vfscope fleet add traces/ --out fleet/',
  ]) {
    const { status, said } = runLine(line);
    expect(status, said).toBe(0);
  }
  for (const name of ['before', 'after'])
    copyFileSync(join(folder, 'result.json'), join(folder, `${name}.json`));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Commands that need a browser, the network, or a long-running service, or that aren't worth their
 * time here.
 */
const NOT_RUN =
  /^vfscope (?:demo|record|open|doctor|listen|mcp|completion|lab (?:versions|crash|run (?!.*--node)|run (?:speedtest1|checkpointing|kv-sweep|sequential-write)|.*--native|replay (?!.*--(?:node|page-sizes|checkpoints))|advise))/;

const RUN = [
  ...new Set(
    ALL.flatMap(({ command, whole }) => (whole && !NOT_RUN.test(command) ? [command] : [])),
  ),
];
/** What its limits apply to: a summary, or a Lab result. */
const limited = (command: string): string =>
  command.startsWith('vfscope lab') ? 'total/vfs.xSync' : 'commits';

test.each(RUN)('%s', { timeout: 60_000 }, (command) => {
  writeFileSync(join(folder, 'budget.json'), JSON.stringify({ [limited(command)]: { max: 1e6 } }));
  const { status, said } = runLine(`npx ${command}`);
  expect(status, said).toBe(0);
});
