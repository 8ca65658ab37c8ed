/**
 * The crash test of every VFS, journal mode, synchronous, and durability; tests/contract/lab-crash.test.ts has some of them. All take more
 * than half an hour. A VFS and a journal mode are a part: `npx vitest run --project long lab-crash -t "OPFSCoopSync, wal"`.
 */
import { afterAll, expect, it } from 'vitest';
import { grouped } from '../../src/analysis/core/maps.ts';
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
const parts = grouped(configs, ({ vfs, journalMode }) => `${vfs}, ${journalMode}`);
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
/** Pools of access handles flush all that they acknowledge. */
const keepsAll = ({ vfs }: CrashConfig): boolean =>
  vfs === 'AccessHandlePool' || vfs === 'opfs-sahpool';
const textOf = ({ config, processDeath, powerLoss }: CrashResult): string =>
  `${crashConfigText(config)}: ${guaranteeText(processDeath)}; ${guaranteeText(powerLoss)}`;

const done: (CrashResult | NotTested)[] = [];
it.each([...parts])(
  '%s: with a journal and synchronous=full no database is damaged',
  async (_, own) => {
    const outcomes: (CrashResult | NotTested)[] = [];
    for (const config of own) outcomes.push(await outcomeOf(config));
    done.push(...outcomes);
    for (const outcome of outcomes) {
      if (!isTested(outcome)) {
        expect(outcome.cause).not.toBe(''); // refused by the VFS or by SQLite
        continue;
      }
      if (process.env['SHOW']) console.log(textOf(outcome));
      if (!isSafe(outcome.config)) continue;
      expect(textOf(outcome)).not.toMatch(/half|corrupt/);
      if (keepsAll(outcome.config))
        expect([outcome.processDeath.level, outcome.powerLoss.level]).toEqual(['kept', 'kept']);
    }
  },
);
afterAll(() => {
  // most run, where all parts do
  if (done.length === configs.length)
    expect(done.filter(isTested).length).toBeGreaterThan(configs.length / 2);
});
