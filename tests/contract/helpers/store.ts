/** A recording as a store that analyses read. */
import type { TraceStore } from '../../../src/trace/store.ts';
import { batchOf, newStore } from '../../traces/builder.ts';
import type { Row, Traced } from './traced.ts';

/** @param rows some of the recorded calls @param leaveOut operations to skip */
export function storeOf(
  t: Traced,
  rows: readonly Row[] = t.all(),
  leaveOut: readonly number[] = [],
): TraceStore {
  const store = newStore();
  const info = {
    id: 't',
    kind: 'worker' as const,
    url: '',
    name: '',
    parent: null,
    timeOrigin: store.originMs,
  };
  const records = rows
    .filter((r) => !leaveOut.includes(r.op))
    .map((r) => [
      ...[
        r.t0 * 1000,
        r.t1 * 1000,
        r.seq,
        r.endSeq,
        r.op | (r.flags << 8),
        r.result,
        r.offset,
        r.length,
        r.object,
        r.parent,
      ],
      ...[r.context, r.aux, r.aux2],
    ]);
  store.thread(info).append(batchOf(info, 0, records, t.definitions));
  return store;
}
