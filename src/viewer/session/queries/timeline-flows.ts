/**
 * Arrows of the timeline for the selected event: from a statement to its I/O, from a waiting call
 * to the lock's holder.
 */
import type { Locks } from '../../../analysis/locks/locks.ts';
import { ownersOf, type Owners } from '../../../trace/owners.ts';
import { Op } from '../../../event/event.ts';
import { laneOfOp } from '../../../trace/lanes/lanes.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import type { EventRef, ThreadStore } from '../../../trace/store.ts';
import type { QueryContext } from './context.ts';
import { locks } from '../../../analysis/locks/locks.ts';
import type { Flows } from '../../../protocol/answers/timeline-flows.ts';

/** More arrows hide what they show. */
const MAX_ARROWS = 60;

export const timelineFlowQueries = {
  timelineFlows(context: QueryContext, args: EventRef): Flows {
    const thread = context.store.threads[args.thread];
    const row = thread?.events.rowOfSeq(args.seq) ?? -1;
    const answer: Flows = { flows: [], calls: 0, holders: [], cause: null, effect: null };
    if (!thread || row < 0) return answer;
    io(thread, row, answer);
    waits(context, thread, row, answer);
    const [holder] = answer.holders;
    if (holder) answer.effect ??= { thread: holder.thread, seq: holder.seq };
    return answer;
  },
};

function io(thread: ThreadStore, row: number, answer: Flows): void {
  const { events } = thread;
  const owners = ownersOf(thread);
  const lane = laneOfOp(events.op[row]!);
  const key = (kind: string): string => `${thread.index}:${kind}`;
  if (lane !== 'sql') {
    const statement = lane ? owners.statement(row) : -1;
    if (statement < 0) return;
    answer.cause = thread.ref(statement);
    answer.flows.push({
      from: { lane: key('sql'), us: Math.max(events.t0[statement]!, events.t0[row]!) },
      to: { lane: key(lane!), us: events.t0[row]! },
      kind: 'io',
    });
    return;
  }
  const end = events.endSeq[row] || Infinity;
  const below: { web: number[]; vfs: number[] } = { web: [], vfs: [] };
  for (let i = row + 1; i < events.count && events.seq[i]! < end; i++) {
    const kind = laneOfOp(events.op[i]!);
    if ((kind === 'web' || kind === 'vfs') && owners.statement(i) === row) below[kind].push(i);
  }
  const kind = below.web.length ? 'web' : 'vfs';
  answer.calls = below[kind].length;
  const calls = below[kind];
  if (calls.length) answer.effect = thread.ref(calls[0]!);
  const every = Math.max(1, Math.ceil(calls.length / MAX_ARROWS));
  for (let i = 0; i < calls.length; i += every) {
    const us = events.t0[calls[i]!]!;
    answer.flows.push({ from: { lane: key('sql'), us }, to: { lane: key(kind), us }, kind: 'io' });
  }
}

/**
 * Whether an event is related to a wait of its thread: it requested the lock, or ran within the
 * call that did, or the lock was requested on its behalf. Requests of a waiting IndexedDB
 * transaction are related, too. A chain of refusals includes every xLock and statement of the
 * connection.
 */
function isPartOf(
  { waits, resources }: Locks,
  wait: number,
  { events }: ThreadStore,
  own: Owners,
  row: number,
): boolean {
  const [asked, connection] = [waits.row[wait]!, waits.context[wait]];
  if (events.serves(row, asked) || events.serves(asked, row)) return true;
  const { kind } = resources[waits.resource[wait]!]!;
  if (kind === 'idb')
    return laneOfOp(events.op[row]!) === 'web' && events.context[row] === connection;
  if (kind !== 'sqlite') return false;
  const asks = own.engine(row);
  return (
    asks >= 0 &&
    events.context[asks] === connection &&
    (events.op[asks] === Op.xLock || laneOfOp(events.op[asks]!) === 'sql')
  );
}

function waits(context: QueryContext, thread: ThreadStore, row: number, answer: Flows): void {
  const known = context.facts.get(locks);
  const { events } = thread;
  const own = ownersOf(thread);
  const from = events.t0[row]!;
  // the wait of a running call shows how long it takes
  const to = events.endSeq[row] === 0 ? Infinity : from + Math.max(events.dur[row]!, 0.001);
  const best = new Map<number, { edge: Locks['edges'][number]; us: number }>();
  for (const edge of known.edges) {
    if (edge.fromUs > to) break;
    if (
      edge.waiter !== thread.index ||
      edge.toUs < from ||
      !isPartOf(known, edge.wait, thread, own, row)
    )
      continue;
    const us = Math.min(to, edge.toUs) - Math.max(from, edge.fromUs);
    if (us > (best.get(edge.holder)?.us ?? 0)) best.set(edge.holder, { edge, us });
  }
  if (!best.size) return;
  const { threads } = context.store;
  const titles = threadTitles(context.store);
  for (const { edge, us } of best.values()) {
    const lock = (index: number): string => `${index}:lock`;
    answer.flows.push({
      from: { lane: lock(edge.waiter), us: Math.max(from, edge.fromUs) },
      to: { lane: lock(edge.holder), us: Math.max(edge.fromUs, known.holds.from[edge.firstHold]!) },
      kind: 'wait',
    });
    answer.holders.push({
      ...threads[edge.holder]!.ref(known.holds.row[edge.firstHold]!),
      title: titles[edge.holder]!,
      waitedUs: us,
      resource: known.resources[edge.resource]?.name ?? '',
    });
  }
  answer.holders.sort((a, b) => b.waitedUs - a.waitedUs);
}
