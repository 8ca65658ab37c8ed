/** What shells complete: every option of the help, which the command takes, and nothing else. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { completionScript, optionsByCommand } from '../../src/cli/completion.ts';

const completed = (...words: string[]): string[] => {
  const line = words.map((word) => `'${word}'`).join(' ');
  const script = `${completionScript('bash')}
COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _vfscope; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['--norc'], {
    input: script,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.trim().split('\n');
};

test('options are those that the help names', () => {
  const all = optionsByCommand();
  expect([...all.keys()].sort()).toEqual([
    'check',
    'completion',
    'demo',
    'diff',
    'doctor',
    'export',
    'findings',
    'fleet add',
    'fleet compact',
    'fleet report',
    ...['advise', 'check', 'crash', 'diff', 'list', 'replay', 'run', 'show', 'versions'].map(
      (verb) => `lab ${verb}`,
    ),
    'listen',
    'mcp',
    'open',
    'plans',
    'query',
    'record',
    'summary',
  ]);
  expect(all.get('check')).toEqual(['--budget', '--baseline', '--json']);
  expect(all.get('record')).toEqual(
    expect.arrayContaining(['--until', '--require-sqlite', '--json', '--browser']),
  );
});

test('bash completes commands, verbs of the Lab, options, and files', () => {
  expect(completed('vfscope', 're')).toEqual(['record']);
  expect(completed('vfscope', 'lab', 're')).toEqual(['replay']);
  expect(completed('vfscope', 'lab', 'crash', '--re')).toEqual(['--require']);
  expect(completed('vfscope', 'record', 'http://localhost/', '--until')).toEqual([
    '--until',
    '--until-mark',
  ]);
  expect(completed('vfscope', 'fleet', 'co')).toEqual(['compact']);
  expect(completed('vfscope', 'fleet', 'add', '--sh')).toEqual(['--shard']);
  expect(completed('vfscope', 'summary', 'package.js')).toEqual(['package.json']);
});

test('zsh takes the script of bash; fish has one line an option', () => {
  expect(completionScript('zsh')).toMatch(/^autoload -U \+X bashcompinit && bashcompinit\n/);
  expect(completionScript('fish')).toContain(
    "complete -c vfscope -n '__fish_seen_subcommand_from lab; and __fish_seen_subcommand_from crash' -l require\n",
  );
});
