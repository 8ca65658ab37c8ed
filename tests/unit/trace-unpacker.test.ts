// Chunks unpacked on another thread: the same events, the same rejections, and a worker that ends
// midway.
import { isDeepStrictEqual } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { EventColumns } from '../../src/trace/columns.ts';
import { MalformedError } from '../../src/trace/file/bytes.ts';
import { packRows } from '../../src/trace/file/chunk.ts';
import { gzip } from '../../src/trace/file/codec.ts';
import { unpackChunk, type UnpackElsewhere } from '../../src/trace/file/load.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { chunkBytes, chunkHead } from '../../src/trace/file/section.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { serveUnpacking, Unpacker } from '../../src/viewer/session/unpacker.ts';
import { syntheticStore } from '../traces/synthetic.ts';

const open: MessagePort[] = [];
afterEach(() => open.splice(0).forEach((port) => port.close()));

/** Both ends, connected, with the far one ready. */
async function connected(): Promise<Unpacker> {
  const { port1, port2 } = new MessageChannel();
  open.push(port1, port2);
  const unpacker = new Unpacker(port1);
  expect(unpacker.unpack(new Uint8Array(0))).toBeNull(); // the other end isn't ready yet
  const ready = new Promise((resolve) =>
    port1.addEventListener('message', resolve, { once: true }),
  );
  port1.start();
  port2.start();
  serveUnpacking(port2);
  await ready;
  return unpacker;
}

const store = syntheticStore({ events: 200_000, clockStepUs: 0 });
const { events } = store.threads[0]!;
/** A chunk whose rows need wider columns the later they are. */
async function chunk(from: number, to: number): Promise<Uint8Array> {
  return chunkBytes(
    chunkHead([], 0, { count: to - from, fromUs: 0, toUs: 1 }),
    await gzip(packRows(events, from, to) as Uint8Array<ArrayBuffer>),
  );
}
const rowsOf = (columns: EventColumns): unknown[] =>
  Array.from({ length: columns.count }, (_, row) => columns.row(row));

test('a file read with its help is the same', async () => {
  const file = await saveTrace(store);
  const unpacker = await connected();
  const unpack = vi.fn(unpacker.unpack);
  const { store: read, warnings } = await readTrace(file, { unpack });
  expect(unpack.mock.results.filter(({ value }) => value !== null).length).toBeGreaterThan(3);
  expect(warnings).toEqual([]);
  expect(read.eventCount).toBe(store.eventCount);
  read.threads.forEach((thread, i) =>
    // toEqual of 200,000 rows takes seconds
    expect(isDeepStrictEqual(rowsOf(thread.events), rowsOf(store.threads[i]!.events))).toBe(true),
  );
});

test('it receives the narrowest possible columns, and nothing else', async () => {
  const unpacker = await connected();
  const columns = await unpacker.unpack(await chunk(100, 300))!;
  expect(columns).toBeInstanceOf(EventColumns);
  expect(rowsOf(columns)).toEqual(rowsOf(await unpackChunk(await chunk(100, 300))));
  expect(columns.capacity).toBe(200);
  expect(columns.byteLength).toBeLessThan(200 * 62);
});

test('invalid chunks are rejected with the same error', async () => {
  const unpacker = await connected();
  const broken = await chunk(0, 100);
  broken[4]! += 1; // it claims one row more than it has
  const refused = async (unpack: UnpackElsewhere): Promise<string> => {
    const error = await unpack(broken)!.then(
      () => null,
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(MalformedError);
    return (error as Error).message;
  };
  expect(await refused(unpacker.unpack)).toBe(await refused(unpackChunk));
});

test('if a worker ends before its answer, the chunk is unpacked here, and so are later ones', async () => {
  const unpacker = await connected();
  const asked = unpacker.unpack(await chunk(0, 100))!;
  unpacker.stop();
  expect(rowsOf(await asked)).toEqual(rowsOf(await unpackChunk(await chunk(0, 100))));
  expect(unpacker.unpack(await chunk(0, 100))).toBeNull();
});
