/** Turso's work on checkpoints: what SQLite's checkpoint reads and writes a page, and what the distance between checkpoints does. */
import type { Experiment } from '../model/types.ts';
import { at, expectThat } from './define.ts';

const EVERY = [100, 1000, 10_000] as const;
const storm = (every: number): string => `storm-${every}`;
/** As the workload's parameter `mode` has them. */
const FORCED = { passive: 1, restart: 3, truncate: 4 } as const;
const forced = Object.entries(FORCED) as [keyof typeof FORCED, number][];

export const CHECKPOINTING: Experiment = {
  id: 'checkpointing',
  title: 'Checkpoints: calls a page, runs, and how often',
  document: 'A Turso engineer, "Making Checkpointing fast"',
  question:
    'How many calls does a checkpoint need a page, does it write in runs, and what do rarer checkpoints save?',
  claims: [
    'S5.1',
    'S5.2',
    'S5.3',
    'S5.4',
    'S5.5',
    'S5.8',
    'S5.9',
    'S5.10',
    'S5.12',
    'S5.14',
    'S5.19',
    'S5.20',
    'S5.21',
  ],
  variants: [
    {
      id: 'anatomy',
      title: 'one checkpoint of each mode',
      workload: 'checkpoint-anatomy',
      config: {},
    },
    ...EVERY.map((every) => ({
      id: storm(every),
      title: `a checkpoint every ${every} frames`,
      workload: 'checkpoint-storm',
      config: { walAutocheckpoint: every },
    })),
    {
      id: 'hot',
      title: 'the same on hot pages: 100 rows in turn',
      workload: 'checkpoint-storm',
      parameters: { hot: 100 },
      config: { walAutocheckpoint: 1000 },
    },
    ...forced.map(([name, mode]) => ({
      id: `forced-${name}`,
      title: `wal_checkpoint(${name.toUpperCase()}) every 500 transactions`,
      workload: 'checkpoint-storm',
      parameters: { mode, every: 500 },
      config: { walAutocheckpoint: 0 },
    })),
  ],
  baseline: storm(1000),
  mode: 'time',
  expectations: [
    ...(['passive', 'full', 'restart', 'truncate'] as const).map((mode) =>
      expectThat(
        `${mode}: one read of the log for each write of the database`,
        at('anatomy', mode, 'checkpoint.walReads'),
        '=',
        at('anatomy', mode, 'checkpoint.dbWrites'),
      ),
    ),
    expectThat(
      'After a bulk fill all pages are one run',
      at('anatomy', 'passive', 'checkpoint.runs'),
      '=',
      1,
    ),
    expectThat(
      'Scattered updates leave almost as many runs as pages',
      at('anatomy', 'truncate', 'checkpoint.runs', 1.1),
      '>',
      at('anatomy', 'truncate', 'checkpoint.dbWrites'),
    ),
    expectThat(
      'Frames that a later one replaces are never copied',
      at(storm(1000), 'total', 'checkpoint.dbWrites', 2),
      '<',
      at(storm(1000), 'total', 'vfs.wal.xWrite'),
    ),
    expectThat(
      'Rarer checkpoints copy fewer pages',
      at(storm(1000), 'total', 'checkpoint.dbWrites'),
      '<',
      at(storm(100), 'total', 'checkpoint.dbWrites'),
    ),
    expectThat(
      '... and sync less often',
      at(storm(1000), 'total', 'vfs.xSync'),
      '<',
      at(storm(100), 'total', 'vfs.xSync'),
    ),
    expectThat(
      'Hot pages are copied once a checkpoint, however often they were written',
      at('hot', 'total', 'checkpoint.dbWrites', 20),
      '<',
      at('hot', 'total', 'vfs.wal.xWrite'),
    ),
    expectThat(
      'Each mode copies the same pages where nobody reads meanwhile (RESTART)',
      at('forced-restart', 'total', 'checkpoint.dbWrites'),
      '=',
      at('forced-passive', 'total', 'checkpoint.dbWrites'),
    ),
    expectThat(
      '... (TRUNCATE)',
      at('forced-truncate', 'total', 'checkpoint.dbWrites'),
      '=',
      at('forced-passive', 'total', 'checkpoint.dbWrites'),
    ),
    expectThat(
      'TRUNCATE cuts the log',
      at('forced-truncate', 'total', 'vfs.wal.xTruncate'),
      '=',
      4,
    ),
    expectThat('PASSIVE leaves it', at('forced-passive', 'total', 'vfs.wal.xTruncate'), '=', 0),
    expectThat(
      'None within the load: nothing is copied',
      at(storm(10_000), 'total', 'checkpoint.dbWrites'),
      '=',
      0,
    ),
  ],
  agreement:
    'SQLite reads and writes one page at a time, as the document says of the old way: two calls a page, strictly in turn. The order is not the fault in SQLite: ' +
    'its pages ascend. Reading the log again for pages that were just written is what it keeps.',
};
