/**
 * Formats an event of the store for the tables and the details pane: numbers become text as late as
 * possible.
 */
import {
  detailText,
  flagTexts,
  hasKey,
  isFailure,
  isInstant,
  lengthOf,
  objectName,
  offsetOf,
  resultText,
  statementText,
} from '../../trace/describe.ts';
import { OPS, opName } from '../../event/operations.ts';
import { formatCount } from '../../text/numbers.ts';
import type { Definition } from '../../event/definitions.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../trace/store.ts';
import type { EventDetails, EventLine } from '../../protocol/session.ts';
import { threadTitles } from '../../analysis/core/thread-titles.ts';

/** More children aren't useful to read, so the rest is only counted. */
const MAX_CHILDREN = 200;

/** @throws RangeError if there is no such row */
export function lineOfEvent(t: ThreadStore, row: number): EventLine {
  const e = t.events.row(row);
  const layer = OPS[e.op]?.layer ?? 'host';
  const open = e.endSeq === 0;
  const place = offsetOf(t.events, row);
  return {
    thread: t.index,
    seq: e.seq,
    t0: e.t0,
    dur: e.dur,
    open,
    instant: !open && e.dur === 0 && isInstant(e.op),
    clockStepUs: t.environment?.clockStepUs ?? null,
    layer,
    name: opName(e.op),
    object: objectName(t, e.object),
    offset: hasKey(t.events, row) ? null : place,
    length: lengthOf(t.events, row),
    result: e.result,
    resultText: resultText(e.op, e.result, e.flags),
    failed: isFailure(e.op, e.result, e.flags),
    statement: statementText(t, row),
    connection: e.context || null,
    detail: [
      detailText(t, row),
      hasKey(t.events, row) && place !== null ? `key ${formatCount(place)}` : '',
    ]
      .filter(Boolean)
      .join(', '),
  };
}

/** @throws RangeError if there is no such event, or not any more */
export function detailsOfEvent(store: TraceStore, { thread, seq }: EventRef): EventDetails {
  const t = store.threads[thread];
  if (!t) throw new RangeError(`thread ${thread} of ${store.threads.length}`);
  const row = t.rowOf(seq);
  const e = t.events.row(row);
  const parentRow = t.events.parentRow(row);
  const { children, childCount } = childrenOf(t, row);
  return {
    ...lineOfEvent(t, row),
    flags: flagTexts(e.flags),
    threadTitle: threadTitles(store)[thread]!,
    hasMessages: t.environment?.capture.messages ?? false,
    engine: engineOf(t, e.object),
    parent: parentRow < 0 ? null : { ...t.ref(parentRow), name: opName(t.events.op[parentRow]!) },
    children: children.map((child) => ({
      ...t.ref(child),
      name: opName(t.events.op[child]!),
      dur: t.events.dur[child]!,
    })),
    childCount,
  };
}

/** Calls made within this one. They started before it ended, so the search stops at its end. */
function childrenOf(
  { events }: ThreadStore,
  row: number,
): { children: number[]; childCount: number } {
  const seq = events.seq[row]!;
  const end = events.endSeq[row] || Infinity;
  const children: number[] = [];
  let childCount = 0;
  for (let i = row + 1; i < events.count && events.seq[i]! < end; i++) {
    if (events.parent[i] !== seq) continue;
    if (childCount++ < MAX_CHILDREN) children.push(i);
  }
  return { children, childCount };
}

/** The engine that opened the file, or the only engine of the thread. */
function engineOf(thread: ThreadStore, object: number): string {
  const definition: Definition | undefined = thread.definitions.get(object);
  const engine =
    definition?.kind === 'file'
      ? thread.engines.find((e) => e.id === definition.engine)
      : thread.engines.length === 1
        ? thread.engines[0]
        : undefined;
  return engine ? [engine.name, engine.sqliteVersion].filter(Boolean).join(' ') : '';
}
