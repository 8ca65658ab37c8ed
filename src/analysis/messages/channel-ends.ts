/**
 * Which end of a channel posts to which. The k-th message posted at one end is the k-th handled at
 * the other.
 *
 *   page    new Worker     worker   key t2  -----  creator  key t2     worker t2
 *           new MessageChannel      port    key k, side 1 and 2; side 2 goes along with message 5 ...
 *   worker                          port    ... which brings it: this port goes on as side 2 of k
 *
 * If the key is a name, others may have it, too, so the match of such ends is a guess.
 */
import type { ChannelDefinition } from '../../event/channels.ts';
import { Flag, Op, PortMove } from '../../event/event.ts';
import { opSet } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact, type ByThread } from '../core/graph.ts';
import { getOrMake, grouped } from '../core/maps.ts';
import { rowsByOperation, type RowsByOperation } from '../core/rows-by-operation.ts';

/** One end of a channel on a thread, with its messages. */
export interface ChannelEnd {
  readonly thread: ThreadStore;
  readonly channel: ChannelDefinition;
  /**
   * Rows of calls of postMessage that didn't throw, and of messages that could be read, by their
   * number.
   */
  readonly posts: Map<number, number>;
  readonly handles: Map<number, number>;
  /** The end that handles what is posted here; null = not recorded, or not known. */
  peer: ChannelEnd | null;
  /** Whether that is known, or only likely. */
  isSure: boolean;
  /**
   * For a port: the message of its peer's thread that brought it, and the end that posted that;
   * null = none.
   */
  broughtBy: { end: ChannelEnd; message: number } | null;
}

/** How often a port is followed from thread to thread: a page can make up moves in a circle. */
const MOST_HOPS = 100;

const MESSAGES = opSet(Op.messagePost, Op.messageHandle, Op.messagePort);

/** A port in a message, at the receiver or the sender. */
interface Move {
  port: ChannelEnd;
  by: ChannelEnd;
  /** Number of the message, and the port's index in it. */
  message: number;
  at: number;
  how: number;
}

/**
 * Ends of all threads, each with its peer. Broadcast channels have none, because each may have
 * many.
 */
export const channelEnds = fact(
  'channelEnds',
  'messages between threads',
  { rowsByOperation },
  endsOf,
);

function endsOf(
  { threads }: TraceStore,
  { rowsByOperation }: { rowsByOperation: ByThread<RowsByOperation> },
): readonly ChannelEnd[] {
  const ends: ChannelEnd[] = [];
  const moves: Move[] = [];
  for (const thread of threads)
    readThread(thread, rowsByOperation.of(thread).together(MESSAGES), ends, moves);
  pairByKey(ends, moves, pairInOrder(ends));
  return ends;
}

function readThread(
  thread: ThreadStore,
  rows: Uint32Array,
  ends: ChannelEnd[],
  moves: Move[],
): void {
  const { op, object, context, aux, aux2, length, flags } = thread.events;
  const known = new Map<number, ChannelEnd | null>();
  const endOf = (id: number): ChannelEnd | null =>
    getOrMake(known, id, () => {
      const channel = thread.definitions.get(id);
      if (channel?.kind !== 'channel') return null;
      const end = {
        thread,
        channel,
        posts: new Map<number, number>(),
        handles: new Map<number, number>(),
        peer: null,
        isSure: false,
        broughtBy: null,
      };
      ends.push(end);
      return end;
    });
  for (const row of rows) {
    const end = endOf(object[row]!);
    if (!end) continue;
    if (op[row] === Op.messagePort) {
      const by = endOf(context[row]!);
      const [message, at, how] = [aux[row]!, aux2[row] ?? 0, length[row]!];
      if (by) moves.push({ port: end, by, message, at, how });
    } else if (!(flags[row]! & Flag.threw))
      (op[row] === Op.messageHandle ? end.handles : end.posts).set(aux[row]!, row);
  }
}

function pair(a: ChannelEnd, b: ChannelEnd, isSure: boolean): void {
  [a.peer, b.peer, a.isSure, b.isSure] = [b, a, isSure, isSure];
}

/** The end that another one became, and whether that is known. */
interface Tip {
  end: ChannelEnd;
  isSure: boolean;
}

