/** gzip on this thread: all cores are busy with other traces, so a stream, which unpacks beside it, only costs more. */
import { constants } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { TooLongError, type Gunzip } from '../trace/file/codec.ts';

/** Of memory that is taken at a time. */
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
