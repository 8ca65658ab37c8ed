/**
 * A browser that releases the handles of an ended worker 300 ms late. Until then, it refuses all
 * handles to a worker named "next".
 */
import { around } from './around.ts';

const LATE_MS = 300;
const since = performance.now();
const isNext = (globalThis as { name?: string }).name === 'next';

around('FileSystemFileHandle', 'createSyncAccessHandle', async (_self, _args, open) => {
  if (isNext && performance.now() - since < LATE_MS)
    throw new DOMException('The file is in use', 'NoModificationAllowedError');
  return open();
});
