/**
 * Total calls of the browser's storage APIs, over all threads. All are null if the recording leaves
 * storage calls out.
 */
import type { TraceStore } from '../../trace/store.ts';
import { isWebOp } from '../../event/operations.ts';
import { isReadwrite, isWebCall, WEB_CALLS } from '../../event/web-calls.ts';
import { fact } from '../core/graph.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { leavesOut } from '../core/layers.ts';

type Calls = typeof WEB_CALLS;
/**
 * Calls, bytes that reads returned and writes carried, and IndexedDB transactions of mode
 * readwrite.
 */
type Named<N> = { [Api in keyof Calls]: Record<keyof Calls[Api], N> };
export type WebCounts<N = number | null> = Named<N> & {
  opfs: { readBytes: N; writeBytes: N };
  idb: { readwriteTransactions: N };
  http: { readBytes: N };
};

/** null if the recording leaves storage calls out. */
export const knownWeb = (web: WebCounts): WebCounts<number> | null =>
  web.locks.requests === null ? null : (web as WebCounts<number>);

export const webCounts = fact('webCounts', 'storage calls', {}, webCountsOf);

function webCountsOf(store: TraceStore): WebCounts {
  const seen = !leavesOut(store, 'web');
  const calls = new Float64Array(256);
  const bytes = new Float64Array(256);
  let readwrite = 0;
  for (const thread of store.threads) {
    const { op, aux, flags, count } = thread.events;
    for (let i = 0; i < count; i++) {
      const code = op[i]!;
      if (!isWebOp(code) || !isWebCall(code, flags[i]!)) continue;
      calls[code]!++;
      bytes[code]! += bytesMoved(thread.events, i);
      if (isReadwrite(code, aux[i]!)) readwrite++;
    }
  }
  const sum = (of: Float64Array, ops: readonly number[]): number | null =>
    seen ? ops.reduce((all, op) => all + of[op]!, 0) : null;
  const named = <Api extends keyof Calls>(api: Api): Record<keyof Calls[Api], number | null> =>
    Object.fromEntries(
      Object.entries(WEB_CALLS[api]).map(([name, ops]) => [name, sum(calls, ops as number[])]),
    ) as Record<keyof Calls[Api], number | null>;
  return {
    opfs: {
      ...named('opfs'),
      readBytes: sum(bytes, WEB_CALLS.opfs.reads),
      writeBytes: sum(bytes, WEB_CALLS.opfs.writes),
    },
    idb: { ...named('idb'), readwriteTransactions: seen ? readwrite : null },
    locks: named('locks'),
    localStorage: named('localStorage'),
    http: { ...named('http'), readBytes: sum(bytes, WEB_CALLS.http.requests) },
  };
}
