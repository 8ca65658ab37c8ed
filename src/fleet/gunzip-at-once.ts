/**
 * Synchronous gunzip. All cores are busy with other traces, so a stream that unpacks on another
 * thread would only cost more.
 */
import { constants } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { TooLongError, type Gunzip } from '../trace/file/codec.ts';

/** How much memory is allocated at a time. */
const PIECE = 1 << 16;

export const gunzipAtOnce: Gunzip = (bytes, limit) => {
  const most = Math.max(1, Math.min(limit, constants.MAX_LENGTH));
  try {
    return gunzipSync(bytes, { maxOutputLength: most, chunkSize: PIECE });
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw e;
    throw new TooLongError(`it unpacks to more than ${limit} bytes`);
  }
};
