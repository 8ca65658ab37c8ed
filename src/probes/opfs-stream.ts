/**
 * OPFS writable streams: createWritable, and writes by the stream's own methods or by its writer.
 * Not seen: piped data (readable.pipeTo(writable)).
 */
import { Op } from '../event/event.ts';
import type { EndWith } from './end-with.ts';
import type { OpfsPaths } from './opfs-paths.ts';
import type { ProbeContext } from './context.ts';
import { apply, dataProperty } from '../record/reflect.ts';
import { valueBytes } from './value-size.ts';

/** Record createWritable and the writes, seeks, truncates, and closes of its streams. */
export function installOpfsStreams(
  context: ProbeContext,
  paths: OpfsPaths,
  endWith: EndWith,
  fileHandle: object | undefined,
): void {
  const { recorder, patches } = context;
  /** Streams and their writers -> id of the file. */
  const files = new WeakMap<object, number>();

  context.record<FileSystemFileHandle>(fileHandle, 'createWritable', {
    begin: (self) => recorder.begin(Op.opfsCreateWritable, paths.idOf(paths.of(self)), NaN, 0),
    end(token, promise, self) {
      const file = paths.idOf(paths.of(self));
      endWith(token, promise, (stream) => files.set(stream as object, file));
    },
  });

  const beginWrite = (file: number, chunk: unknown): number => {
    const plain =
      typeof chunk !== 'object' ||
      chunk === null ||
      ArrayBuffer.isView(chunk) ||
      chunk instanceof ArrayBuffer ||
      chunk instanceof Blob;
    if (plain) return recorder.begin(Op.opfsStreamWrite, file, NaN, valueBytes(chunk));
    const [type, data, position, size] = (['type', 'data', 'position', 'size'] as const).map(
      (name) => dataProperty(chunk, name),
    );
    if (type === 'seek') return recorder.begin(Op.opfsStreamSeek, file, asNumber(position), 0);
    if (type === 'truncate') return recorder.begin(Op.opfsStreamTruncate, file, asNumber(size), 0);
    return recorder.begin(Op.opfsStreamWrite, file, asNumber(position), valueBytes(data));
  };
  const recordMethod = (
    type: string,
    name: string,
    begin: (file: number, args: unknown[]) => number,
  ): boolean =>
    context.record<object>(context.proto(type), name, {
      begin: (self, args) => (files.has(self) ? begin(files.get(self)!, args) : -1),
      end: (token, promise, self) => files.has(self) && endWith(token, promise),
    });
  const asNumber = (value: unknown): number => (typeof value === 'number' ? value : NaN);
  for (const type of ['FileSystemWritableFileStream', 'WritableStreamDefaultWriter'])
    recordMethod(type, 'write', (file, args) => beginWrite(file, args[0]));
  recordMethod('FileSystemWritableFileStream', 'seek', (file, args) =>
    recorder.begin(Op.opfsStreamSeek, file, asNumber(args[0]), 0),
  );
  recordMethod('FileSystemWritableFileStream', 'truncate', (file, args) =>
    recorder.begin(Op.opfsStreamTruncate, file, asNumber(args[0]), 0),
  );
  // close() is WritableStream's own where a browser follows the standard
  for (const type of [
    'FileSystemWritableFileStream',
    'WritableStream',
    'WritableStreamDefaultWriter',
  ])
    recordMethod(type, 'close', (file) => recorder.begin(Op.opfsStreamClose, file, NaN, 0));
  patches.method(context.proto('WritableStream'), 'getWriter', (native, self, args) => {
    const writer = apply(native, self, args) as object;
    const file = typeof self === 'object' && self !== null ? files.get(self) : undefined;
    if (file !== undefined) files.set(writer, file);
    return writer;
  });
}
