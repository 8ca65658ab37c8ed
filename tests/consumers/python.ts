/**
 * Python packages that read our exports. They aren't dependencies, so tests that need them are
 * skipped if they aren't installed.
 */
import { spawnSync } from 'node:child_process';

/** An interpreter that has them; `python3` by default. */
const PYTHON = process.env['VFSCOPE_PYTHON'] ?? 'python3';

/**
 * @returns null if the modules can be imported and the programs exist, otherwise the reason, for
 * printing
 */
export function missing(
  modules: readonly string[],
  programs: readonly string[] = [],
): string | null {
  const { status, error, stderr } = spawnSync(
    PYTHON,
    ['-c', modules.map((name) => `import ${name}`).join(';')],
    { encoding: 'utf8' },
  );
  if (status !== 0) return `${error?.message ?? stderr.trim().split('\n').at(-1)}. ${INSTALL}`;
  const absent = programs.find((program) => spawnSync(program, ['--version']).error);
  return absent ? `${absent} is not installed.` : null;
}
const INSTALL =
  'To test it: python3 -m venv .venv; .venv/bin/pip install -r tests/consumers/requirements.txt; VFSCOPE_PYTHON=.venv/bin/python npx vitest run --project long fleet-engines';

/**
 * Runs a script of this folder. @returns the last line of its output, as JSON @throws Error with
 * its output if it fails
 */
export function answerOf(script: string, args: readonly string[], input: string): unknown {
  const { status, stdout, stderr } = spawnSync(PYTHON, [`tests/consumers/${script}`, ...args], {
    ...{ input, encoding: 'utf8', maxBuffer: 1 << 28 },
  });
  if (status !== 0) throw new Error(`${script} ended with ${status}:\n${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}
