/** A browser that opens at most 252 access handles, like Safari. */
import { around } from './around.ts';

const MOST = 252;
const opened = new Set<object>();

around('FileSystemFileHandle', 'createSyncAccessHandle', async (_self, _args, open) => {
  if (opened.size >= MOST)
    throw new DOMException('No more access handles', 'NoModificationAllowedError');
  const handle = (await open()) as object;
  opened.add(handle);
  return handle;
});
around('FileSystemSyncAccessHandle', 'close', (handle, _args, close) => {
  opened.delete(handle);
  return close();
});
