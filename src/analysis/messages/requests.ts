/**
 * Requests and their answers: where the time from a message to its answer went.
 *
 *   page    post |                                                                          | listeners of the answer |
 *   worker  start | ... queue ....| listeners | behind others | SQL, storage, own ... post | .. queue of the page ..
 *
 * A message posted while the request's listeners run is known to be its answer if it is the only
 * one. Of several, the last one is a guess. An answer is also known if it alone comes back through
 * a port that the request brought. Listeners that await something answer later, and only the order
 * shows which answer belongs to which request (in-order.ts). That is a guess, and so is a request's
 * wait for earlier ones: a worker that takes all messages at once has its own queue.
 */
import { Op } from '../../event/event.ts';
import { isSqlOp } from '../../event/operations.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { KINDS, type IntervalIndex } from '../../trace/lanes/interval-index.ts';
import { firstPlace } from '../../trace/number-columns.ts';
import { fact, type ByThread } from '../core/graph.ts';
import { getOrMake, grouped } from '../core/maps.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { ioTime, partTimes } from '../core/time-parts.ts';
import { pieces } from '../time/thread-times.ts';
import type { ThreadStore } from '../../trace/store.ts';
import type { ChannelEnd } from './channel-ends.ts';
import { matchInOrder } from './in-order.ts';
import {
  handledEndUs,
  handledUs,
  messages,
  postedUs,
  type Message,
  type Pairing,
} from './messages.ts';
import { pageSpans, spanIn, type PageSpan } from './page-spans.ts';

export interface Request {
  message: Message;
  /** null = none was recorded. */
  answer: Message | null;
  /** How certain both the request and its answer are: the less certain of the two. */
  pairing: Pairing;
  /** From the call of postMessage to the first listener, microseconds. */
  queueUs: number;
  /**
   * The part of it until the other thread has started: it handles its first message, or runs SQL.
   */
  startUs: number;
  /**
   * From there until the answer is posted, or without one until the listeners have finished. null =
   * not known.
   */
  workUs: number | null;
  /**
   * The part of it from the end of its listeners until earlier requests were answered by the same
   * thread.
   */
  behindUs: number;
  /**
   * The parts of the rest while SQL ran: storage calls that it waited for, and the remainder. What
   * is left of `workUs` is other work, or waiting.
   */
  storageUs: number;
  sqlUs: number;
  /**
   * From the answer's call of postMessage to the first listener, and while the listeners run; null
   * = not known.
   */
  answerQueueUs: number | null;
  listenersUs: number | null;
  /** From the call of postMessage to the end of the answer's listeners, or as far as known. */
  totalUs: number;
  /** Row of the page's interaction in which it was posted; -1 = none was recorded. */
  interaction: number;
  /** From the user's input to the call of postMessage; null without an interaction. */
  inputUs: number | null;
  /** The request that its thread was handling when it posted this one; null = none. */
  outer: Request | null;
}

const NEEDS = { messages, pieces, rowsByOperation };

/** In order of time. */
export const requests = fact('requests', 'requests and their answers', NEEDS, (store, known) => {
  const byEnd = grouped(known.messages, ({ from }) => from);
  const back = answersByPort(byEnd);
  const asked = [...byEnd].flatMap(([end, own]) =>
    end.peer && isAsking(end, end.peer)
      ? pairsOf(own, byEnd.get(end.peer) ?? [], back.get(end))
      : [],
  );
  const firstSql = new Map(store.threads.map((thread) => [thread, firstSqlUs(thread)]));
  const interactions = new Map<ThreadStore, PageSpan[]>();
  const spansOf = (thread: ThreadStore): readonly PageSpan[] =>
    getOrMake(interactions, thread, () =>
      pageSpans(thread, known.rowsByOperation.of(thread), Op.interaction, store.originMs),
    );
  const all = behindOthers(asked)
    .map((pair) => requestOf(pair, known.pieces, firstSql, spansOf))
    .sort((a, b) => postedUs(a.message) - postedUs(b.message));
  nest(all);
  return all;
});

/** When a thread began to run SQL, microseconds; Infinity = never. */
function firstSqlUs({ events: { op, t0, count } }: ThreadStore): number {
  for (let row = 0; row < count; row++) if (isSqlOp(op[row]!)) return t0[row]!;
  return Infinity;
}

/** Whether an end is a port that a message brought only for its answer. */
const isForAnswers = ({ broughtBy, peer }: ChannelEnd): boolean =>
  broughtBy !== null && peer?.posts.size === 0;

