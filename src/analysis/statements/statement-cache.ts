/**
 * Page-cache counters by statement. The engine's counters are read when a statement is done. Their
 * growth since the previous reading belongs to the statement stepped in between, if there was only
 * one; otherwise it isn't divided. Preparing a statement reads the schema once, which counts for
 * the statement that is done first.
 */
import { getOrMake } from '../core/maps.ts';
import { Op } from '../../event/event.ts';
import { isStatementOp } from '../../event/operations.ts';
import { Rc } from '../../sqlite/constants.ts';
import type { ThreadStore } from '../../trace/store.ts';
import type { CacheCounts, CounterDeltas } from '../core/counter-deltas.ts';

const SEVERAL = -2;

interface Since {
  /**
   * Text of the statement stepped since the last reading: an `sql` definition's id; -1 = none yet,
   * SEVERAL.
   */
  text: number;
  /** The counters were read, and had not changed unless a reading follows. */
  read: boolean;
  /** Statement instances stepped since the counters were last read after them. */
  stepped: Set<number>;
}

/**
 * @param each called for every known reading, with the id of the `sql` definition, or null if it
 * isn't known
 */
export function eachCacheShare(
  thread: ThreadStore,
  deltas: CounterDeltas,
  each: (text: number | null, row: number, counts: CacheCounts) => void,
): void {
  if (deltas.count === 0) return;
  const { events } = thread;
  const connections = new Map<number, Since>();
  let next = 0;
  for (let row = 0; row < events.count && next < deltas.count; row++) {
    const op = events.op[row]!;
    if (op !== Op.sqlCounters && (!isStatementOp(op) || op === Op.sqlPrepare)) continue;
    const connection = events.context[row]!;
    const since = getOrMake(connections, connection, () => ({
      text: -1,
      read: false,
      stepped: new Set<number>(),
    }));
    if (op === Op.sqlCounters) {
      const counts = deltas.numbers(next);
      if (deltas.known[next]) each(since.text >= 0 ? since.text : null, row, counts);
      next++;
      since.text = -1;
      since.read = false;
      continue;
    }
    const instance = events.aux[row]!;
    if (op === Op.sqlStep || op === Op.sqlExec) {
      if (since.read) since.text = -1;
      since.read = false;
      const text = events.object[row]!;
      since.text = since.text === -1 || since.text === text ? text : SEVERAL;
      // a nested or suspended call may end after others began: its reading comes late, and counts
      // as shared by several
      if (events.endSeq[row] !== 0 && (op === Op.sqlExec || events.result[row] !== Rc.row)) {
        since.stepped.delete(instance);
        since.read = true;
      } else since.stepped.add(instance);
    } else if (since.stepped.delete(instance)) since.read = true;
  }
}
