// The cost of an SQL call with vfscope/field, compared with the extension's hook in the same run.
// The baseline for both is an engine without either.
import { installEngines } from '../../src/engines/install.ts';
import { Ring } from '../../src/field/ring.ts';
import { hookSql } from '../../src/field/sql.ts';
import { Tally } from '../../src/field/tally.ts';
import { PromiseWatch } from '../../src/record/promise-watch.ts';
import { sink } from './sink.ts';
import { fill, load, WORKLOADS, type Engine } from './sql.bench.ts';

const RUNS = Number(process.env['REPEATS'] ?? 9);

export const title = 'SQL in the field (Node)';
export const about =
  `Nanoseconds that a statement takes longer: with vfscope/field, and with the extension's hook as it is by default (SQL, VFS calls, query counters). ` +
  `Least of ${RUNS} runs, each interleaved with one of an engine without either, on a database in memory (no VFS calls). Ratio: field / hook, below 1 is cheaper.`;

/** @returns a function that restores it */
type Hook = () => () => unknown;

const field: Hook = () => {
  const to = {
    ...{ ring: new Ring(8192), tally: new Tally(() => {}), hangMs: 2000 },
    watch: new PromiseWatch(null),
  };
  return hookSql(to);
};
const extension: Hook = () => {
  const recorder = sink({ capacity: 16384 });
  return installEngines(recorder, { query: true, salt: 7 }).restore;
};

/** Additional nanoseconds per statement, by workload. */
async function measure(file: string, hook: Hook): Promise<number[]> {
  const plain = await load(file, `plain ${hook.name}`);
  const restore = hook();
  try {
    const hooked = await load(file, `hooked ${hook.name}`);
    [plain, hooked].forEach(fill);
    return WORKLOADS.map((w) => {
      const times = new Map<Engine, number[]>([
        [plain, []],
        [hooked, []],
      ]);
      for (let i = 0; i < RUNS; i++)
        for (const e of i % 2 ? [plain, hooked] : [hooked, plain]) {
          const start = performance.now();
          w.execute(e, i);
          times.get(e)!.push((performance.now() - start) * 1e6);
        }
      return (Math.min(...times.get(hooked)!) - Math.min(...times.get(plain)!)) / w.statements;
    });
  } finally {
    restore();
  }
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  for (const file of ['wa-sqlite', 'wa-sqlite-async']) {
    const [ours, theirs] = [await measure(file, field), await measure(file, extension)];
    WORKLOADS.forEach(({ name }, i) =>
      rows.push([
        `${file}: ${name}`,
        Math.round(ours[i]!),
        Math.round(theirs[i]!),
        (ours[i]! / theirs[i]!).toFixed(2),
      ]),
    );
  }
  return {
    columns: ['build and workload', 'vfscope/field, ns more a statement', 'hook', 'ratio'],
    rows,
  };
}
