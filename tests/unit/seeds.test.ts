/** docs/seeds.md answers every claim once, and names only what exists. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readWords, runOf } from '../../src/lab/experiments/plan.ts';
import { ALL_EXPERIMENTS } from '../../src/lab/experiments/documents/tries.ts';
import { WORKLOADS, workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { RULES } from '../../src/analysis/findings/index.ts';
import { EXAMPLES } from '../../src/viewer/ui/views/sql/examples.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';

const RUN = { mode: 'count', repeats: 1 } as const;
const ROOT = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const doc = read('docs/seeds.md');
const rows = doc
  .split('\n')
  .flatMap((line) => /^\| (S\d\.\d+) \| (.+) \| (.+) \|$/.exec(line)?.slice(1, 4) ?? []);
const claims = rows.filter((_, i) => i % 3 === 0);
const ANALYSES = new Set(
  readdirSync(path.join(ROOT, 'src/analysis'), { recursive: true }).map((file) =>
    path.basename(String(file)),
  ),
);
const answers = rows.filter((_, i) => i % 3 === 2);

it('all 121 claims are present, once, in order', () => {
  const counts = { S1: 28, S2: 17, S3: 35, S4: 18, S5: 23 };
  const expected = Object.entries(counts).flatMap(([seed, n]) =>
    Array.from({ length: n }, (_, i) => `${seed}.${i + 1}`),
  );
  expect(expected).toHaveLength(121);
  expect(claims).toEqual(expected);
});

it('every rule, file, recording, workload, setting, view, example, and command that it names exists', () => {
  const rules = new Set(RULES.map(({ id }) => id));
  const views = new Set(
    [...read('src/viewer/ui/views/registry.ts').matchAll(/title: '([^']+)'/g)].map(
      ([, title]) => title!,
    ),
  );
  const examples = new Set(EXAMPLES.map(({ title }) => title));
  const names = new Set([
    ...SCENARIOS.map(({ name }) => name),
    ...[...WORKLOADS, ...ALL_EXPERIMENTS].map(({ id }) => id),
    ...WORKLOADS.flatMap(({ parameters }) => Object.keys(parameters)),
    ...['checkpoints', 'pages'], // tables of the SQL view
    ...['block.rmw', 'block.rmwMiss', 'blocked', 'versionchange'],
  ]);
  const commands = read('src/cli/usage.ts');
  const missing: string[] = [];
  const check = (ok: boolean, what: string): void => void (ok || missing.push(what));
  for (const answer of answers) {
    for (const [, id] of answer.matchAll(/\b(F\d\d)\b/g)) check(rules.has(id!), id!);
    for (const [, view] of answer.matchAll(/\*\*([^*]+)\*\*/g))
      check(views.has(view!), `view ${view}`);
    for (const [, file] of answer.matchAll(/\b((?:src|tests|docs)\/[\w./-]+\w)/g))
      check(existsSync(path.join(ROOT, file!)), file!);
    for (const [, title] of answer.matchAll(/example "([^"]+)"/g))
      check(examples.has(title!), title!);
    for (const [, name] of answer.matchAll(/`([^`]+)`/g)) {
      if (name!.endsWith('.ts')) check(ANALYSES.has(name!), name!);
      else if (name!.startsWith('docs/')) check(existsSync(path.join(ROOT, name!)), name!);
      else if (name!.startsWith('--'))
        for (const option of name!.split(' ')) check(commands.includes(option), option);
      else if (name!.startsWith('vfscope ') || name === 'npm start') {
        const [, command, verb, what] = name!.split(' ');
        if (command !== 'start')
          check(
            commands.includes(`vfscope ${command}${command === 'lab' ? ` ${verb}` : ''}`),
            name!,
          );
        if (verb === 'run' && what && !what.startsWith('-')) check(names.has(what), name!);
        for (const [option] of name!.matchAll(/--[\w-]+/g))
          check(commands.includes(option), option);
      } else if (name!.includes('='))
        expect(() =>
          runOf(workloadOf('bulk-insert-empty'), readWords(name!.split(' ')), RUN),
        ).not.toThrow();
      else check(names.has(name!), name!);
    }
  }
  expect(missing).toEqual([]);
});

it('a partial answer reports what is missing and why, and is counted as partial', () => {
  const inPart = answers.filter((answer) => answer.startsWith('*In part*: '));
  expect(inPart.filter((answer) => !/because/.test(answer))).toEqual([]);
  expect(/answers (\d+) of them, and (\d+) in part/.exec(doc)!.slice(1).map(Number)).toEqual([
    answers.length - inPart.length,
    inPart.length,
  ]);
});
