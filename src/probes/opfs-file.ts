/**
 * Reads of Files that came from getFile(), and of their slices: arrayBuffer, text, bytes, stream,
 * FileReader. Not seen: a File handed to fetch, Response, createImageBitmap or another thread.
 */
import { Flag, Op } from '../event/event.ts';
import { failureIn } from '../event/exceptions.ts';
import type { EndWith } from './end-with.ts';
import type { ProbeContext } from './context.ts';
import { apply } from '../record/reflect.ts';

const listen = EventTarget.prototype.addEventListener;

interface OpfsFiles {
  /** This Blob is the file with that id, from byte 0. */
  learn(blob: Blob, file: number): void;
}

/** Record reads of Blobs that are known to be OPFS files. */
export function installOpfsFiles(context: ProbeContext, endWith: EndWith): OpfsFiles {
  const { recorder, patches } = context;
  const files = new WeakMap<Blob, { file: number; from: number }>();
  const prototype = context.proto('Blob');

  patches.method(prototype, 'slice', (native, self, args) => {
    const slice = apply(native, self, args) as Blob;
    try {
      const of = files.get(self as Blob);
      if (of) {
        const size = (self as Blob).size;
        const start = typeof args[0] === 'number' ? Math.trunc(args[0]) || 0 : 0;
        files.set(slice, {
          file: of.file,
          from: of.from + (start < 0 ? Math.max(0, size + start) : Math.min(start, size)),
        });
      }
    } catch (e) {
      recorder.fault('Blob.slice', e);
    }
    return slice;
  });

  /** Most Blobs of a page aren't OPFS files: these calls pass straight through. */
  const ofFile = (blob: unknown): { file: number; from: number } | undefined =>
    typeof blob === 'object' && blob !== null ? files.get(blob as Blob) : undefined;
  const begin = (blob: Blob): number => {
    const of = ofFile(blob);
    return of ? recorder.begin(Op.opfsFileRead, of.file, of.from, blob.size) : -1;
  };
  for (const name of ['arrayBuffer', 'text', 'bytes'])
    context.record<Blob>(prototype, name, {
      begin,
      end: (token, promise, self) => ofFile(self) && endWith(token, promise),
    });
  context.record<Blob>(prototype, 'stream', {
    begin,
    // read piece by piece later, by the code that gets the stream
    end: (token) => recorder.end(token, 0, Flag.untimed),
  });

  for (const type of ['FileReader', 'FileReaderSync'])
    for (const name of ['readAsArrayBuffer', 'readAsText', 'readAsBinaryString', 'readAsDataURL'])
      context.record<EventTarget>(context.proto(type), name, {
        begin: (_self, args) => begin(args[0] as Blob),
        end(token, _result, self, args) {
          if (!ofFile(args[0])) return;
          if (type === 'FileReaderSync') recorder.end(token, 0);
          else {
            const ended = (): void =>
              recorder.end(token, failureIn((self as FileReader).error), Flag.async);
            apply(listen, self, ['loadend', ended, { once: true }]);
          }
        },
      });
  return { learn: (blob, file) => void files.set(blob, { file, from: 0 }) };
}
