// Adds a thousand traces with ten million events to a fleet's data set, with the command, on all
// cores.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { Facts } from '../../src/analysis/core/graph.ts';
import { TABLES } from '../../src/analysis/tables.ts';
import { DataSet } from '../../src/fleet/data-set.ts';
import { gunzipAtOnce } from '../../src/fleet/gunzip-at-once.ts';
import { traceParts } from '../../src/fleet/unit.ts';
import { unpackBy } from '../../src/trace/file/codec.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';

const COPIES = Number(process.env['COPIES'] ?? 50);
const ROUNDS = 6;

export const title = 'Fleet: many traces (Node)';
export const about =
  `The golden traces ${COPIES} times, each copy another input, added to a new data set by \`vfscope fleet add\` as it is shipped, and compacted. Aim: 10 million ` +
  'events in 15 s on 2 cores, which is 3 us of CPU an event. "CPU" is of one process without files: us an event, least of ' +
  `${ROUNDS} rounds over the golden traces.`;

/** By part of the work: CPU microseconds per event. */
async function cpuByPart(names: readonly string[]): Promise<Map<string, number>> {
  unpackBy(gunzipAtOnce);
  const files = names.map((name) => new Uint8Array(readFileSync(name)));
  const least = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const sums = { reading: 0, analyses: 0, 'tables as Parquet': 0 };
    let events = 0;
    for (const bytes of files) {
      let since = process.cpuUsage();
      const taken = (): number => {
        const { user, system } = process.cpuUsage(since);
        since = process.cpuUsage();
        return user + system;
      };
      const { store } = await readTrace(bytes, { width: 'wide' }); // as they are added
      sums.reading += taken();
      events += store.eventCount;
      const facts = new Facts(store);
      for (const { rows } of TABLES) facts.get(rows);
      const analyses = taken();
      sums.analyses += analyses;
      const input = { id: '0123456789abcdef', store, name: null, labels: {}, isReported: false };
      for (const { pieces } of traceParts(input)) [...pieces].forEach(() => {});
      sums['tables as Parquet'] += taken() - analyses; // they are computed again
    }
    for (const [part, us] of Object.entries(sums))
      least.set(part, Math.min(least.get(part) ?? Infinity, us / events));
  }
  return least;
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-fleet-bench-'));
  const [traces, set] = [join(folder, 'traces'), join(folder, 'set')];
  const command = 'node_modules/.cache/vfscope-fleet-bench/vfscope.mjs';
  try {
    mkdirSync(traces);
    const golden = readdirSync('tests/traces/golden').filter((name) => name.endsWith('.vfst'));
    for (const name of golden) {
      const { store } = await readTrace(readFileSync(join('tests/traces/golden', name)));
      // saved at another time: the same trace counts as another input
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
    const parts = await cpuByPart(golden.map((name) => join('tests/traces/golden', name)));
    return {
      columns: ['what', 'inputs', 'cores', 's', 'files', 'us an event'],
      rows: [
        ['add', inputs, availableParallelism(), added.toFixed(1), before, ''],
        ['add, all of it known', inputs, availableParallelism(), again.toFixed(1), before, ''],
        ['compact', inputs, 1, compacted.toFixed(1), files(), ''],
        ['report', inputs, 1, report.toFixed(1), files(), ''],
        ...Array.from(parts, ([part, us]) => [
          `CPU: ${part}`,
          golden.length,
          1,
          '',
          '',
          us.toFixed(2),
        ]),
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
