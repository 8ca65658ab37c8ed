/**
 * Turso's work on checkpoints: what SQLite's checkpoint reads and writes per page, and the effect
 * of the distance between checkpoints.
 */
import type { Experiment } from '../model/types.ts';
import { expectAll } from '../model/assertions.ts';

const EVERY = [100, 1000, 10_000] as const;
const storm = (every: number): string => `storm-${every}`;
/** As in the workload's parameter `mode`. */
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
    ...(['passive', 'full', 'restart', 'truncate'] as const).flatMap((mode) =>
      expectAll({
        [`${mode}: one read of the log for each write of the database`]: `anatomy ${mode} checkpoint.walReads = anatomy ${mode} checkpoint.dbWrites`,
      }),
    ),
    ...expectAll({
      'After a bulk fill all pages are one run': 'anatomy passive checkpoint.runs = 1',
      'Scattered updates leave almost as many runs as pages':
        'anatomy truncate checkpoint.runs * 1.1 > anatomy truncate checkpoint.dbWrites',
      'Frames that a later one replaces are never copied': `${storm(1000)} total checkpoint.dbWrites * 2 < ${storm(1000)} total vfs.wal.xWrite`,
      'Rarer checkpoints copy fewer pages': `${storm(1000)} total checkpoint.dbWrites < ${storm(100)} total checkpoint.dbWrites`,
      'Rarer checkpoints sync less often': `${storm(1000)} total vfs.xSync < ${storm(100)} total vfs.xSync`,
      'Hot pages are copied once a checkpoint, however often they were written':
        'hot total checkpoint.dbWrites * 20 < hot total vfs.wal.xWrite',
      'RESTART copies the same pages as PASSIVE while no connection reads':
        'forced-restart total checkpoint.dbWrites = forced-passive total checkpoint.dbWrites',
      'TRUNCATE copies the same pages as PASSIVE while no connection reads':
        'forced-truncate total checkpoint.dbWrites = forced-passive total checkpoint.dbWrites',
      'TRUNCATE cuts the log': 'forced-truncate total vfs.wal.xTruncate = 4',
      'PASSIVE never cuts the log': 'forced-passive total vfs.wal.xTruncate = 0',
      'Without a checkpoint in the load, no page is copied': `${storm(10_000)} total checkpoint.dbWrites = 0`,
    }),
  ],
  storage: ['AccessHandlePool', 'BlockIDB'],
  conclusions: [
    {
      says: 'SQLite reads and writes one page at a time in a checkpoint: two calls per page, as the document reports of the old way.',
      rests: /one read of the log/,
    },
    {
      says: 'Pages are written in ascending order, so a bulk fill is one run.',
      rests: /one run/,
    },
    {
      says: 'A larger wal_autocheckpoint saves copied pages and syncs.',
      rests: /^Rarer checkpoints/,
    },
  ],
};