/**
 * Matches workers by the ids of their threads, ports by their pair, and ports in messages in the
 * order of these.
 * @param likely guessed pairs: their ports may be passed on, too
 */
function pairByKey(
  ends: readonly ChannelEnd[],
  moves: readonly Move[],
  likely: readonly (readonly [ChannelEnd, ChannelEnd])[],
): void {
  const creators = new Map<string, ChannelEnd>();
  const sides = new Map<string, ChannelEnd>();
  for (const end of ends) {
    const { channel, key, side } = end.channel;
    // only a thread itself can report its id
    if (channel === 'creator' && key === end.thread.info.id) creators.set(key, end);
    if (channel === 'port' && key) sides.set(`${key} ${side}`, end);
  }
  for (const end of ends) {
    const creator = end.channel.channel === 'worker' && creators.get(end.channel.key);
    if (creator && !creator.peer) pair(end, creator, true);
  }
  const sent = new Map<string, Move>();
  const place = (by: ChannelEnd, { message, at }: Move): string =>
    `${by.thread.index} ${by.channel.id} ${message} ${at}`;
  for (const move of moves)
    if (move.how !== PortMove.received) sent.set(place(move.by, move), move);
  /** The end that each became, in another thread or as another object. */
  const next = new Map<ChannelEnd, Tip>();
  const received = moves.filter(({ how }) => how === PortMove.received);
  const link = ({ port, by, ...move }: Move): void => {
    const from = by.peer && sent.get(place(by.peer, { port, by, ...move }));
    if (from && !next.has(from.port))
      next.set(from.port, { end: port, isSure: by.isSure && from.how === PortMove.sent });
  };
  /** How far each was followed. */
  const tips = new Map<ChannelEnd, Tip & { hops: number }>();
  const tipOf = (from: ChannelEnd): Tip => {
    const tip = getOrMake(tips, from, () => ({ end: from, isSure: true, hops: 0 }));
    for (let on; tip.hops < MOST_HOPS && (on = next.get(tip.end)); tip.hops++)
      [tip.end, tip.isSure] = [on.end, tip.isSure && on.isSure];
    return tip;
  };
  // a port may arrive through a port that arrived before
  for (let found = -1, round = 0; found !== next.size && round < MOST_HOPS; round++) {
    found = next.size;
    received.forEach(link);
    const pairTips = (one: ChannelEnd, other: ChannelEnd, isSure: boolean): void => {
      const [a, b] = [tipOf(one), tipOf(other)];
      if (a.end !== b.end) pair(a.end, b.end, isSure && a.isSure && b.isSure);
    };
    for (const [key, end] of sides) {
      const other = key.endsWith(' 1') && sides.get(`${end.channel.key} 2`);
      if (other) pairTips(end, other, true);
    }
    for (const [end, other] of likely) pairTips(end, other, false);
  }
  for (const { port, by, message } of sent.values()) {
    const { end } = tipOf(port);
    if (end !== port && end.peer?.thread === by.thread) end.broughtBy ??= { end: by, message };
  }
}

/**
 * Pages connect to a SharedWorker in some order, and it most likely sees them in that order.
 * @returns the pairs
 */
function pairInOrder(ends: readonly ChannelEnd[]): [page: ChannelEnd, worker: ChannelEnd][] {
  const pairs: [ChannelEnd, ChannelEnd][] = [];
  const shared = ends.filter(({ channel }) => channel.channel === 'shared-worker');
  const at = ({ thread, posts, handles }: ChannelEnd): number =>
    Math.min(
      ...[posts, handles].map((rows) => {
        const [row] = rows.values();
        return row === undefined ? Infinity : thread.events.t0[row]!;
      }),
    );
  for (const all of grouped(shared, ({ channel }) => channel.key).values()) {
    const side = (n: number): ChannelEnd[] =>
      all.filter(({ channel }) => channel.side === n).sort((a, b) => at(a) - at(b) || 0);
    const [pages, worker] = [side(1), side(2)];
    pages.forEach((page, i) => {
      const other = worker[i];
      if (!other) return;
      pair(page, other, false); // until either is passed on
      pairs.push([page, other]);
    });
  }
  return pairs;
}
