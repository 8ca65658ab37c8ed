/** gzip by the platform (the only codec that every browser and Node have), with a bound on what it unpacks to; and CRC-32. */
import { MalformedError } from './bytes.ts';

async function collect(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      const error = new MalformedError(`it unpacks to more than ${limit} bytes`);
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

/** Push bytes through a stream; a failure of either end is one rejection. */
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
  const [read] = await Promise.allSettled([collect(readable as ReadableStream<Uint8Array>, limit), written]);
  if (read.status === 'rejected') throw read.reason;
  return read.value;
}

export function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return through(bytes, new CompressionStream('gzip'), Infinity);
}

/** @throws MalformedError when the bytes are no gzip, or unpack to more than `limit` bytes */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await through(bytes, new DecompressionStream('gzip'), limit);
  } catch (e) {
    if (e instanceof MalformedError) throw e;
    throw new MalformedError(`it does not unpack: ${e instanceof Error ? e.message : String(e)}`);
  }
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

/** CRC-32 as in gzip and PNG. @param seed the CRC of what came before */
export function crc32(bytes: Uint8Array, seed = 0): number {
  let c = ~seed;
  for (let i = 0; i < bytes.length; i++) c = CRC_TABLE[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}
