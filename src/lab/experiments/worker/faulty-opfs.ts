/** Faults of OPFS: access handles and writable streams. Files are told apart by name: those of a run all have their own. */
import type { Faults } from './faults.ts';
import { patcher, type Method } from './patch-method.ts';
import { pause } from './pause.ts';
import { quotaError } from './quota.ts';

interface At {
  readonly at?: number;
}
interface StreamWrite {
  readonly type?: string;
  readonly position?: number;
  readonly size?: number;
  readonly data?: unknown;
}
/** A class of the browser by its global name; absent where there is none. */
const prototypeOf = (name: string): object | undefined =>
  (globalThis as unknown as Record<string, { prototype: object } | undefined>)[name]?.prototype;

/** @returns put the methods back, first to last */
export function faultyOpfs(faults: Faults): (() => void)[] {
  const { tally, active, slowFlushMs, refusedHandle, quota, opened } = faults;
  const names = new WeakMap<object, string>();
  const { patch: lay, puts } = patcher(active);
  const patch = (of: string, method: string, instead: (native: Method) => Method): void =>
    lay(prototypeOf(of), method, instead);
  const fits = (name: string, size: number): boolean => {
    if (!quota || quota.resize(name, size)) return true;
    tally.overQuota++;
    return false;
  };

  patch(
    'FileSystemFileHandle',
    'createSyncAccessHandle',
    (native) =>
      async function (...args) {
        if (++tally.handles === refusedHandle)
          return refusedBy(native, this, () => tally.refused++);
        const handle = (await native.apply(this, args)) as { close(): void };
        opened(handle);
        names.set(handle, (this as { name: string }).name);
        return handle;
      },
  );
  patch(
    'FileSystemFileHandle',
    'createWritable',
    (native) =>
      async function (...args) {
        const stream = (await native.apply(this, args)) as object;
        names.set(stream, (this as { name: string }).name);
        return stream;
      },
  );
  if (slowFlushMs) {
    patch(
      'FileSystemSyncAccessHandle',
      'flush',
      (native) =>
        function () {
          const answer = native.call(this);
          tally.flushes++;
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
          tally.flushes++;
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
        const size = (this as { getSize(): number }).getSize();
        const end =
          ((options as At | undefined)?.at ?? size) + (from as ArrayBufferView).byteLength;
        if (!fits(names.get(this) ?? '', Math.max(size, end))) throw quotaError();
        return native.call(this, from, options);
      },
  );
  patch(
    'FileSystemSyncAccessHandle',
    'truncate',
    (native) =>
      function (size) {
        if (!fits(names.get(this) ?? '', Number(size))) throw quotaError();
        return native.call(this, size);
      },
  );
  patch(
    'FileSystemWritableFileStream',
    'write',
    (native) =>
      function (what) {
        const name = names.get(this) ?? '';
        const size = quota.sizeOf(name) ?? 0;
        if (!fits(name, sizeAfter(what, size))) return Promise.reject(quotaError());
        return native.call(this, what);
      },
  );
  patch(
    'FileSystemDirectoryHandle',
    'removeEntry',
    (native) =>
      async function (...args) {
        await native.apply(this, args);
        quota.remove(String(args[0]));
      },
  );
  return puts;
}

/** The browser's own refusal: of a second handle, while the first is open. */
async function refusedBy(native: Method, file: object, onRefused: () => void): Promise<unknown> {
  const first = (await native.call(file)) as { close(): void };
  try {
    return await native.call(file);
  } catch (error) {
    onRefused();
    throw error;
  } finally {
    first.close();
  }
}

const bytesOf = (data: unknown): number =>
  data instanceof Blob
    ? data.size
    : typeof data === 'string'
      ? new TextEncoder().encode(data).length
      : ((data as ArrayBufferView | ArrayBuffer | undefined)?.byteLength ?? 0);

/** Of a stream's file. @param what that is written @param size before */
function sizeAfter(what: unknown, size: number): number {
  const { type, position, size: cut, data } = what as StreamWrite;
  if (type === 'truncate') return cut ?? size;
  if (type === 'seek') return size;
  return Math.max(size, (position ?? size) + bytesOf(type === 'write' ? data : what));
}
