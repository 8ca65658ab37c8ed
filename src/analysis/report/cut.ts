/**
 * A trace cut to ranges of time that the app itself marked: `performance.mark('vfscope:start')` ..
 * `performance.mark('vfscope:stop')`, on any thread. The marks of one thread apply to all threads,
 * and the ranges of several threads are combined.
 */
import { Op } from '../../event/event.ts';
import { belowWithin } from '../../trace/below-storage.ts';
import { samplesWithin } from '../../trace/cpu-samples.ts';
import { TraceStore, type ThreadStore } from '../../trace/store.ts';
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';

export const START_MARK = 'vfscope:start';
export const STOP_MARK = 'vfscope:stop';

/** [fromUs, toUs], microseconds of the trace. */
type Range = readonly [fromUs: number, toUs: number];

/**
 * Ranges in order, without overlap. A start without a stop lasts to the end, a stop without a start
 * counts from the beginning, and a second start is ignored.
 * @returns [] without marks
 */
export function markedRanges(store: TraceStore): Range[] {
  const found: [number, number][] = [];
  for (const { events, definitions } of store.threads) {
    let since: number | null = null;
    let seen = false;
    for (let row = 0; row < events.count; row++) {
      if (events.op[row] !== Op.mark) continue;
      const d = definitions.get(events.object[row]!);
      const name = d?.kind === 'name' ? d.text : '';
      const us = events.t0[row]!;
      if (name === START_MARK) since ??= us;
      else if (name === STOP_MARK && (since !== null || !seen)) {
        found.push([since ?? -Infinity, us]);
        since = null;
      }
      seen ||= name === START_MARK || name === STOP_MARK;
    }
    if (since !== null) found.push([since, Infinity]);
  }
  found.sort((a, b) => a[0] - b[0]);
  const united: [number, number][] = [];
  for (const range of found) {
    const last = united.at(-1);
    if (last && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else united.push([...range]);
  }
  return united;
}

interface Cut {
  store: TraceStore;
  /** Events left out. */
  left: number;
}

/**
 * A copy with the events that begin in a range, and the meanings of their ids. A call that began
 * before a range isn't in it, nor is its end. Dropped counts stay, because their times aren't
 * known. A note states what was left out.
 */
export function cutTo(store: TraceStore, ranges: readonly Range[]): Cut {
  const out = new TraceStore(store.originMs);
  let left = 0;
  for (const thread of store.threads) {
    const copy = out.thread(thread.info);
    for (const d of thread.said) copy.define(d);
    const { events } = thread;
    let kept = 0;
    for (const [fromUs, toUs] of ranges) {
      const [from, to] = [events.lowerBound(fromUs), behind(thread, toUs)];
      if (to <= from) continue;
      copy.appendRows(events.part(from, to));
      kept += to - from;
    }
    left += events.count - kept;
    copy.cpu = thread.cpu && samplesWithin(thread.cpu, ranges);
    for (const key of [
      'dropped',
      'missing',
      'faults',
      'received',
      'orphanEnds',
      'ended',
      'unknownUntilUs',
    ] as const)
      Object.assign(copy, { [key]: thread[key] });
  }
  out.below = store.below && belowWithin(store.below, ranges);
  const text = noteText(store, ranges, left);
  out.threads[0]?.define({ kind: 'note', id: 0, topic: 'cut', text });
  return { store: out, left };
}

/** Row after the last one that begins at `us` or before. */
function behind({ events }: ThreadStore, us: number): number {
  let row = us === Infinity ? events.count : events.lowerBound(us);
  while (row < events.count && events.t0[row]! <= us) row++;
  return row;
}

function noteText(store: TraceStore, ranges: readonly Range[], left: number): string {
  const [from, to] = store.extent();
  const us = ranges.reduce((sum, [a, b]) => sum + Math.min(b, to) - Math.max(a, from), 0);
  return (
    `Only what began between the marks ${START_MARK} and ${STOP_MARK} is saved: ${countOf(ranges.length, 'range')}, ` +
    `${formatDuration(Math.max(0, us))} of ${formatDuration(to - from)}. ${formatCount(left)} events outside are left out.`
  );
}
