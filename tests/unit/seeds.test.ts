/** docs/seeds.md answers every claim once, and names nothing that is not there. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { RULES } from '../../src/trace/analysis/findings/index.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const doc = read('docs/seeds.md');
const rows = doc.split('\n').flatMap((line) => /^\| (S\d\.\d+) \| (.+) \| (.+) \|$/.exec(line)?.slice(1, 4) ?? []);
const claims = rows.filter((_, i) => i % 3 === 0);
const answers = rows.filter((_, i) => i % 3 === 2);

it('all 121 claims are there, once, in order', () => {
  const counts = { S1: 28, S2: 17, S3: 35, S4: 18, S5: 23 };
  const expected = Object.entries(counts).flatMap(([seed, n]) => Array.from({ length: n }, (_, i) => `${seed}.${i + 1}`));
  expect(expected).toHaveLength(121);
  expect(claims).toEqual(expected);
});

it('every rule, file, golden trace, workload, view and command that it names exists', () => {
  const rules = new Set(RULES.map(({ id }) => id));
  const goldens = new Set(SCENARIOS.map(({ name }) => name));
  const folder = path.join(ROOT, 'src', 'experiments', 'workloads');
  const workloads = readdirSync(folder)
    .map((f) => `${f.replace(/\.ts$/, '')} ${readFileSync(path.join(folder, f), 'utf8')}`)
    .join('\n');
  const commands = read('src/cli/vfscope.ts');
  const views = [
    'Overview',
    'Timeline',
    'Transactions',
    'Statements',
    'Files & pages',
    'Cache',
    'Locks',
    'WAL',
    'Events',
    'Errors',
    'SQL',
    'Compare',
    'Record',
  ];
  const missing: string[] = [];
  const check = (ok: boolean, what: string): void => void (ok || missing.push(what));
  for (const answer of answers) {
    for (const [, id] of answer.matchAll(/\b(F\d\d)\b/g)) check(rules.has(id!), id!);
    for (const [, view] of answer.matchAll(/\*\*([^*]+)\*\*/g)) check(views.includes(view!), `view ${view}`);
    for (const [, file] of answer.matchAll(/\b((?:src|tests|docs)\/[\w./-]+\w)/g)) check(existsSync(path.join(ROOT, file!)), file!);
    const inRoom = /of (src\/\w+)/.exec(answer)?.[1];
    for (const [, name] of answer.matchAll(/`([^`]+)`/g)) {
      if (name!.endsWith('.ts'))
        check(
          ['src/trace/analysis', ...(inRoom ? [inRoom] : [])].some((f) => existsSync(path.join(ROOT, f, name!))),
          name!,
        );
      else if (name!.startsWith('vfscope ')) check(commands.includes(name!.split(' ')[1]!), name!);
      else check(goldens.has(name!) || workloads.includes(name!), name!);
    }
  }
  expect(missing).toEqual([]);
});

it('every claim has an answer or says why there is none', () => {
  for (const [i, answer] of answers.entries())
    expect([claims[i], /`|\*\*|\bF\d\d\b|Lab\b|(src|tests|docs)\/|badge|because|counts exact|environment/.test(answer)]).toEqual([
      claims[i],
      true,
    ]);
  expect(answers.filter((a) => /cannot be answered/.test(a)).every((a) => /cannot be answered.* because /.test(a))).toBe(true);
});
