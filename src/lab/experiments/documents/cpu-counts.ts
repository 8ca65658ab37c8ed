/** SQLite's own way to measure CPU: exact counts on a fixed workload, differences too small for any clock. */
import type { Experiment, Variant } from '../model/types.ts';
import { at, expectThat } from './define.ts';

/** @param against the text that it is a change of; its own where it is the first of its kind */
const cpu = (workload: string, title: string, against = workload): Variant => ({
  id: workload,
  title,
  workload,
  config: { vfs: 'memory' },
  against,
});
const count = (variant: string, times?: number) => at(variant, 'total', 'instructions', times);

export const CPU_COUNTS: Experiment = {
  id: 'cpu-counts',
  title: 'Exact counts of instructions',
  document: 'The SQLite developers, "Measuring and Reducing CPU Usage in SQLite"',
  question:
    'Can a change be seen that no clock shows, and does a count say the same on every machine?',
  claims: ['S4.1', 'S4.2', 'S4.4', 'S4.6', 'S4.7', 'S4.9', 'S4.15', 'S4.16', 'S4.17'],
  variants: [
    {
      id: 'speedtest1',
      title: 'speedtest1, 2.0.6',
      workload: 'speedtest1',
      config: { vfs: 'memory' },
    },
    {
      id: 'speedtest1-old',
      title: 'speedtest1, 1.0.0',
      workload: 'speedtest1',
      config: { vfs: 'memory', engine: 'wa-sqlite-1.0.0' },
    },
    {
      id: 'speedtest1-asyncify',
      title: 'speedtest1, Asyncify',
      workload: 'speedtest1',
      config: { vfs: 'memory', build: 'asyncify' },
    },
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
  expectations: [
    expectThat(
      'One more row is seen: less than one part in a million',
      count('micro-2'),
      '>',
      count('micro-1'),
    ),
    expectThat(
      'Another comparison of the same rows is seen',
      count('micro-2'),
      '>',
      count('micro-3'),
    ),
    expectThat(
      '... and is less than one part in a million',
      count('micro-2'),
      '<',
      count('micro-1', 1.000001),
    ),
    expectThat('An index saves more than it costs to build', count('index'), '<', count('noindex')),
    expectThat('One transaction is cheaper than 1,500', count('onetx'), '<', count('autocommit')),
    expectThat('One statement is cheaper than 1,500', count('multirow'), '<', count('onetx')),
    expectThat('instr() is cheaper than LIKE', count('instr'), '<', count('like')),
    expectThat(
      'WITHOUT ROWID is cheaper for text keys',
      count('without-rowid'),
      '<',
      count('rowid'),
    ),
    expectThat(
      'The newer build needs fewer instructions',
      count('speedtest1'),
      '<',
      count('speedtest1-old'),
    ),
    expectThat(
      'Asyncify costs instructions',
      count('speedtest1-asyncify'),
      '>',
      count('speedtest1'),
    ),
  ],
  agreement:
    'Counts repeat to the last digit here too, over machines and over the engines of Chromium and Firefox, and order every pair as callgrind orders it natively. ' +
    'They say nothing of I/O, and are never turned into milliseconds: 3.7 to 7.5 instructions a nanosecond, by workload.',
};
