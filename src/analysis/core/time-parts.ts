/** The parts that a thread's time falls into, and which part a call of each operation can stand for. See time-partition.ts. */
import { Op } from '../../event/event.ts';
import { OPS, opTable } from '../../event/operations.ts';

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

/** @param usOf time of a part, by its number */
export const partTimes = (usOf: (part: number) => number): PartTimes =>
  Object.fromEntries(PARTS.map((name, i) => [`${name}Us`, usOf(i)])) as PartTimes;

export const PART = Object.fromEntries(PARTS.map((name, i) => [name, i])) as Record<Part, number>;
/** Not a part: a wait that becomes a part by the VFS call that it serves. */
export const WAIT = PARTS.length;
const NONE = 255;

/** What a call is to the partition. */
export const Role = { none: 0, sql: 1, vfs: 2, web: 3, tracer: 4 } as const;

/** Role by operation code. */
export const ROLE_OF_OP = opTable(({ code, layer, aside }) => {
  if (code === Op.tracer) return Role.tracer;
  if (aside || code === Op.none) return Role.none;
  return layer === 'sql' || layer === 'vfs' || layer === 'web' ? Role[layer] : Role.none;
});

/**
 * By operation code: of a web call the part that it is, or WAIT; of a VFS call the part that a wait inside it is. Unused (255) for
 * others.
 */
export const PART_OF_OP = Uint8Array.from(OPS, (info, code) => {
  const role = ROLE_OF_OP[code];
  if (!info || (role !== Role.vfs && role !== Role.web)) return NONE;
  return info.spent === 'wait' ? WAIT : PART[info.spent];
});

/** Whether a part of a web call is storage: what counts as `outside` where no SQL is in flight. */
export const isStorage = (part: number): boolean =>
  part >= PART.read && part <= PART.idbTransaction;
