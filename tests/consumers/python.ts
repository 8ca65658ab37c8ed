/** Readers of our exports that are Python packages: they are not dependencies, so what needs them is skipped where they are not installed. */
import { spawnSync } from 'node:child_process';

/** An interpreter that has them; `python3` unless told. */
const PYTHON = process.env['VFSCOPE_PYTHON'] ?? 'python3';

/** @returns null where the modules can be imported, else why not, to be printed */
export function missing(...modules: readonly string[]): string | null {
  const { status, error, stderr } = spawnSync(
    PYTHON,
    ['-c', modules.map((name) => `import ${name}`).join(';')],
    { encoding: 'utf8' },
  );
  if (status === 0) return null;
  const why = error?.message ?? stderr.trim().split('\n').at(-1);
  return `${modules.join(', ')}: ${why}. To run it: VFSCOPE_PYTHON=<an interpreter that has them>`;
}

/** Runs a script of this folder. @returns the last line of its output, as JSON @throws Error with its words where it fails */
export function answerOf(script: string, args: readonly string[], input: string): unknown {
  const { status, stdout, stderr } = spawnSync(PYTHON, [`tests/consumers/${script}`, ...args], {
    ...{ input, encoding: 'utf8', maxBuffer: 1 << 28 },
  });
  if (status !== 0) throw new Error(`${script} ended with ${status}:\n${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}
