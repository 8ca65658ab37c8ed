/** The methods of a VFS, and which of their arguments go into a record. */
import { Op } from '../../event/event.ts';

/**
 * `io`: its first argument is the file. `transfer`: `io`, and it is xRead or xWrite. `name`: an
 * argument is a file name.
 */
export type How = 'open' | 'transfer' | 'io' | 'name';
/**
 * aux: index of the io method's argument to record as a detail (level, flags, opcode); -1 = none.
 */
export const METHODS: readonly (readonly [name: string, op: number, how: How, aux: number])[] = [
  ['xOpen', Op.xOpen, 'open', -1],
  ['xClose', Op.xClose, 'io', -1],
  ['xRead', Op.xRead, 'transfer', -1],
  ['xWrite', Op.xWrite, 'transfer', -1],
  ['xTruncate', Op.xTruncate, 'io', -1],
  ['xSync', Op.xSync, 'io', 1],
  ['xFileSize', Op.xFileSize, 'io', -1],
  ['xLock', Op.xLock, 'io', 1],
  ['xUnlock', Op.xUnlock, 'io', 1],
  ['xCheckReservedLock', Op.xCheckReservedLock, 'io', -1],
  ['xFileControl', Op.xFileControl, 'io', 1],
  ['xSectorSize', Op.xSectorSize, 'io', -1],
  ['xDeviceCharacteristics', Op.xDeviceCharacteristics, 'io', -1],
  ['xShmMap', Op.xShmMap, 'io', -1],
  ['xShmLock', Op.xShmLock, 'io', 3],
  ['xShmBarrier', Op.xShmBarrier, 'io', -1],
  ['xShmUnmap', Op.xShmUnmap, 'io', 1],
  ['xDelete', Op.xDelete, 'name', -1],
  ['xAccess', Op.xAccess, 'name', -1],
];
