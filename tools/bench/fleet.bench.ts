// A thousand traces, ten million events, into the data set of a fleet: by the command, on all cores.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { DataSet } from '../../src/fleet/data-set.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';

const COPIES = Number(process.env['COPIES'] ?? 50);

export const title = 'Fleet: many traces (Node)';
export const about =
  `The golden traces ${COPIES} times, each copy another input, added to a new data set by \`vfscope fleet add\` as it is shipped, and compacted. Aim: 10 million ` +
  'events in 15 s on 2 cores.';

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-fleet-bench-'));
  const [traces, set] = [join(folder, 'traces'), join(folder, 'set')];
  const command = 'node_modules/.cache/vfscope-fleet-bench/vfscope.mjs';
  try {
    mkdirSync(traces);
    const golden = readdirSync('tests/traces/golden').filter((name) => name.endsWith('.vfst'));
    for (const name of golden) {
      const { store } = await readTrace(readFileSync(join('tests/traces/golden', name)));
      // saved at another time: the same trace, another input
      for (let i = 0; i < COPIES; i++) {
        const blob = await saveTrace(store, { savedAt: i });
        writeFileSync(join(traces, `${i}-${name}`), new Uint8Array(await blob.arrayBuffer()));
      }
    }
    await build({
      ...{ entryPoints: ['src/cli/vfscope.ts'], outfile: command, bundle: true },
      ...{ platform: 'node', format: 'esm', target: 'node20', packages: 'external' },
      ...{ define: { VFSCOPE_VERSION: '"bench"' }, logLevel: 'error' },
    });
    const timed = (...args: string[]): number => {
      const start = performance.now();
      const { status, stderr } = spawnSync(process.execPath, [command, 'fleet', ...args], {
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`vfscope fleet ${args.join(' ')}: ${stderr}`);
      return (performance.now() - start) / 1000;
    };
    const files = (): number => new DataSet(set).files().length;
    const added = timed('add', traces, '--out', set);
    const before = files();
    const again = timed('add', traces, '--out', set);
    const compacted = timed('compact', set);
    const report = timed('report', set, '--by', 'vfs_class');
    const inputs = golden.length * COPIES;
    return {
      columns: ['what', 'inputs', 'cores', 's', 'files'],
      rows: [
        ['add', inputs, availableParallelism(), added.toFixed(1), before],
        ['add, all of it known', inputs, availableParallelism(), again.toFixed(1), before],
        ['compact', inputs, 1, compacted.toFixed(1), files()],
        ['report', inputs, 1, report.toFixed(1), files()],
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
