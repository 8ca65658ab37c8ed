/**
 * Sync access handles and Web Locks over all threads: who had what from when to when, and who was refused or waited. Few rows each, so
 * objects will do; times of two threads compare to within the clock's step.
 */
import { plainPath } from '../../event/file-names.ts';
import { Flag, Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { originOfThread } from '../core/thread-origin.ts';
import { type FindingContext, findingFact } from '../rules/context.ts';

export interface Held {
  thread: ThreadStore;
  row: number;
  /** Origin and path, or origin and name. */
  key: string;
  name: string;
  exclusive: boolean;
  fromUs: number;
  /** Given back, or the thread's end. */
  toUs: number;
  /** Given back before that. */
  closed: boolean;
}
export interface Refused {
  thread: ThreadStore;
  row: number;
  key: string;
  name: string;
  exclusive: boolean;
  fromUs: number;
  toUs: number;
  /** Not answered before the trace ended. */
  pending: boolean;
}

/** When a thread went away, or the trace's end. */
function endOf(ctx: FindingContext, { ended, events }: ThreadStore): number {
  if (ended === null || ended === 'stopped' || events.count === 0) return ctx.toUs;
  let last = 0;
  for (let row = Math.max(0, events.count - 64); row < events.count; row++)
    last = Math.max(last, events.t0[row]! + events.dur[row]!);
  return last;
}

/** Handles in the order of opening on each thread, and calls of createSyncAccessHandle that failed. */
export const accessHandles = findingFact('accessHandles', 'access handles', accessHandlesOf);

function accessHandlesOf(ctx: FindingContext): { held: Held[]; refused: Refused[] } {
  const held: Held[] = [];
  const refused: Refused[] = [];
  for (const thread of ctx.store.threads) {
    const { events } = thread;
    const opens = ctx.rows(thread, Op.opfsOpenSyncAccessHandle);
    const closes = ctx.rows(thread, Op.opfsClose);
    if (opens.length === 0) continue;
    const [origin, endUs] = [originOfThread(thread), endOf(ctx, thread)];
    const open = new Map<number, Held[]>();
    let next = 0;
    const closeUpTo = (seq: number): void => {
      for (; next < closes.length && events.seq[closes[next]!]! < seq; next++) {
        const handle = open.get(events.object[closes[next]!]!)?.shift();
        if (!handle) continue;
        handle.toUs = events.t0[closes[next]!]! + events.dur[closes[next]!]!;
        handle.closed = true;
      }
    };
    for (const row of opens) {
      const object = events.object[row]!;
      const name = ctx.text(thread, object);
      const [fromUs, toUs] = [events.t0[row]!, events.t0[row]! + events.dur[row]!];
      const common = { thread, row, key: `${origin}\0${plainPath(name)}`, name, exclusive: true };
      if (events.endSeq[row] === 0 || events.flags[row]! & Flag.threw || events.result[row] !== 0) {
        if (events.endSeq[row] !== 0) refused.push({ ...common, fromUs, toUs, pending: false });
        continue;
      }
      closeUpTo(events.endSeq[row]!);
      const handle = { ...common, fromUs: toUs, toUs: endUs, closed: false };
      const list = open.get(object);
      if (list) list.push(handle);
      else open.set(object, [handle]);
      held.push(handle);
    }
    closeUpTo(Infinity);
  }
  return { held, refused };
}

/** Web Locks: holds, and requests that were not granted at once (`lockRequest` lasts from the call to the grant). */
export const webLocks = findingFact('webLocks', 'Web Locks', webLocksOf);

function webLocksOf(ctx: FindingContext): { held: Held[]; waits: Refused[] } {
  const held: Held[] = [];
  const waits: Refused[] = [];
  for (const thread of ctx.store.threads) {
    const { events } = thread;
    const [origin, endUs] = [originOfThread(thread), endOf(ctx, thread)];
    for (const op of [Op.lockHeld, Op.lockRequest])
      for (const row of ctx.rows(thread, op)) {
        const open = events.endSeq[row] === 0;
        const name = ctx.text(thread, events.object[row]!);
        const common = {
          thread,
          row,
          key: `${origin}\0${name}`,
          name,
          exclusive: (events.aux[row]! & 1) === 0,
        };
        const [fromUs, toUs] = [events.t0[row]!, open ? endUs : events.t0[row]! + events.dur[row]!];
        if (op === Op.lockHeld) held.push({ ...common, fromUs, toUs, closed: !open });
        else waits.push({ ...common, fromUs, toUs, pending: open });
      }
  }
  return { held, waits };
}

/** What another one holds of the same key during a time, in a mode that excludes it. */
export function holdersOf(
  index: ReadonlyMap<string, readonly Held[]>,
  { key, exclusive, fromUs, toUs, thread }: Refused,
): Held[] {
  return (index.get(key) ?? []).filter(
    (h) =>
      (h.exclusive || exclusive) &&
      h.fromUs < toUs + 1 &&
      h.toUs > fromUs &&
      (h.thread !== thread || h.fromUs < fromUs),
  );
}
export function byKey(held: readonly Held[]): Map<string, Held[]> {
  const found = new Map<string, Held[]>();
  for (const h of held) {
    const list = found.get(h.key);
    if (list) list.push(h);
    else found.set(h.key, [h]);
  }
  return found;
}

/** How a sentence calls a thread. */
export const nameOf = ({ info }: ThreadStore): string =>
  `${info.kind} ${info.name || info.url.replace(/^.*\//, '') || info.id}`;
