/** What shells complete: every option of the help that the command takes, and nothing else. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { completionScript, optionsByCommand } from '../../src/cli/completion.ts';

/** What a shell without its user's configuration prints for this script. */
function said(shell: string, option: string, script: string): string[] {
  const env = { ...process.env, ZDOTDIR: tmpdir() }; // where zsh stores its cache
  const { stdout, stderr, status } = spawnSync(shell, [option, '-c', script], {
    ...{ encoding: 'utf8', env },
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.trim().split('\n');
}
const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;
/** Both have the function that bash calls: variables in, `COMPREPLY` out. */
const called = (words: readonly string[]): string =>
  `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _vfscope; printf '%s\\n' "\${COMPREPLY[@]}"`;

/** Completions of each shell for a line. */
const SHELLS: Record<string, (words: readonly string[]) => string[]> = {
  bash: (words) => said('bash', '--norc', `${completionScript('bash')}\n${called(words)}`),
  // bashcompinit calls it in this mode, and keeps those that begin with the word
  zsh: (words) =>
    said(
      'zsh',
      '-f',
      `${completionScript('zsh')}\n[[ $_comps[vfscope] == *_vfscope* ]] || print unknown\nemulate sh; setopt kshglob braceexpand\n${called(words)}`,
    ).filter((word) => word.startsWith(words.at(-1)!) || word === '' || word === 'unknown'),
  fish: (words) =>
    said('fish', '--no-config', `${completionScript('fish')}\ncomplete -C '${words.join(' ')}'`),
};

test('options are those that the help lists', () => {
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

describe.each(Object.entries(SHELLS))('%s', (shell, completed) => {
  test.runIf(isInstalled(shell)).each([
    ['vfscope re', ['record']],
    ['vfscope lab re', ['replay']],
    ['vfscope lab crash --re', ['--require']],
    ['vfscope lab diff --', ['--csv', '--help', '--html', '--json', '--svg']], // not those of `vfscope diff`
    ['vfscope record http://localhost/ --until', ['--until', '--until-mark']],
    ['vfscope fleet co', ['compact']],
    ['vfscope fleet add --sh', ['--shard']],
    ['vfscope help fin', ['findings']],
    ['vfscope --v', ['--version']],
  ])('%s', (line, words) => {
    expect(completed(line.split(' ')).sort()).toEqual(words);
  });

  // the shell completes them itself, including folders and names with spaces
  test.runIf(isInstalled(shell))('leaves files to the shell', () => {
    expect(completed(['vfscope', 'summary', 'package.js'])).toEqual([
      shell === 'fish' ? 'package.json' : '',
    ]);
    if (shell !== 'fish') expect(completionScript('bash')).toMatch(/^complete -o default -F /m);
  });
});
