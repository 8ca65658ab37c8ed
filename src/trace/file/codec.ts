/**
 * gzip by the platform (the only codec in every browser and in Node), with a limit on the unpacked
 * bytes; and CRC-32.
 */
import { MalformedError } from './bytes.ts';

/** Packed bytes unpack to more than allowed. */
export class TooLongError extends MalformedError {}

async function collect(
  stream: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      const error = new TooLongError(`it unpacks to more than ${limit} bytes`);
      await reader.cancel(error);
      throw error;
    }
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Push bytes through a stream. A failure at either end is one rejection. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  { readable, writable }: GenericTransformStream,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = writable.getWriter();
  const written = (async () => {
    await writer.write(bytes);
    await writer.close();
  })();
  const [read] = await Promise.allSettled([
    collect(readable as ReadableStream<Uint8Array>, limit),
    written,
  ]);
  if (read.status === 'rejected') throw read.reason;
  return read.value;
}

export function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return through(bytes, new CompressionStream('gzip'), Infinity);
}

/**
 * Unpacks bytes.
 * @throws TooLongError if they are more than `limit`; any error if they aren't gzip
 */
export type Gunzip = (
  bytes: Uint8Array<ArrayBuffer>,
  limit: number,
) => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;
let unpack: Gunzip = (bytes, limit) => through(bytes, new DecompressionStream('gzip'), limit);
/** Unpack without a stream from now on: Node's own functions are faster for small parts. */
export function unpackBy(other: Gunzip): void {
  unpack = other;
}

/** @throws MalformedError when the bytes aren't gzip, or unpack to more than `limit` bytes */
export async function gunzip(
  bytes: Uint8Array<ArrayBuffer>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await unpack(bytes, limit);
  } catch (e) {
    if (e instanceof MalformedError) throw e;
    throw new MalformedError(`it does not unpack: ${e instanceof Error ? e.message : String(e)}`);
  }
}

/**
 * A byte's effect on the CRC, and then its effect when one, two, and three more bytes follow: four
 * bytes are processed at a time.
 */
const CRC_TABLE = new Uint32Array(4 * 256);
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  CRC_TABLE[n] = c;
}
for (let n = 256; n < 1024; n++)
  CRC_TABLE[n] = CRC_TABLE[CRC_TABLE[n - 256]! & 255]! ^ (CRC_TABLE[n - 256]! >>> 8);

/** CRC-32 as in gzip and PNG. @param seed the CRC of what came before */
export function crc32(bytes: Uint8Array, seed = 0): number {
  const table = CRC_TABLE;
  let c = ~seed;
  let i = 0;
  for (const fours = bytes.length & ~3; i < fours; i += 4)
    c =
      table[768 + ((c ^ bytes[i]!) & 255)]! ^
      table[512 + (((c >>> 8) ^ bytes[i + 1]!) & 255)]! ^
      table[256 + (((c >>> 16) ^ bytes[i + 2]!) & 255)]! ^
      table[((c >>> 24) ^ bytes[i + 3]!) & 255]!;
  for (; i < bytes.length; i++) c = table[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}
