/** The parts of a time partition as people see them: name, colour and meaning, in the order of the bar. */
import type { Part, PartTimes } from '../../../analysis/core/time-parts.ts';

interface PartWords {
  part: Part;
  title: string;
  /** CSS custom property of Theme.svelte. */
  color: string;
  meaning: string;
}

const PART_WORDS: readonly PartWords[] = [
  {
    part: 'cpu',
    title: 'CPU',
    color: '--activity-cpu',
    meaning: 'SQLite and its VFS computing, nothing awaited',
  },
  { part: 'read', title: 'Read', color: '--activity-read', meaning: 'reading from storage' },
  { part: 'write', title: 'Write', color: '--activity-write', meaning: 'writing to storage' },
  {
    part: 'sync',
    title: 'Sync',
    color: '--activity-sync',
    meaning: 'waiting until writes are durable: flush, xSync',
  },
  {
    part: 'idbTransaction',
    title: 'IDB transaction',
    color: '--activity-idb',
    meaning: 'waiting for an IndexedDB transaction to start or complete',
  },
  {
    part: 'lock',
    title: 'Lock wait',
    color: '--activity-lock',
    meaning: 'waiting for a lock that another connection, thread or tab holds',
  },
  {
    part: 'tracer',
    title: 'vfscope',
    color: '--activity-meta',
    meaning: 'work of the recording itself',
  },
  {
    part: 'other',
    title: 'Other wait',
    color: '--activity-wait',
    meaning: 'SQL in flight and nothing known that it waits for',
  },
  {
    part: 'outside',
    title: 'Outside SQL',
    color: '--activity-none',
    meaning: 'storage calls while no SQL was in flight',
  },
  { part: 'idle', title: 'Idle', color: '--bg-header', meaning: 'no SQL in flight' },
];
/** Those with SQL in flight. */
export const SQL_PARTS = PART_WORDS.filter(({ part }) => part !== 'idle' && part !== 'outside');
/** Each part with its time. @param whole idle time and storage calls outside SQL, too */
export const timedParts = (times: PartTimes, whole = false): (PartWords & { us: number })[] =>
  (whole ? PART_WORDS : SQL_PARTS).map((words) => ({ ...words, us: times[`${words.part}Us`] }));
