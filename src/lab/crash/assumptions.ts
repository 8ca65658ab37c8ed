/**
 * The crash test's assumptions about browsers. A guarantee only holds if these do, so they are
 * listed below every table.
 */
import type { CrashOptions } from './model.ts';

/** Bytes that storage writes whole or not at all. */
export const SECTOR = 512;

/** In the order in which they matter, a sentence or two each. */
export const assumptionsOf = ({
  truncates,
}: Pick<CrashOptions, 'truncates'>): readonly string[] => [
  'Process death (a killed tab, worker, or browser): calls that returned are kept, the rest never happen.',
  "Process death, IndexedDB: a transaction is kept once its complete event fired. Otherwise it's lost as a whole.",
  'Power loss, OPFS: flush() stores all earlier writes and truncates of that file. close() stores nothing.',
  `Power loss, OPFS: any subset of later calls can be lost. A write can be torn, between sectors of ${SECTOR} bytes.`,
  truncates === 'ordered'
    ? 'Power loss, OPFS: a truncate is never lost if a later call on the same file is kept.'
    : 'Power loss, OPFS: a truncate can be lost even if a later call on the same file is kept.',
  'Power loss, OPFS: files and folders that were created or removed stay so. No web API flushes a folder.',
  'Power loss: what the VFS wrote when it opened is stored by the time of the first PRAGMA.',
  'Power loss, IndexedDB: a strict transaction is kept, with all transactions before it.',
  'Power loss, IndexedDB: relaxed and default transactions can be lost as a whole, the newest first.',
];
