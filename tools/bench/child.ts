// Runs a function of a benchmark's module in a separate process, with separate memory and without
// previously compiled code.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * @param module name of the benchmark
 * @param call `name(arguments)` of an exported function that prints JSON on its last line
 * @throws Error with the process's output, or if it took longer than 10 minutes
 */
export function inProcess<T>(module: string, call: string): T {
  const file = join(import.meta.dirname, `${module}.mjs`); // where tools/bench/bench.mjs builds this
  const script = `import(${JSON.stringify(file)}).then((m) => m.${call})`;
  try {
    const text = execFileSync(
      process.execPath,
      ['--expose-gc', '--max-old-space-size=8192', '--input-type=module', '-e', script],
      {
        encoding: 'utf8',
        maxBuffer: 1 << 26,
        timeout: 600_000,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    return JSON.parse(text.trim().split('\n').at(-1)!) as T;
  } catch (e) {
    const { stderr = '' } = e as { stderr?: string };
    const line =
      stderr.split('\n').find((l) => /Error|FATAL/.test(l)) ?? (e as Error).message.split('\n')[0]!;
    throw new Error(line, { cause: e });
  }
}
