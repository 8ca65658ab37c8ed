/** The crash test of every VFS, journal mode, synchronous, and durability; tests/contract/lab-crash.test.ts has some of them. */
import { expect, it } from 'vitest';
import { crashOrder, openerOf } from '../../src/lab/command/crash.ts';
import { crashTest } from '../../src/lab/crash/crash-test.ts';
import {
  DEFAULT_OPTIONS,
  isTested,
  type CrashConfig,
  type CrashResult,
  type NotTested,
} from '../../src/lab/crash/model.ts';
import { crashConfigText, guaranteeText } from '../../src/lab/results/crash.ts';

const { configs } = crashOrder([
  'journalMode=delete,truncate,persist,memory,wal,off',
  'synchronous=off,normal,full,extra',
]);
async function outcomeOf(config: CrashConfig): Promise<CrashResult | NotTested> {
  try {
    return await crashTest(config, await openerOf(config), DEFAULT_OPTIONS);
  } catch (e) {
    return { config, cause: e instanceof Error ? e.message : String(e) };
  }
}
/** Transactions survive in it, whatever happens. */
const isSafe = ({ journalMode, synchronous }: CrashConfig): boolean =>
  ['delete', 'truncate', 'persist', 'wal'].includes(journalMode) &&
  ['full', 'extra'].includes(synchronous);

it('no database is damaged with a journal and synchronous=full, on any VFS', async () => {
  const outcomes: (CrashResult | NotTested)[] = [];
  for (const config of configs) outcomes.push(await outcomeOf(config));
  const tested = outcomes.filter(isTested);
  const lines = tested.map(
    ({ config, processDeath, powerLoss }) =>
      `${crashConfigText(config)}: ${guaranteeText(processDeath)}; ${guaranteeText(powerLoss)}`,
  );
  const damaged = lines.filter((line) => /half|corrupt/.test(line));
  expect(damaged.filter((_, i) => isSafe(tested[lines.indexOf(damaged[i]!)]!.config))).toEqual([]);
  // a pool of access handles flushes all that it acknowledges
  for (const vfs of ['AccessHandlePool', 'opfs-sahpool'])
    for (const { config, processDeath, powerLoss } of tested)
      if (config.vfs === vfs && isSafe(config))
        expect([crashConfigText(config), processDeath.level, powerLoss.level]).toEqual([
          crashConfigText(config),
          'kept',
          'kept',
        ]);
  // most run: those that don't are refused by the VFS or by SQLite
  expect(tested.length).toBeGreaterThan(configs.length / 2);
});
