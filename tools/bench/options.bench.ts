// The cost of an event with all options off, compared with the hook of the last commit without
// options. Both are built here and called in turn.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import type { Round } from './hook-events.ts';
import { least, median } from './recorded-app.ts';

/** The last commit without query counters, messages, counted instructions, and CPU samples. */
const BEFORE = '4ff6f4793c5911fcc346d48a92a54808dd823dfd';
const ROUNDS = Number(process.env['REPEATS'] ?? 40);
/**
 * Threads of each hook, because the compiler's result for the same code differs between threads.
 */
const THREADS = 4;

export const title = 'An event with all options off, and before there were any (Node)';
export const about =
  'Nanoseconds that a call takes longer when it is recorded without query counters, messages, instructions, and CPU samples: in the hook of the commit before the first of them, and now. ' +
  `Its least time less the least without the hook, in ${THREADS} threads of each hook with ${ROUNDS} rounds each, a pair of threads in turn; in parentheses, the median of the threads. "Now / before" are of the former. Rows of statements vary by up to 15 % from one run to the next. Aim: 1.`;

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'node_modules', '.cache', 'vfscope-bench');

/**
 * @returns the folder with the old commit's src, and how it was built @throws Error if the history
 * doesn't contain it
 */
function checkedOut(): string {
  const folder = join(out, 'before');
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', BEFORE, 'src', 'tools/build'], {
    cwd: root,
    maxBuffer: 1 << 28,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  return folder;
}

/**
 * @param of a checkout @returns the script of hook-events.ts with that checkout's hook, as shipped
 */
async function built(of: string, name: string): Promise<string> {
  const { asShipped } = (await import(
    pathToFileURL(join(of, 'tools', 'build', 'as-shipped.mjs')).href
  )) as typeof import('../build/as-shipped.mjs');
  const outfile = join(out, `hook-events-${name}.mjs`);
  await build({
    entryPoints: [join(root, 'tools', 'bench', 'hook-events.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    plugins: [
      {
        name: 'src',
        setup(esbuild) {
          esbuild.onResolve({ filter: /^\.\.\/\.\.\/src\// }, ({ path, importer }) =>
            importer.startsWith(join(root, 'tools')) ? { path: join(of, path.slice(6)) } : null,
          );
        },
      },
      asShipped,
    ],
    define: {
      'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'tools', 'bench', 'x.ts')).href),
    },
  });
  return outfile;
}

async function roundOf(worker: Worker, n: number): Promise<Round> {
  worker.postMessage(n);
  const [round] = (await once(worker, 'message')) as [Round];
  return round;
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const columns = ['what', 'before', 'now', 'now / before'];
  let before: string;
  try {
    before = checkedOut();
  } catch {
    return {
      columns,
      rows: [[`n/a: this checkout's history lacks commit ${BEFORE}`, '', '', '']],
    };
  }
  const scripts = [await built(before, 'before'), await built(root, 'now')];
  /** By hook, thread, and round. */
  const taken: [Round[][], Round[][]] = [[], []];
  for (let thread = 0; thread < THREADS; thread++) {
    const workers = scripts.map((script) => new Worker(script));
    for (const of of taken) of.push([]);
    for (let n = 0; n < ROUNDS; n++)
      for (const k of n % 2 ? [1, 0] : [0, 1])
        taken[k]![thread]!.push(await roundOf(workers[k]!, n));
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  const more = (rounds: readonly Round[], kind: string): number =>
    least(rounds.map((round) => round[kind]!.recorded)) -
    least(rounds.map((round) => round[kind]!.without));
  return {
    columns,
    rows: Object.keys(taken[0][0]![0]!).map((kind) => {
      const [before, now] = taken.map((threads) => more(threads.flat(), kind)) as [number, number];
      const ofThreads = taken.map((threads) => median(threads.map((rounds) => more(rounds, kind))));
      return [
        kind,
        ...[before, now].map((ns, k) => `${Math.round(ns)} (${Math.round(ofThreads[k]!)})`),
        (now / before).toFixed(2),
      ];
    }),
  };
}
