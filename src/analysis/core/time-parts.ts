/** The parts that a thread's time falls into, and which part a call of each operation can stand for. See time-partition.ts. */
import { Op, type OpName } from '../../event/event.ts';
import { OPS } from '../../event/operations.ts';

/** Names of the parts; their places are the numbers that the sweep uses. */
export const PARTS = [
  'cpu',
  'read',
  'write',
  'sync',
  'idbTransaction',
  'lock',
  'tracer',
  'other',
  'idle',
  'outside',
] as const;
export type Part = (typeof PARTS)[number];
export type PartTimes = Record<`${Part}Us`, number>;

export const PART = Object.fromEntries(PARTS.map((name, i) => [name, i])) as Record<Part, number>;
/** Not a part: a wait that becomes a part by the VFS call that it serves. */
export const WAIT = PARTS.length;
const NONE = 255;

/** What a call is to the partition. */
export const Role = { none: 0, sql: 1, vfs: 2, web: 3, tracer: 4 } as const;

/** Calls that are no work and no wait: a lock that is held, a reading of counters, a notification. */
const NO_CALLS: ReadonlySet<number> = new Set([
  Op.lockHeld,
  Op.sqlCounters,
  Op.atomicsNotify,
  Op.idbBlocked,
  Op.idbVersionChange,
]);

/** Role by operation code. */
export const ROLE_OF_OP = Uint8Array.from(OPS, (info) => {
  if (!info || NO_CALLS.has(info.code) || info.code === Op.none) return Role.none;
  if (info.code === Op.tracer) return Role.tracer;
  return info.layer === 'sql'
    ? Role.sql
    : info.layer === 'vfs'
      ? Role.vfs
      : info.layer === 'web'
        ? Role.web
        : Role.none;
});

/**
 * Calls about files and databases rather than their bytes (event.ts has them as `meta`), and those of IndexedDB transactions:
 * what opens or asks counts as read, what closes or changes as write.
 */
const OWN_PART: Partial<Record<OpName, Part>> = {
  xOpen: 'read',
  xFileSize: 'read',
  xAccess: 'read',
  xClose: 'write',
  idbOpen: 'read',
  idbDeleteDatabase: 'write',
  idbTransaction: 'idbTransaction',
  idbCommit: 'idbTransaction',
  idbAbort: 'idbTransaction',
  opfsOpenSyncAccessHandle: 'read',
  opfsGetSize: 'read',
  opfsGetFileHandle: 'read',
  opfsGetDirectoryHandle: 'read',
  opfsClose: 'write',
  opfsCreateWritable: 'write',
  opfsStreamSeek: 'write',
  opfsMove: 'write',
  lockQuery: 'lock',
  localStorageKey: 'read',
};

/**
 * By operation code: of a web call the part that it is, or WAIT; of a VFS call the part that a wait inside it is. Unused (255) for
 * others.
 */
export const PART_OF_OP = Uint8Array.from({ length: 256 }, (_, code) => {
  const role = ROLE_OF_OP[code];
  if (role !== Role.vfs && role !== Role.web) return NONE;
  const key = (Object.keys(Op) as OpName[]).find((name) => Op[name] === code)!;
  const own = OWN_PART[key];
  if (own) return PART[own];
  const { activity } = OPS[code]!;
  if (activity === 'read' || activity === 'write' || activity === 'sync' || activity === 'lock')
    return PART[activity];
  return activity === 'wait' ? WAIT : PART.other;
});

/** Whether a part of a web call is storage: what counts as `outside` where no SQL is in flight. */
export const isStorage = (part: number): boolean =>
  part >= PART.read && part <= PART.idbTransaction;
