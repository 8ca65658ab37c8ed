/**
 * SQLite's own way to measure CPU: exact counts of a fixed workload, with differences too small for
 * any clock.
 */
import type { Config, Experiment, Variant } from '../model/types.ts';
import { expectAll } from '../model/assertions.ts';

/** @param against the text that this one changes; itself for the first of its kind */
const cpu = (workload: string, title: string, against = workload): Variant => ({
  id: workload,
  title,
  workload,
  config: { vfs: 'memory' },
  against,
});
const speedtest = (id: string, build: string, config: Partial<Config> = {}): Variant => ({
  id,
  title: `speedtest1, ${build}`,
  workload: 'speedtest1',
  config: { vfs: 'memory', ...config },
});

export const CPU_COUNTS: Experiment = {
  id: 'cpu-counts',
  title: 'Exact counts of instructions',
  document: 'The SQLite developers, "Measuring and Reducing CPU Usage in SQLite"',
  question:
    'Can a change be seen that no clock shows, and does a count say the same on every machine?',
  claims: ['S4.1', 'S4.2', 'S4.4', 'S4.6', 'S4.7', 'S4.9', 'S4.15', 'S4.16', 'S4.17'],
  variants: [
    speedtest('speedtest1', '2.0.6'),
    speedtest('speedtest1-old', '1.0.0', { engine: 'wa-sqlite-1.0.0' }),
    speedtest('speedtest1-asyncify', 'Asyncify', { build: 'asyncify' }),
    cpu('micro-1', 'a<5000'),
    cpu('micro-2', 'a<5001', 'micro-1'),
    cpu('micro-3', 'a<=5000', 'micro-1'),
    cpu('noindex', '60 lookups by scanning'),
    cpu('index', '60 lookups by an index', 'noindex'),
    cpu('autocommit', '1,500 transactions of one INSERT'),
    cpu('onetx', 'one transaction of 1,500 INSERTs', 'autocommit'),
    cpu('multirow', 'one INSERT of 1,500 rows', 'autocommit'),
    cpu('like', '20 scans with LIKE'),
    cpu('instr', '20 scans with instr()', 'like'),
    cpu('rowid', 'text keys in a rowid table'),
    cpu('without-rowid', 'text keys WITHOUT ROWID', 'rowid'),
  ],
  baseline: 'speedtest1',
  mode: 'count',
  expectations: expectAll({
    'One more row takes more instructions, by less than one part in a million':
      'micro-2 total instructions > micro-1 total instructions',
    'The same rows take more instructions by a<5001 than by a<=5000':
      'micro-2 total instructions > micro-3 total instructions',
    'The difference of one row is less than one part in a million':
      'micro-2 total instructions < micro-1 total instructions * 1.000001',
    'An index saves more than it costs to build':
      'index total instructions < noindex total instructions',
    'One transaction is cheaper than 1,500':
      'onetx total instructions < autocommit total instructions',
    'One statement is cheaper than 1,500': 'multirow total instructions < onetx total instructions',
    'instr() is cheaper than LIKE': 'instr total instructions < like total instructions',
    'WITHOUT ROWID is cheaper for text keys':
      'without-rowid total instructions < rowid total instructions',
    'The newer build needs fewer instructions':
      'speedtest1 total instructions < speedtest1-old total instructions',
    'Asyncify costs instructions':
      'speedtest1-asyncify total instructions > speedtest1 total instructions',
  }),
  conclusions: [
    {
      says: 'A count shows a change of less than one part in a million, which no clock shows.',
      rests: /one part in a million/,
    },
    {
      says: 'Each change costs or saves instructions as expected.',
      rests: /^(?!.*one part in a million)/,
    },
  ],
};
