/**
 * SQLite's in-memory journal, which isn't storage. A VFS call's flag decides, because in a damaged
 * trace the file's definition may differ.
 */
import type { Definition } from '../event/definitions.ts';
import { Flag } from '../event/event.ts';
import type { EventColumns } from './columns.ts';

export const isInMemory = ({ flags }: EventColumns, row: number): boolean =>
  (flags[row]! & Flag.memoryJournal) !== 0;

/** Added to ids, which have 32 bits. */
const IN_MEMORY = 2 ** 32;
/**
 * A call's target: its object, with the in-memory journal distinguished from a file of the same id.
 */
export const targetOf = (events: EventColumns, row: number): number =>
  events.object[row]! + (isInMemory(events, row) ? IN_MEMORY : 0);

/** The definition of a call's target. @param target from `targetOf` */
export function definedAs(
  definitions: ReadonlyMap<number, Definition>,
  target: number,
): Definition | undefined {
  const d = definitions.get(target % IN_MEMORY);
  if (d?.kind !== 'file' || (d.fileKind === 'memory-journal') === target >= IN_MEMORY) return d;
  return { ...d, fileKind: target >= IN_MEMORY ? 'memory-journal' : 'other' };
}
