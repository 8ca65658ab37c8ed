// Outputs that fail or are special: a reader that closes early, a full disk, devices, existing
// files.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeWhole } from '../../src/terminal/write-file.ts';
import { buildCommand } from './cli-command.ts';

// large enough that its exports fill a pipe many times
const SAMPLE = 'tests/traces/golden/opfs-proxy.vfst';
const folder = mkdtempSync(join(tmpdir(), 'vfscope-output-'));
let command: string;
beforeAll(async () => {
  command = await buildCommand('vfscope-output-test');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Run in a shell, where `$V` is the command. */
function shell(line: string): { code: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, V: command, F: SAMPLE, NODE: process.execPath, OUT: folder };
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `set -o pipefail; ${line}`], {
    encoding: 'utf8',
    env,
  });
  return { code: status, stdout, stderr };
}

describe("a reader that closes early isn't an error", () => {
  test.each(['summary $F', 'summary $F --json', 'findings $F', 'diff $F $F', 'lab list', '--help'])(
    '%s | true',
    (args) => {
      expect(shell(`"$NODE" "$V" ${args} | true`)).toEqual({ code: 0, stdout: '', stderr: '' });
    },
  );

  test.each(['csv', 'chrome', 'perfetto', 'arrow', 'vfst'])(
    'export --format %s | head -c 1',
    (format) => {
      const { code, stdout, stderr } = shell(
        `"$NODE" "$V" export $F --format ${format} --out - | head -c 1 | wc -c`,
      );
      expect([code, stdout.trim()]).toEqual([0, '1']);
      expect(stderr).toMatch(/^vfscope: The file contains .*\n$/); // and nothing else
    },
  );

  test('a broken limit is still exit code 1', () => {
    writeFileSync(join(folder, 'budget.json'), '{"commits": {"max": 0}}');
    expect(shell('"$NODE" "$V" check $F --budget "$OUT/budget.json" | true').code).toBe(1);
  });

  test('also for warnings', () => {
    const { code, stdout } = shell(
      '"$NODE" "$V" export $F --format csv --out "$OUT/x.csv" 2> >(true); echo $?',
    );
    expect([code, stdout]).toEqual([0, '0\n']);
  });
});

describe.runIf(existsSync('/dev/full'))('a full disk', () => {
  test.each(['summary $F', 'findings $F --json', 'export $F --format csv --out -', 'lab list'])(
    '%s > /dev/full: exit code 2',
    (args) => {
      const { code, stderr } = shell(`"$NODE" "$V" ${args} > /dev/full`);
      expect(code).toBe(2);
      expect(stderr).toMatch(/vfscope: The result can't be written to stdout: ENOSPC/);
      expect(stderr).not.toMatch(/\n\s+at /);
    },
  );

  test('a device is written to, and never removed', () => {
    const { code, stderr } = shell('"$NODE" "$V" export $F --format csv --out /dev/full');
    expect(code).toBe(2);
    expect(stderr).toMatch(/\/dev\/full can't be written: the disk is full/);
    expect(lstatSync('/dev/full').isCharacterDevice()).toBe(true);
  });
});

describe('a file', () => {
  const path = join(folder, 'result.txt');
  const failing = function* (): Generator<string> {
    yield 'half';
    throw new Error('the format failed');
  };
  const parts = (): string[] => readdirSync(folder).filter((name) => name.includes('.part'));

  test('that exists stays unchanged until the new one is complete', async () => {
    writeFileSync(path, 'before');
    await expect(writeWhole(path, failing())).rejects.toThrow('the format failed');
    expect([readFileSync(path, 'utf8'), parts()]).toEqual(['before', []]);
    await writeWhole(path, ['a', 'fter']);
    expect([readFileSync(path, 'utf8'), parts()]).toEqual(['after', []]);
  });

  test("that doesn't exist isn't left behind by a failure", async () => {
    await expect(writeWhole(join(folder, 'new.txt'), failing())).rejects.toThrow(
      'the format failed',
    );
    expect(existsSync(join(folder, 'new.txt'))).toBe(false);
  });

  test('behind a link is replaced, and the link stays', async () => {
    const link = join(folder, 'link.txt');
    symlinkSync(path, link);
    await writeWhole(link, ['through']);
    expect([lstatSync(link).isSymbolicLink(), readFileSync(path, 'utf8')]).toEqual([
      true,
      'through',
    ]);
  });

  test.runIf(process.getuid?.() !== 0)("that can't be written is left unchanged", async () => {
    chmodSync(path, 0o444);
    await expect(writeWhole(path, ['no'])).rejects.toMatchObject({ exitCode: 2 });
    expect(readFileSync(path, 'utf8')).toBe('through');
  });

  test('below a file, or in a missing folder', async () => {
    for (const place of [join(path, 'x'), join(folder, 'none', 'x')])
      await expect(writeWhole(place, ['x'])).rejects.toThrow(
        `${place} can't be written: there is no folder`,
      );
    await expect(writeWhole(folder, ['x'])).rejects.toThrow('it is a folder');
  });
});
