// `vfscope plans`: of a stored recording, from its own CREATE statements and from a database file.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StatementPlan } from '../../src/plan/types.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { scannedStatement } from '../traces/recorded-statements.ts';
import { buildCommand } from './cli-command.ts';

const SAMPLE = 'tests/traces/golden/idb-batch-atomic.vfst';
const folder = mkdtempSync(join(tmpdir(), 'vfscope-plans-'));
let command: string;
beforeAll(async () => {
  command = await buildCommand('vfscope-plans-test');
});
afterAll(() => rmSync(folder, { recursive: true }));

function plans(...more: string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'plans', ...more], {
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}
const asJson = (...more: string[]): (StatementPlan & { fingerprint: string })[] => {
  const { code, stdout, stderr } = plans(SAMPLE, '--json', ...more);
  expect([code, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as { plans: (StatementPlan & { fingerprint: string })[] }).plans;
};

it('plans each statement with the recorded schema', () => {
  const all = asJson();
  expect(all.length).toBeGreaterThan(0);
  for (const { source, lines, cause } of all) {
    expect(cause).toBe('');
    expect(lines).not.toBeNull();
    expect(source).toMatchObject({ from: 'recording' });
  }
  const { code, stdout } = plans(SAMPLE);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Query plans: \d+\n\n1\. /);
  expect(stdout).toContain('from the recorded CREATE statements');
});

it('plans them with the schema of a database, and names what is missing in it', async () => {
  const init = createRequire(import.meta.url)('sql.js') as () => Promise<{
    Database: new () => { run(sql: string): void; export(): Uint8Array<ArrayBuffer> };
  }>;
  const file = new (await init()).Database();
  file.run('CREATE TABLE another(a)');
  const path = join(folder, 'other.db');
  writeFileSync(path, file.export());
  const all = asJson('--database', path);
  expect(all.map(({ cause }) => cause)).toContain(
    'other.db has no table t. Is it the right database?',
  );
  const { code, stderr } = plans(SAMPLE, '--database', join(folder, 'none.db'));
  expect(code).toBe(2);
  expect(stderr).toContain('there is no such file');
});

it('`findings`, `summary`, and the HTML report have the plan of a statement that scans', async () => {
  const file = join(folder, 'scans.vfst');
  writeFileSync(file, Buffer.from(await (await saveTrace(scannedStatement())).arrayBuffer()));
  const run = (...args: string[]): string => {
    const { status, stdout } = spawnSync(process.execPath, [command, ...args], {
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    return stdout;
  };
  const { findings } = JSON.parse(run('findings', file, '--json')) as {
    findings: { rule: string; plan?: StatementPlan }[];
  };
  const plan = findings.find(({ rule }) => rule === 'F50')!.plan!;
  expect(plan.lines!.map(({ detail, scanSteps }) => [detail, scanSteps])).toEqual([
    ['SCAN notes', 79_996],
    ['USE TEMP B-TREE FOR ORDER BY', null],
  ]);
  for (const args of [
    ['findings', file],
    ['summary', file],
    ['summary', file, '--markdown'],
    ['export', file, '--format', 'html', '--out', '-'],
  ])
    expect(run(...args), args.join(' ')).toMatch(/SCAN notes\s.*79,996 scan steps for 40 rows/);
});
