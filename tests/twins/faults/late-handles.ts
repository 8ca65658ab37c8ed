/** A browser that gives the handles of a worker that was ended back 300 ms late: for so long it refuses all to a worker of the name "next". */
import { around } from './around.ts';

const LATE_MS = 300;
const since = performance.now();
const isNext = (globalThis as { name?: string }).name === 'next';

around('FileSystemFileHandle', 'createSyncAccessHandle', async (_self, _args, open) => {
  if (isNext && performance.now() - since < LATE_MS)
    throw new DOMException('The file is in use', 'NoModificationAllowedError');
  return open();
});
