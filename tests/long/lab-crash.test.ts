/**
 * The crash test of every VFS, journal mode, synchronous, and durability;
 * tests/contract/lab-crash.test.ts has some of them. All of them take more than half an hour. To
 * run one VFS and journal mode: `npx vitest run --project long lab-crash -t "OPFSCoopSync, wal"`.
 */
import { expect, it } from 'vitest';
import { grouped } from '../../src/analysis/core/maps.ts';
import { crashOrder, openerOf } from '../../src/lab/command/crash.ts';
import { nodeEnvironment } from '../../src/lab/command/node-environment.ts';
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
    return await crashTest(config, await openerOf(config), DEFAULT_OPTIONS, {
      environment: nodeEnvironment(),
    });
  } catch (e) {
    return { config, cause: e instanceof Error ? e.message : String(e) };
  }
}
/** Whether transactions survive any crash. */
const isSafe = ({ journalMode, synchronous }: CrashConfig): boolean =>
  ['delete', 'truncate', 'persist', 'wal'].includes(journalMode) &&
  ['full', 'extra'].includes(synchronous);
/** Pools of access handles flush everything that they acknowledge. */
const keepsAll = ({ vfs }: CrashConfig): boolean =>
  vfs === 'AccessHandlePool' || vfs === 'opfs-sahpool';
const textOf = (outcome: CrashResult | NotTested): string =>
  `${crashConfigText(outcome.config)}: ${isTested(outcome) ? `${guaranteeText(outcome.processDeath)}; ${guaranteeText(outcome.powerLoss)}` : `n/a, ${outcome.cause}`}`;

/** Configurations that a VFS rejects or fails with, even without a crash, and its message. */
const REFUSED: readonly (readonly [config: RegExp, cause: RegExp])[] = [
  [
    /^OPFSCoopSync, (?:truncate|persist)/,
    /journal_mode must be "off", "memory", "delete", or "wal"/,
  ],
  [/^OPFSWriteAhead, wal/, /WAL and super-journal files are not supported/],
  [/^IDBBatchAtomic, wal, synchronous=(?:full|extra)/, /RangeError: offset is out of bounds/],
  [/^IDBMirror, .*synchronous=off/, /^SQL logic error/],
  [/^IDBMirror, wal, synchronous=(?:normal|full|extra)/, /file is not a database/],
];
const refusal = (config: CrashConfig): RegExp | null =>
  REFUSED.find(([name]) => name.test(crashConfigText(config)))?.[1] ?? null;

it.each([...parts])(
  '%s: with a journal and synchronous=full no database is damaged',
  async (_, own) => {
    const outcomes: (CrashResult | NotTested)[] = [];
    for (const config of own) outcomes.push(await outcomeOf(config));
    for (const outcome of outcomes) {
      if (process.env['SHOW']) console.log(textOf(outcome));
      const cause = refusal(outcome.config);
      if (!isTested(outcome)) {
        expect(outcome.cause).toMatch(cause ?? /^it is tested$/);
        continue;
      }
      expect([crashConfigText(outcome.config), cause]).toEqual([expect.any(String), null]);
      if (!isSafe(outcome.config)) continue;
      expect(textOf(outcome)).not.toMatch(/half|corrupt/);
      if (keepsAll(outcome.config))
        expect([outcome.processDeath.level, outcome.powerLoss.level]).toEqual(['kept', 'kept']);
    }
  },
);
