/**
 * Checks the recording against the browser: whether it reported as many storage calls of each kind
 * as vfscope recorded. The browser's trace ends a moment before the recording, and the two clocks
 * differ slightly. So an app that keeps calling is compared until its last pause.
 */
import { opName } from '../../event/operations.ts';
import { idbMode, VERSIONCHANGE } from '../../event/idb-modes.ts';
import { Op } from '../../event/event.ts';
import { BROWSER, PAGE_CALLS, UNRECORDED, type BelowStorage } from '../../trace/below-storage.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { capturesWeb } from '../core/layers.ts';

export interface CallDifference {
  /** `idb.put`, `opfs.write`. */
  call: string;
  recorded: number;
  reported: number;
  /** What may have caused it, as a sentence. */
  why: string;
}
export interface CallCheck {
  verdict: 'equal' | 'different' | 'not compared';
  /** Calls that the browser reported and that were compared. */
  reported: number;
  differences: CallDifference[];
  /** Calls that came after the app's last pause. */
  after: number;
  /** Why nothing was compared, as a sentence; null if it was. */
  why: string | null;
}

/** A pause is at least this long, plus the difference of the clocks. */
const PAUSE_US = 1000;

/** null if the browser wasn't asked. */
export const callCheck = fact(
  'callCheck',
  'what the browser counts',
  {},
  (store): CallCheck | null => {
    const { below } = store;
    if (!below) return null;
    const why = notComparable(store, below);
    if (why !== null)
      return { verdict: 'not compared', reported: 0, differences: [], after: 0, why };
    const calls = callsOf(store, below);
    const untilUs = lastPause(calls, below.clockErrorUs);
    const counts = new Map<number, { recorded: number; reported: number; elsewhere: number }>();
    let [reported, after] = [0, 0];
    for (const { op, us, by } of calls) {
      if (us > untilUs) {
        after++;
        continue;
      }
      const count = counts.get(op) ?? { recorded: 0, reported: 0, elsewhere: 0 };
      counts.set(op, count);
      if (by === 'us') count.recorded++;
      else {
        count.reported++;
        reported++;
        if (by === 'unrecorded') count.elsewhere++;
      }
    }
    const lost = store.dropped;
    const differences = [...counts]
      .filter(([, count]) => count.recorded !== count.reported)
      .sort(([a], [b]) => a - b)
      .map(([op, { recorded, reported: theirs, elsewhere }]) => ({
        call: opName(op),
        recorded,
        reported: theirs,
        why: causeOf(recorded, theirs, elsewhere, lost),
      }));
    const verdict = differences.length ? 'different' : 'equal';
    return { verdict, reported, differences, after, why: null };
  },
);

function notComparable(store: TraceStore, { lost }: BelowStorage): string | null {
  if (lost)
    return 'The browser had more to report than there was room for. Record for a shorter time.';
  if (!store.threads.some(capturesWeb)) return 'The recording leaves storage calls out.';
  if (store.threads.some(({ notes }) => notes.some(({ topic }) => topic === 'cut')))
    return 'The recording was cut to its marks. Record without --marks.';
  return null;
}

function causeOf(recorded: number, reported: number, elsewhere: number, lost: number): string {
  if (recorded > reported)
    return reported === 0
      ? 'This browser may report these calls by another name.'
      : 'The browser may have lost some, or report some by another name.';
  if (elsewhere >= reported - recorded)
    return "Threads of the page that vfscope doesn't record made them.";
  return lost
    ? 'vfscope lost events of this recording.'
    : "Code that vfscope's hook doesn't reach may have made them, such as a content script.";
}

interface Call {
  op: number;
  us: number;
  by: 'us' | 'browser' | 'unrecorded';
}

/** Calls of both, in order of time. */
function callsOf(store: TraceStore, { threads, kinds, us }: BelowStorage): Call[] {
  const calls: Call[] = [];
  for (const { events } of store.threads)
    for (let i = 0; i < events.count; i++) {
      const op = events.op[i]!;
      // the browser makes the transaction of an upgrade itself
      if (op === Op.idbTransaction && idbMode(events.aux[i]!) === VERSIONCHANGE) continue;
      if (PAGE_CALLS.has(op)) calls.push({ op, us: events.t0[i]!, by: 'us' });
    }
  threads.forEach((thread, i) => {
    if (thread === BROWSER) return;
    const by = thread === UNRECORDED ? 'unrecorded' : 'browser';
    calls.push({ op: kinds[i]!, us: us[i]!, by });
  });
  return calls.sort((a, b) => a.us - b.us);
}

/** When the last call before a pause began, among those that the browser can have reported. */
function lastPause(calls: readonly Call[], clockErrorUs: number): number {
  const lastUs = calls.findLast(({ by }) => by !== 'us')?.us;
  // it reported none, so everything that was recorded is a difference
  if (lastUs === undefined) return Infinity;
  for (let i = calls.length - 1; i >= 0; i--) {
    const { us } = calls[i]!;
    const next = calls[i + 1]?.us ?? Infinity;
    if (us <= lastUs + clockErrorUs && next - us >= PAUSE_US + 2 * clockErrorUs) return us;
  }
  return -Infinity;
}
