/**
 * The parts of a thread's time, and the part that a call of each operation can be. See
 * time-partition.ts.
 */
import { toNs } from '../../trace/lanes/sweep.ts';
import { Op } from '../../event/event.ts';
import { OPS, opTable } from '../../event/operations.ts';

/** The parts as users see them, in the order of bars and lists. */
export const PART_WORDS = {
  cpu: { title: 'CPU', meaning: 'SQLite and its VFS computing, nothing awaited' },
  read: { title: 'Read', meaning: 'reading from storage' },
  write: { title: 'Write', meaning: 'writing to storage' },
  sync: { title: 'Sync', meaning: 'waiting until writes are durable: flush, xSync' },
  idbTransaction: {
    title: 'IDB transaction',
    meaning: 'waiting for an IndexedDB transaction to start or complete',
  },
  lock: {
    title: 'Lock calls',
    meaning:
      'waiting inside calls that take, check, and release locks, with no known holder in the way',
  },
  lockWait: {
    title: 'Lock wait',
    meaning:
      'waiting while a recorded connection, thread, or tab held the lock, or after SQLITE_BUSY',
  },
  tracer: { title: 'vfscope', meaning: 'work of the recording itself' },
  other: { title: 'Other wait', meaning: 'SQL runs, and it is not known what it waits for' },
  outside: { title: 'Outside SQL', meaning: 'storage calls while no SQL ran' },
  idle: { title: 'Idle', meaning: 'neither SQL nor a storage call ran' },
} as const;
export type Part = keyof typeof PART_WORDS;
/** Their indices are the numbers that the sweep uses. */
export const PARTS = Object.keys(PART_WORDS) as Part[];
export const isInSql = (part: Part): boolean => part !== 'outside' && part !== 'idle';
/** The parts while SQL runs: the first of PARTS. */
export const SQL_PARTS = PARTS.filter(isInSql);
export type PartTimes = Record<`${Part}Us`, number>;

/** @param usOf time of a part, by its number */
export const partTimes = (usOf: (part: number) => number): PartTimes =>
  Object.fromEntries(PARTS.map((name, i) => [`${name}Us`, usOf(i)])) as PartTimes;

/** The storage I/O of these times: what a thread waited for its storage, without locks. */
export const ioTime = ({ readUs, writeUs, syncUs, idbTransactionUs }: PartTimes): number =>
  [readUs, writeUs, syncUs, idbTransactionUs].reduce((ns, us) => ns + toNs(us), 0) / 1000;

/** The times of one part. @param part '' = all of them */
export const onlyPart = (times: PartTimes, part: Part | ''): PartTimes =>
  part === '' ? times : partTimes((i) => (PARTS[i] === part ? times[`${part}Us`] : 0));

export const PART = Object.fromEntries(PARTS.map((name, i) => [name, i])) as Record<Part, number>;
/** Not a part: a wait becomes a part by the VFS call that it serves. */
export const WAIT = PARTS.length;
const NONE = 255;

/** The role of a call in the partition. */
export const Role = { none: 0, sql: 1, vfs: 2, web: 3, tracer: 4 } as const;

/** Role by operation code. */
export const ROLE_OF_OP = opTable(({ code, layer, aside }) => {
  if (code === Op.tracer) return Role.tracer;
  if (aside || code === Op.none) return Role.none;
  return layer === 'sql' || layer === 'vfs' || layer === 'web' ? Role[layer] : Role.none;
});

/**
 * By operation code: the part of a web call, or WAIT; for a VFS call the part of a wait inside it.
 * Unused (255) for others.
 */
export const PART_OF_OP = Uint8Array.from(OPS, (info, code) => {
  const role = ROLE_OF_OP[code];
  if (!info || (role !== Role.vfs && role !== Role.web)) return NONE;
  return info.spent === 'wait' ? WAIT : PART[info.spent];
});

/** Whether a part of a web call is storage, which counts as `outside` while no SQL runs. */
export const isStorage = (part: number): boolean =>
  part >= PART.read && part <= PART.idbTransaction;
