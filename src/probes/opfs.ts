/**
 * OPFS handles: how paths are learned (getDirectory, getFileHandle, and directory iterators,
 * because pools list files instead of requesting them by name), and the calls on handles. A handle
 * from postMessage or IndexedDB has the path '?/name'. Sync access handles, streams, and File reads
 * are in separate files.
 */
import { Op } from '../event/event.ts';
import type { PromiseWatch } from '../record/promise-watch.ts';
import { installOpfsAccessHandles } from './opfs-access-handle.ts';
import { installOpfsFiles } from './opfs-file.ts';
import { endingWith } from './end-with.ts';
import { OpfsPaths } from './opfs-paths.ts';
import { installOpfsStreams } from './opfs-stream.ts';
import { ownerOf } from '../record/patches.ts';
import type { ProbeContext } from './context.ts';
import { apply } from '../record/reflect.ts';

/** Record OPFS calls of this thread until the context's patches are restored. */
export function installOpfs(context: ProbeContext, watch: PromiseWatch): void {
  const { recorder, patches } = context;
  const paths = new OpfsPaths(context);
  const endWith = endingWith(recorder, watch, 'OPFS');

  const storage = context.proto('StorageManager');
  patches.method(storage, 'getDirectory', (native, self, args) => {
    const promise = apply(native, self, args);
    try {
      if (recorder.enabled) watch.watch(promise, (ok, root) => ok && paths.learn(root, ''));
    } catch (e) {
      recorder.fault('getDirectory', e);
    }
    return promise;
  });

  const directory = context.proto('FileSystemDirectoryHandle');
  for (const name of ['getFileHandle', 'getDirectoryHandle', 'removeEntry'] as const) {
    const op = {
      getFileHandle: Op.opfsGetFileHandle,
      getDirectoryHandle: Op.opfsGetDirectoryHandle,
      removeEntry: Op.opfsRemoveEntry,
    }[name];
    const child = (self: FileSystemDirectoryHandle, args: unknown[]): string =>
      `${paths.of(self)}/${textOf(args[0])}`;
    context.record<FileSystemDirectoryHandle>(directory, name, {
      begin: (self, args) => recorder.begin(op, paths.idOf(child(self, args)), NaN, 0),
      end: (token, promise, self, args) =>
        endWith(
          token,
          promise,
          name === 'removeEntry' ? undefined : (handle) => paths.learn(handle, child(self, args)),
        ),
    });
  }
  iterators(context, watch, paths, directory);

  const file = context.proto('FileSystemFileHandle');
  context.record<FileSystemHandle>(ownerOf(file, 'remove'), 'remove', {
    begin: (self) => recorder.begin(Op.opfsRemoveEntry, paths.idOf(paths.of(self)), NaN, 0),
    end: (token, promise) => endWith(token, promise),
  });
  context.record<FileSystemHandle>(ownerOf(file, 'move'), 'move', {
    begin: (self) => recorder.begin(Op.opfsMove, paths.idOf(paths.of(self)), NaN, 0),
    end(token, promise, self, args) {
      // move(name) | move(directory) | move(directory, name)
      const [first, second] = args;
      const inDirectory = typeof first === 'object' && first !== null;
      const parent = inDirectory
        ? paths.of(first as FileSystemHandle)
        : paths.of(self).replace(/\/[^/]*$/, '');
      const name = inDirectory
        ? second === undefined
          ? self.name
          : textOf(second)
        : textOf(first);
      endWith(token, promise, () => paths.learn(self, `${parent}/${name}`));
    },
  });

  installOpfsAccessHandles(context, paths, endWith, file);
  const files = installOpfsFiles(context, endWith);
  context.record<FileSystemFileHandle>(file, 'getFile', {
    begin: (self) => recorder.begin(Op.opfsGetFile, paths.idOf(paths.of(self)), NaN, 0),
    end: (token, promise, self) =>
      endWith(token, promise, (blob) => files.learn(blob as Blob, paths.idOf(paths.of(self)))),
  });
  installOpfsStreams(context, paths, endWith, file);
}

/**
 * `for await (const handle of directory.values())`: the returned handles get paths, too. Records no
 * event.
 */
function iterators(
  context: ProbeContext,
  watch: PromiseWatch,
  paths: OpfsPaths,
  directory: object | undefined,
): void {
  const { recorder, patches } = context;
  const parents = new WeakMap<object, string>();
  let patched = false;
  const onNext = (parent: string, step: unknown): void => {
    try {
      const { done, value } = step as IteratorResult<unknown>;
      const handle: unknown = Array.isArray(value) ? value[1] : value;
      if (!done && typeof handle === 'object' && handle !== null)
        paths.learn(handle, `${parent}/${(handle as FileSystemHandle).name}`);
    } catch (e) {
      recorder.fault('directory iterator', e);
    }
  };
  /**
   * The iterators' prototype is only available from an iterator, so it is patched when the first
   * one is made.
   */
  const patchNext = (iterator: object): void => {
    patched = patches.method(ownerOf(iterator, 'next'), 'next', (native, self, args) => {
      const promise = apply(native, self, args);
      try {
        const parent =
          recorder.enabled && typeof self === 'object' && self !== null
            ? parents.get(self)
            : undefined;
        if (parent !== undefined) watch.watch(promise, (ok, step) => ok && onNext(parent, step));
      } catch (e) {
        recorder.fault('directory iterator', e);
      }
      return promise;
    });
  };
  const listing = (
    native: (...args: unknown[]) => unknown,
    self: unknown,
    args: unknown[],
  ): unknown => {
    const iterator = apply(native, self, args) as object;
    try {
      if (recorder.enabled) {
        if (!patched) patchNext(iterator);
        parents.set(iterator, paths.of(self as FileSystemHandle));
      }
    } catch (e) {
      recorder.fault('directory iterator', e);
    }
    return iterator;
  };
  if (!directory) return;
  patches.method(directory, 'values', listing);
  const entries = (directory as { entries?: unknown }).entries;
  const sameFunction =
    (directory as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === entries;
  patches.method(directory, 'entries', listing);
  if (sameFunction)
    patches.value(
      directory,
      Symbol.asyncIterator,
      () => (directory as { entries?: unknown }).entries,
    );
  else patches.method(directory, Symbol.asyncIterator, listing);
}

const textOf = (name: unknown): string => (typeof name === 'string' ? name : '?');