/**
 * Answers through separate ports: by the asking end, and the number of the message that brought the
 * port.
 */
function answersByPort(
  byEnd: ReadonlyMap<ChannelEnd, readonly Message[]>,
): ReadonlyMap<ChannelEnd, ReadonlyMap<number, Message>> {
  const found = new Map<ChannelEnd, Map<number, Message>>();
  for (const [end, [first]] of byEnd) {
    if (!first || !isForAnswers(end)) continue;
    const { end: by, message } = end.broughtBy!;
    getOrMake(found, by, () => new Map<number, Message>()).set(message, first);
  }
  return found;
}

/**
 * Which end asks: a worker's creator, a SharedWorker's page; for other channels, the end where the
 * first message is posted.
 */
function isAsking(end: ChannelEnd, peer: ChannelEnd): boolean {
  const { channel, thread, posts } = end;
  if (channel.channel === 'worker' || channel.channel === 'creator')
    return channel.channel === 'worker';
  if (isForAnswers(end)) return false;
  const answers = ({ channel: { channel: kind, side } }: ChannelEnd): boolean =>
    kind === 'shared-worker' && side === 2;
  if (answers(end) || answers(peer)) return answers(peer);
  const [own] = posts.values();
  const [other] = peer.posts.values();
  if (own === undefined || other === undefined) return own !== undefined;
  return thread.events.t0[own]! <= peer.thread.events.t0[other]!;
}

interface Pair {
  message: Message;
  answer: Message | null;
  pairing: Pairing;
  /** Until earlier requests were answered by the same thread, microseconds. */
  behindUs: number;
}

/**
 * @param own what one end posts, in order @param answers the same for its peer @param back answers
 * through ports that these brought, by their numbers
 */
function pairsOf(
  own: readonly Message[],
  answers: readonly Message[],
  back?: ReadonlyMap<number, Message>,
): Pair[] {
  const taken = new Set<Message>();
  const found = own
    .filter(({ toRow }) => toRow >= 0)
    .map((message): Pair => {
      const { seq, endSeq } = message.to!.thread.events;
      const after = (place: number): boolean => seq[answers[place]!.row]! > seq[message.toRow]!;
      const first = firstPlace(0, answers.length, after);
      let end = first;
      while (end < answers.length && seq[answers[end]!.row]! < endSeq[message.toRow]!)
        taken.add(answers[end++]!);
      const byPort = back?.get(message.from.thread.events.aux[message.row]!);
      const answer = byPort ?? (end > first ? answers[end - 1]! : null);
      const isOnly = byPort ? byPort.from.posts.size === 1 : end === first + 1;
      return { message, answer, pairing: isOnly ? message.pairing! : 'guess', behindUs: 0 };
    });
  const open = found.filter(({ answer }) => !answer);
  const free = answers.filter((answer) => !taken.has(answer));
  const places = matchInOrder(
    open.map(({ message }) => handledUs(message)!),
    free.map(postedUs),
  );
  open.forEach((pair, i) => {
    if (places[i]! >= 0) pair.answer = free[places[i]!]!;
    else pair.pairing = pair.message.pairing!;
  });
  for (const pair of found) if (pair.answer?.pairing === 'guess') pair.pairing = 'guess';
  return found;
}

/**
 * How many requests are examined for one that delays another, or that contains another: no thread
 * handles more at once.
 */
const MOST_UNDER_WAY = 100;

/** When a request begins to wait for earlier ones: its listeners have finished. Microseconds. */
export const behindFromUs = ({ message }: Pick<Request, 'message'>): number =>
  handledEndUs(message) ?? handledUs(message)!;

/**
 * For guesses: a request of the same thread that was handled earlier, and answered before it,
 * delayed it until then.
 */
function behindOthers(pairs: Pair[]): Pair[] {
  const answered = pairs.filter(({ answer }) => answer);
  for (const all of grouped(answered, ({ message }) => message.to!.thread).values()) {
    const done = (pair: Pair): number => postedUs(pair.answer!);
    all.sort((a, b) => done(a) - done(b));
    all.forEach((pair, i) => {
      if (pair.pairing === 'exact') return;
      const before = all
        .slice(Math.max(0, i - MOST_UNDER_WAY), i)
        .findLast(({ message }) => handledUs(message)! < handledUs(pair.message)!);
      if (before) pair.behindUs = Math.max(0, done(before) - behindFromUs(pair));
    });
  }
  return pairs;
}

