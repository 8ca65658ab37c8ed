/** Faults of OPFS: access handles and writable streams. */
import type { Faults } from './faults.ts';
import { patcher, type Method } from './patch-method.ts';
import { pause } from './pause.ts';
import { quotaError } from './fault-state.ts';

interface At {
  readonly at?: number;
}
interface StreamWrite {
  readonly type?: string;
  readonly position?: number;
  readonly size?: number;
  readonly data?: unknown;
}
/** An access handle. */
interface Sized {
  getSize(): number;
}
/** A writable stream, by the calls made to it. */
interface Stream {
  size: number;
  /** Position of the next write without a position. */
  cursor: number;
  /** Size of the file that it replaces, in bytes. */
  readonly freed: number;
}
/** A class of the browser by its global name; absent where it doesn't exist. */
const prototypeOf = (name: string): object | undefined =>
  (globalThis as unknown as Record<string, { prototype: object } | undefined>)[name]?.prototype;

/** @returns restore functions for the methods, to call first to last */
export function faultyOpfs(faults: Faults): (() => void)[] {
  const { state, active, slowFlushMs, refusedHandle, quota, opened } = faults;
  const { patch: lay, puts } = patcher(active);
  const patch = (of: string, method: string, instead: (native: Method) => Method): void =>
    lay(prototypeOf(of), method, instead);
  /** Another connection may have changed a file, so its size is always read from storage. */
  const grows = (bytes: number): boolean => {
    if (state.store(bytes, quota)) return true;
    state.add('overQuota');
    return false;
  };

  patch(
    'FileSystemFileHandle',
    'createSyncAccessHandle',
    (native) =>
      async function (...args) {
        if (state.add('handles') === refusedHandle)
          return refusedBy(native, this, () => void state.add('refused'));
        const handle = (await native.apply(this, args)) as { close(): void };
        opened(handle);
        return handle;
      },
  );
  if (slowFlushMs) {
    patch(
      'FileSystemSyncAccessHandle',
      'flush',
      (native) =>
        function () {
          const answer = native.call(this);
          state.add('flushes');
          pause(slowFlushMs);
          return answer;
        },
    );
    // a stream is stored when it is closed
    patch(
      'FileSystemWritableFileStream',
      'close',
      (native) =>
        async function () {
          const answer = await native.call(this);
          state.add('flushes');
          await new Promise((resolve) => setTimeout(resolve, slowFlushMs));
          return answer;
        },
    );
  }
  if (!quota) return puts;
  patch(
    'FileSystemSyncAccessHandle',
    'write',
    (native) =>
      function (from, options) {
        const size = (this as Sized).getSize();
        const end =
          ((options as At | undefined)?.at ?? size) + (from as ArrayBufferView).byteLength;
        if (!grows(Math.max(0, end - size))) throw quotaError();
        return native.call(this, from, options);
      },
  );
  patch(
    'FileSystemSyncAccessHandle',
    'truncate',
    (native) =>
      function (size) {
        if (!grows(Number(size) - (this as Sized).getSize())) throw quotaError();
        return native.call(this, size);
      },
  );
  const streams = new WeakMap<object, Stream>();
  patch(
    'FileSystemFileHandle',
    'createWritable',
    (native) =>
      async function (options) {
        const keeps = (options as { keepExistingData?: boolean } | undefined)?.keepExistingData;
        const { size } = await (this as FileSystemFileHandle).getFile();
        const stream = (await native.call(this, options)) as object;
        streams.set(stream, { size: keeps ? size : 0, cursor: 0, freed: keeps ? 0 : size });
        return stream;
      },
  );
  /** @param asked the method's argument, in the form for `write` */
  const patchStream = (method: string, asked: (argument: unknown) => unknown): void =>
    patch(
      'FileSystemWritableFileStream',
      method,
      (native) =>
        function (argument) {
          const stream = streams.get(this);
          if (!stream) return native.call(this, argument);
          const after = streamAfter(asked(argument), stream);
          if (!grows(after.size - stream.size)) return Promise.reject(quotaError());
          Object.assign(stream, after);
          return native.call(this, argument);
        },
    );
  patchStream('write', (what) => what);
  patchStream('seek', (position) => ({ type: 'seek', position }));
  patchStream('truncate', (size) => ({ type: 'truncate', size }));
  patch(
    'FileSystemWritableFileStream',
    'close',
    (native) =>
      async function () {
        const answer = await native.call(this);
        state.store(-(streams.get(this)?.freed ?? 0), quota); // what was there before is replaced
        return answer;
      },
  );
  patch(
    'FileSystemDirectoryHandle',
    'removeEntry',
    (native) =>
      async function (...args) {
        const bytes = await fileBytes(this as FileSystemDirectoryHandle, String(args[0]));
        await native.apply(this, args);
        state.store(-bytes, quota);
      },
  );
  return puts;
}

/**
 * The browser's own error for a second handle while the first one is open. The first one may belong
 * to another connection.
 */
async function refusedBy(native: Method, file: object, onRefused: () => void): Promise<unknown> {
  let first: { close(): void } | null = null;
  try {
    first = (await native.call(file)) as { close(): void };
    return await native.call(file);
  } catch (error) {
    onRefused();
    throw error;
  } finally {
    first?.close();
  }
}

/** 0 where it doesn't exist or isn't a file. */
const fileBytes = (folder: FileSystemDirectoryHandle, name: string): Promise<number> =>
  folder
    .getFileHandle(name)
    .then((file) => file.getFile())
    .then(
      ({ size }) => size,
      () => 0,
    );

const bytesOf = (data: unknown): number =>
  data instanceof Blob
    ? data.size
    : typeof data === 'string'
      ? new TextEncoder().encode(data).length
      : ((data as ArrayBufferView | ArrayBuffer | undefined)?.byteLength ?? 0);

/** A stream after a call. @param what the argument of `write` */
function streamAfter(what: unknown, { size, cursor }: Stream): Pick<Stream, 'size' | 'cursor'> {
  const { type, position, size: cut = size, data } = what as StreamWrite;
  if (type === 'seek') return { size, cursor: position ?? cursor };
  if (type === 'truncate') return { size: cut, cursor: Math.min(cursor, cut) };
  const end = (position ?? cursor) + bytesOf(type === 'write' ? data : what);
  return { size: Math.max(size, end), cursor: end };
}
