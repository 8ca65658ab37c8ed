/**
 * Atomics.wait, waitAsync, and notify: object = the shared buffer, offset = byte address in it. Not
 * seen: waits compiled into wasm (pthreads).
 */
import { Flag, Op } from '../event/event.ts';
import { react } from '../record/reaction.ts';
import { NOTHING } from '../record/recorder.ts';
import type { ProbeContext } from './context.ts';
import { numberOf } from '../record/reflect.ts';

const ignore = (): void => {};
/** Result codes of a wait. */
const OUTCOME: Record<string, number> = { ok: 0, 'not-equal': 1, 'timed-out': 2 };

/** Record waits and notifications of this thread until the context's patches are restored. */
export function installAtomics(context: ProbeContext): void {
  const { recorder } = context;
  const atomics = context.scope.Atomics as object | undefined;
  const buffers = new WeakMap<ArrayBufferLike, number>();
  const begin = (op: number, [view, index]: unknown[]): number => {
    if (!ArrayBuffer.isView(view)) return NOTHING; // refused
    const array = view as Int32Array;
    let id = buffers.get(array.buffer);
    if (id === undefined) {
      id = recorder.define({
        kind: 'name',
        text: `${array.buffer instanceof ArrayBuffer ? '' : 'Shared'}ArrayBuffer ${buffersSeen++} (${array.buffer.byteLength} bytes)`,
      });
      buffers.set(array.buffer, id);
    }
    return recorder.begin(op, id, array.byteOffset + numberOf(index) * array.BYTES_PER_ELEMENT, 0);
  };
  let buffersSeen = 1;
  context.record(atomics, 'wait', {
    begin: (_self, args) => begin(Op.atomicsWait, args),
    end: (token, result) => recorder.end(token, OUTCOME[String(result)] ?? 0),
  });
  context.record(atomics, 'waitAsync', {
    begin: (_self, args) => begin(Op.atomicsWaitAsync, args),
    end(token, result) {
      const { async, value } = result as { async: boolean; value: unknown };
      if (!async) recorder.end(token, OUTCOME[String(value)] ?? 0);
      // this promise never rejects, so our reaction to it changes nothing
      else
        void react(
          value as Promise<unknown>,
          (outcome) => recorder.end(token, OUTCOME[String(outcome)] ?? 0, Flag.async),
          ignore,
        );
    },
  });
  context.record(atomics, 'notify', {
    begin: (_self, args) => begin(Op.atomicsNotify, args),
    end: (token, result) => recorder.end(token, Number(result)),
  });
}
