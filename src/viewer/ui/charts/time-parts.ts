/** The parts of a time partition as people see them: name, colour and meaning, in the order of the bar. */
import type { Part, PartTimes } from '../../../analysis/core/time-parts.ts';

interface PartWords {
  part: Part;
  title: string;
  /** CSS custom property of Theme.svelte. */
  color: string;
  meaning: string;
}

const words = (part: Part, title: string, color: string, meaning: string): PartWords => ({
  part,
  title,
  color,
  meaning,
});
const PART_WORDS: readonly PartWords[] = [
  words('cpu', 'CPU', '--activity-cpu', 'SQLite and its VFS computing, nothing awaited'),
  words('read', 'Read', '--activity-read', 'reading from storage'),
  words('write', 'Write', '--activity-write', 'writing to storage'),
  words('sync', 'Sync', '--activity-sync', 'waiting until writes are durable: flush, xSync'),
  words(
    'idbTransaction',
    'IDB transaction',
    '--activity-idb',
    'waiting for an IndexedDB transaction to start or complete',
  ),
  words(
    'lock',
    'Lock wait',
    '--activity-lock',
    'waiting for a lock that another connection, thread or tab holds',
  ),
  words('tracer', 'vfscope', '--activity-meta', 'work of the recording itself'),
  words(
    'other',
    'Other wait',
    '--activity-wait',
    'SQL in flight and nothing known that it waits for',
  ),
  words('outside', 'Outside SQL', '--activity-none', 'storage calls while no SQL was in flight'),
  words('idle', 'Idle', '--bg-header', 'no SQL in flight'),
];
/** Those with SQL in flight. */
export const SQL_PARTS = PART_WORDS.filter(({ part }) => part !== 'idle' && part !== 'outside');
/** Each part with its time. @param whole idle time and storage calls outside SQL, too */
export const timedParts = (times: PartTimes, whole = false): (PartWords & { us: number })[] =>
  (whole ? PART_WORDS : SQL_PARTS).map((words) => ({ ...words, us: times[`${words.part}Us`] }));
