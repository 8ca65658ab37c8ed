/** Messages from where they are posted to where they are handled. */
import { MessageSize } from '../../event/event.ts';
import { fact } from '../core/graph.ts';
import { grouped } from '../core/maps.ts';
import { channelEnds, type ChannelEnd } from './channel-ends.ts';
import { matchInOrder } from './in-order.ts';

/** Whether it is known which message was handled, or only likely. */
export type Pairing = 'exact' | 'guess';

export interface Message {
  from: ChannelEnd;
  /** Row of the call of postMessage, on the thread of `from`. */
  row: number;
  /**
   * Where it was handled; null = nowhere, or not recorded. A broadcast is one message for each
   * receiver.
   */
  to: ChannelEnd | null;
  /** Row of its handling, on the thread of `to`; -1 without it. */
  toRow: number;
  pairing: Pairing | null;
}

/** In the order of the posting ends, and then of their numbers. */
export const messages = fact(
  'messages',
  'messages between threads',
  { channelEnds },
  (_, { channelEnds: ends }): readonly Message[] => [
    ...ends.flatMap((end) => (end.channel.channel === 'broadcast' ? [] : direct(end))),
    ...broadcasts(ends.filter(({ channel }) => channel.channel === 'broadcast')),
  ],
);

const nowhere = (from: ChannelEnd, row: number): Message => ({
  ...{ from, row },
  ...{ to: null, toRow: -1, pairing: null },
});

/** The k-th posted message is the k-th handled one. */
function direct(from: ChannelEnd): Message[] {
  const { peer, posts, isSure } = from;
  return [...posts].map(([number, row]) => {
    const toRow = peer?.handles.get(number);
    if (!peer || toRow === undefined) return nowhere(from, row);
    return { from, row, to: peer, toRow, pairing: isSure ? 'exact' : 'guess' };
  });
}

/**
 * Each receiver of a channel gets what the others post, in order, but not what they posted before
 * it listened.
 */
function broadcasts(ends: readonly ChannelEnd[]): Message[] {
  const found: Message[] = [];
  for (const all of grouped(ends, ({ channel }) => channel.key).values()) {
    const posted = all
      .flatMap((from) =>
        [...from.posts.values()].map((row) => ({ from, row, at: from.thread.events.t0[row]! })),
      )
      .sort((a, b) => a.at - b.at);
    const heard = new Set<(typeof posted)[0]>();
    for (const to of all) {
      const others = posted.filter(({ from }) => from !== to);
      const rows = [...to.handles.values()];
      const step = to.thread.environment?.clockStepUs ?? 0;
      const places = matchInOrder(
        others.map(({ at }) => at),
        rows.map((row) => to.thread.events.t0[row]! + step),
      );
      others.forEach((post, i) => {
        if (places[i]! < 0) return;
        heard.add(post);
        const { from, row } = post;
        found.push({ from, row, to, toRow: rows[places[i]!]!, pairing: 'guess' });
      });
    }
    for (const post of posted) if (!heard.has(post)) found.push(nowhere(post.from, post.row));
  }
  return found;
}

/** When its call of postMessage began, microseconds. */
export const postedUs = ({ from, row }: Message): number => from.thread.events.t0[row]!;
/** When its listeners began to run; null = not known. */
export const handledUs = ({ to, toRow }: Message): number | null =>
  to ? to.thread.events.t0[toRow]! : null;
/** When its listeners had finished; null = not known. */
export function handledEndUs({ to, toRow }: Message): number | null {
  if (!to || to.thread.events.endSeq[toRow] === 0) return null;
  return to.thread.events.t0[toRow]! + to.thread.events.dur[toRow]!;
}
/**
 * From the call of postMessage to the first listener; the clocks of two threads may differ by a
 * step. null = not known.
 */
export function queueUs(message: Message): number | null {
  const at = handledUs(message);
  return at === null ? null : Math.max(0, at - postedUs(message));
}
/** Minimum bytes that it carries; null = not known. */
export function bytesOf({ from, row }: Message): number | null {
  const { aux2, length } = from.thread.events;
  return aux2[row] === MessageSize.unknown ? null : length[row]!;
}
/** Whether those are all of its bytes. */
export const isWholeSize = ({ from, row }: Message): boolean =>
  from.thread.events.aux2[row] === MessageSize.whole;
