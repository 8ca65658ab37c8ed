/**
 * OPFS sync access handles, the hot path of most VFSs: length = bytes requested, result = bytes
 * that the call returned, offset = `at`, or the handle's own cursor if `at` is omitted. Writes
 * reveal WAL headers and frames.
 */
import { Op } from '../event/event.ts';
import { byteLengthOf } from './byte-length.ts';
import type { EndWith } from './end-with.ts';
import type { OpfsPaths } from './opfs-paths.ts';
import type { ProbeContext } from './context.ts';
import { numberOf } from '../record/reflect.ts';
import { WalHeaders } from './wal-headers.ts';

interface OpenHandle {
  file: number;
  /** Number of the handle within the thread: the records' context. */
  number: number;
  cursor: number;
}
type AccessHandle = object;

/** Record createSyncAccessHandle and the calls on its handles. */
export function installOpfsAccessHandles(
  context: ProbeContext,
  paths: OpfsPaths,
  endWith: EndWith,
  fileHandle: object | undefined,
): void {
  const { recorder } = context;
  const open = new WeakMap<AccessHandle, OpenHandle>();
  const wal = new WalHeaders();
  let last = 0;
  const infoOf = (handle: AccessHandle): OpenHandle => {
    let info = open.get(handle);
    // opened before the recording
    if (!info) open.set(handle, (info = { file: paths.idOf('?'), number: ++last, cursor: NaN }));
    return info;
  };

  context.record<FileSystemFileHandle>(fileHandle, 'createSyncAccessHandle', {
    begin: (self) =>
      recorder.begin(Op.opfsOpenSyncAccessHandle, paths.idOf(paths.of(self)), NaN, 0),
    end(token, promise, self) {
      const file = paths.idOf(paths.of(self));
      endWith(token, promise, (handle) =>
        open.set(handle as AccessHandle, { file, number: ++last, cursor: 0 }),
      );
    },
  });

  const prototype = context.proto('FileSystemSyncAccessHandle');
  for (const name of ['read', 'write'] as const) {
    const op = name === 'read' ? Op.opfsRead : Op.opfsWrite;
    let at = NaN; // calls don't nest: this belongs to the current call
    context.record<AccessHandle>(prototype, name, {
      begin(self, args) {
        const info = infoOf(self);
        const options = args[1] as { at?: unknown } | null | undefined;
        let given: unknown;
        if (typeof options === 'object' && options !== null) {
          try {
            given = options.at;
            args[1] = { at: given }; // the app's getter runs once, as it does without us
          } catch (error) {
            given = NaN;
            args[1] = {
              get at() {
                throw error;
              },
            };
          }
        }
        at = given === undefined ? info.cursor : numberOf(given);
        const data = args[0] as ArrayBuffer | ArrayBufferView;
        const length = byteLengthOf(data);
        if (op === Op.opfsRead) return recorder.begin(op, info.file, at, length, 0, info.number);
        wal.look(info.file, at, data, length);
        return recorder.begin(op, info.file, at, length, wal.aux, info.number, wal.aux2);
      },
      end(token, result, self) {
        const bytes = typeof result === 'number' ? result : 0;
        recorder.end(token, bytes);
        infoOf(self).cursor = at + bytes;
      },
    });
  }
  context.record<AccessHandle>(prototype, 'truncate', {
    begin: (self, args) =>
      recorder.begin(
        Op.opfsTruncate,
        infoOf(self).file,
        numberOf(args[0]),
        0,
        0,
        infoOf(self).number,
      ),
    end(token, result, self, args) {
      const info = infoOf(self);
      const size = numberOf(args[0]);
      if (info.cursor > size) info.cursor = size;
      else if (Number.isNaN(size)) info.cursor = NaN; // not known any more
      endCall(token, result);
    },
  });
  const endCall = (token: number, result: unknown): void => {
    if (typeof result === 'object' && result !== null)
      endWith(token, result); // browsers in which these calls were asynchronous
    else recorder.end(token, typeof result === 'number' ? Math.min(result, 0x7fffffff) : 0);
  };
  for (const [name, op] of [
    ['flush', Op.opfsFlush],
    ['getSize', Op.opfsGetSize],
    ['close', Op.opfsClose],
  ] as const)
    context.record<AccessHandle>(prototype, name, {
      begin: (self) => recorder.begin(op, infoOf(self).file, NaN, 0, 0, infoOf(self).number),
      end: endCall,
    });
}
