/**
 * Messages to workers that aren't recorded, and what came back next. Only how long that took is
 * known.
 *
 *   page     post |...............| listeners        a guess from their order
 *   worker          not recorded
 */
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { channelEnds, type ChannelEnd } from './channel-ends.ts';
import { matchInOrder } from './in-order.ts';

export interface UnrecordedRequest {
  readonly end: ChannelEnd;
  /** Row of the call of postMessage. */
  readonly row: number;
  /** Row of the listeners of what came back; -1 = nothing did. */
  readonly heardRow: number;
  /** From the call of postMessage until those had finished, microseconds; 0 = nothing came back. */
  readonly totalUs: number;
}

/** In order of time. */
export const unrecordedRequests = fact(
  'unrecordedRequests',
  'messages between threads',
  { channelEnds },
  (store, { channelEnds: ends }): readonly UnrecordedRequest[] => {
    const asks = asking(store, ends);
    const us = ({ end, row }: UnrecordedRequest): number => end.thread.events.t0[row]!;
    return ends
      .filter(asks)
      .flatMap(requestsOf)
      .sort((a, b) => us(a) - us(b));
  },
);

/** Whether an end posts to a worker that isn't recorded. The other end of a port isn't known. */
function asking(
  { threads }: TraceStore,
  ends: readonly ChannelEnd[],
): (end: ChannelEnd) => boolean {
  const recorded = new Set(threads.map(({ info }) => info.id));
  const served = new Set(
    ends.flatMap(({ channel: { channel, side, key } }) =>
      channel === 'shared-worker' && side === 2 ? [key] : [],
    ),
  );
  return ({ peer, channel: { channel, side, key } }) => {
    if (peer) return false;
    if (channel === 'worker') return !recorded.has(key);
    return channel === 'shared-worker' && side === 1 && !served.has(key);
  };
}

function requestsOf(end: ChannelEnd): UnrecordedRequest[] {
  const { t0, dur } = end.thread.events;
  const [posts, heard] = [[...end.posts.values()], [...end.handles.values()]];
  const at = (row: number): number => t0[row]!;
  const places = matchInOrder(posts.map(at), heard.map(at));
  return posts.map((row, i) => {
    const heardRow = heard[places[i]!] ?? -1;
    const totalUs = heardRow < 0 ? 0 : at(heardRow) + dur[heardRow]! - at(row);
    return { end, row, heardRow, totalUs };
  });
}
