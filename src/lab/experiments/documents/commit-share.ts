/**
 * The refactoring of Voron, a storage engine: which part of a transaction is expensive, before and
 * after a change.
 */
import type { Config, Experiment } from '../model/types.ts';
import { expectAll } from '../model/assertions.ts';

const WORKLOADS = ['sequential-write', 'random-write', 'sequential-read', 'random-read'] as const;
const SETTINGS: readonly { id: string; title: string; config: Partial<Config> }[] = [
  { id: 'journal', title: 'rollback journal', config: { journalMode: 'delete' } },
  { id: 'wal', title: 'write-ahead log', config: { lockingMode: 'exclusive', journalMode: 'wal' } },
];

/** Enough for shares. Each transaction waits for the disk. */
const TRANSACTIONS = 50;

export const COMMIT_SHARE: Experiment = {
  id: 'commit-share',
  title: 'Begin, work, and commit of many transactions',
  document: 'Voron\'s author, "Fruits of the poisonous tree: Voron performance refactoring"',
  question:
    'Which share of a transaction is its commit, and where does it go when the way to commit changes?',
  claims: [
    'S2.2',
    'S2.3',
    'S2.4',
    'S2.5',
    'S2.6',
    'S2.10',
    'S2.11',
    'S2.12',
    'S2.13',
    'S2.15',
    'S2.17',
  ],
  variants: WORKLOADS.flatMap((workload) =>
    SETTINGS.map(({ id, title, config }) => ({
      id: `${workload}-${id}`,
      title: `${workload.replace('-', ' ')}, ${title}`,
      workload,
      parameters: { transactions: TRANSACTIONS },
      config,
    })),
  ),
  baseline: 'sequential-write-journal',
  mode: 'time',
  expectations: [
    ...(['sequential-write', 'random-write'] as const).flatMap((w) =>
      expectAll({
        [`The log saves syncs (${w})`]: `${w}-wal run vfs.xSync < ${w}-journal run vfs.xSync`,
        [`With a journal all syncs are those of commits (${w})`]: `${w}-journal run commit.vfs.xSync = ${w}-journal run vfs.xSync`,
      }),
    ),
    ...expectAll({
      'Random keys write more pages than sequential ones':
        'random-write-journal run vfs.xWrite > sequential-write-journal run vfs.xWrite',
    }),
    ...WORKLOADS.filter((w) => w.endsWith('read')).flatMap((w) =>
      expectAll({ [`Reading syncs nothing (${w})`]: `${w}-journal run vfs.xSync = 0` }),
    ),
  ],
  storage: ['AccessHandlePool', 'BlockIDB'],
  conclusions: [
    {
      says: 'With a rollback journal, the commit makes every sync.',
      rests: /^With a journal/,
    },
    {
      says: 'A write-ahead log saves most syncs.',
      rests: /^The log saves syncs/,
    },
  ],
};
