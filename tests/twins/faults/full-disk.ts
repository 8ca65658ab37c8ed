/**
 * A browser whose disk is full after the first MiB of a file: `write` then stores nothing and
 * throws nothing, as in Chromium 150.
 */
import { around } from './around.ts';

const FREE = 1 << 20;
/** -8 as an unsigned number of 32 bits, which Chromium returned. */
const REFUSED = 4_294_967_288;

around('FileSystemSyncAccessHandle', 'write', (_, [, options], write) =>
  ((options as { at?: number } | undefined)?.at ?? 0) < FREE ? write() : REFUSED,
);