/** Find the requests that are parts of others: a thread posted them while it handled those. */
function nest(all: readonly Request[]): void {
  const byThread = grouped(all, ({ message }) => message.to!.thread);
  for (const [{ events }, own] of byThread)
    own.sort((a, b) => events.seq[a.message.toRow]! - events.seq[b.message.toRow]!);
  for (const request of all) {
    const { thread } = request.message.from;
    const own = byThread.get(thread);
    if (own) request.outer = handlingAt(own, thread.events.seq[request.message.row]!);
  }
}

/**
 * The request that a thread handles at a moment of its own order: the one whose listeners run, else
 * the first of those that it has taken, which is a guess. null = none.
 * @param own requests that it handles, in that order
 */
function handlingAt(own: readonly Request[], at: number): Request | null {
  const isAfter = (i: number): boolean => {
    const { message } = own[i]!;
    return message.to!.thread.events.seq[message.toRow]! >= at;
  };
  const end = firstPlace(0, own.length, isAfter);
  const begun = own.slice(Math.max(0, end - MOST_UNDER_WAY), end);
  return (
    begun.findLast(({ message: { to, toRow } }) => at < to!.thread.events.endSeq[toRow]!) ??
    begun.find(({ message: { to }, answer }) => {
      if (answer?.from.thread !== to!.thread) return false;
      return at < to!.thread.events.seq[answer.row]!;
    }) ??
    null
  );
}

/**
 * The request that a call is part of: its thread makes the call while it handles the request. null
 * = none.
 * @param all in order of time
 */
export function requestOfCall(
  all: readonly Request[],
  thread: ThreadStore,
  row: number,
): Request | null {
  const { seq } = thread.events;
  const own = all.filter(({ message }) => message.to!.thread === thread);
  own.sort((a, b) => seq[a.message.toRow]! - seq[b.message.toRow]!);
  return handlingAt(own, seq[row]!);
}

/** For a request that is part of others, the one that all began with. */
export function outermost(request: Request): Request {
  let at = request;
  for (let hops = 0; at.outer && hops < MOST_UNDER_WAY; hops++) at = at.outer;
  return at;
}

/** Time by part of SQL before a moment, nanoseconds. */
function upTo(index: IntervalIndex, us: number): Float64Array {
  const times = new Float64Array(KINDS);
  const i = index.before(toNs(us));
  index.totals(i, times);
  // the last one may continue after it
  if (i > 0) times[index.kind[i - 1]!]! -= Math.max(0, index.endOf(i - 1) - toNs(us));
  return times;
}

function requestOf(
  { message, answer, pairing, behindUs }: Pair,
  pieces: ByThread<{ index: IntervalIndex }>,
  firstSql: ReadonlyMap<ThreadStore, number>,
  interactionsOf: (thread: ThreadStore) => readonly PageSpan[],
): Request {
  const from = postedUs(message);
  const begun = handledUs(message)!;
  const { thread, handles } = message.to!;
  const first = handles.get(1); // without it, the thread ran before the recording
  const started =
    first === undefined ? from : Math.min(thread.events.t0[first]!, firstSql.get(thread)!);
  const done = answer ? postedUs(answer) : handledEndUs(message);
  let [storageUs, sqlUs] = [0, 0];
  if (done !== null) {
    const { index } = pieces.of(message.to!.thread);
    const behind = behindFromUs({ message });
    const [begin, wait, go, end] = [begun, behind, behind + behindUs, done].map((us) =>
      upTo(index, Math.min(us, done)),
    );
    const own = end!.map((to, i) => to - go![i]! + wait![i]! - begin![i]!);
    storageUs = ioTime(partTimes((i) => (i < KINDS ? own[i]! / 1000 : 0)));
    sqlUs = own.reduce((ns, each) => ns + each, 0) / 1000 - storageUs;
  }
  const heard = answer && handledUs(answer);
  const end = answer && handledEndUs(answer);
  const interaction = spanIn(interactionsOf(message.from.thread), from);
  return {
    ...{ message, answer, pairing, behindUs, storageUs, sqlUs },
    queueUs: Math.max(0, begun - from),
    startUs: Math.max(0, Math.min(begun, started) - from),
    workUs: done === null ? null : Math.max(0, done - begun),
    answerQueueUs: heard === null ? null : Math.max(0, heard - done!),
    listenersUs: end === null ? null : end - heard!,
    totalUs: Math.max(0, (end ?? heard ?? done ?? begun) - from),
    interaction: interaction?.row ?? -1,
    inputUs: interaction && from - interaction.fromUs,
    outer: null,
  };
}
