// `npm run docs -- goldens [name ...] [--grid FOLDER]`: records the golden traces
// (tests/traces/golden) again with the built extension, and writes their snapshots. With --grid, it
// records the engine grid's apps into a folder instead, to judge their findings.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { loadTs } from '../dev/load-ts.mjs';

const root = join(import.meta.dirname, '../..');
process.chdir(root);
const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { grid: { type: 'string' } },
});

const { SCENARIOS, gridScenarios, recordAll } = await loadTs(
  'goldens',
  'tests/traces/golden/record.ts',
);

const all = values.grid === undefined ? SCENARIOS : gridScenarios();
const scenarios = all.filter(({ name }) => names.length === 0 || names.includes(name));
if (scenarios.length === 0) {
  console.error(`no ${names.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const folder = values.grid ?? 'tests/traces/golden';
mkdirSync(folder, { recursive: true });
await recordAll({
  scenarios,
  extension: join(process.env.VFSCOPE_DIST ?? 'dist', 'chrome'),
  folder,
  say: (line) => console.error(line),
});
if (values.grid === undefined) {
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--project', 'unit', 'tests/unit/golden.test.ts'],
    {
      stdio: 'inherit',
      env: { ...process.env, UPDATE_GOLDENS: '1' },
    },
  );
  process.exitCode = status ?? 1;
}
