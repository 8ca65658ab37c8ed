/**
 * Requests and their answers: where the time from a message to its answer went.
 *
 *   page    post |                                              | listeners of the answer |
 *   worker       .... queue ....| handles: SQL, storage, own ... post | .. queue of the page ..
 *
 * An answer that is posted while the request's listeners run is known to be its answer, where it is the only one; of several it is the
 * last one, and that is a guess. Listeners that await something answer later: the first request without an answer then gets the first
 * free message that was posted after it was handled. That is a guess, too.
 */
import { Op } from '../../event/event.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { KINDS, type IntervalIndex } from '../../trace/lanes/interval-index.ts';
import { firstPlace } from '../../trace/number-columns.ts';
import { fact, type ByThread } from '../core/graph.ts';
import { grouped } from '../core/maps.ts';
import { rowsByOperation, type RowsByOperation } from '../core/rows-by-operation.ts';
import { ioTime, partTimes } from '../core/time-parts.ts';
import { pieces } from '../time/thread-times.ts';
import type { ChannelEnd } from './channel-ends.ts';
import {
  handledEndUs,
  handledUs,
  messages,
  postedUs,
  type Message,
  type Pairing,
} from './messages.ts';
import { pageSpanIn } from './page-spans.ts';

export interface Request {
  message: Message;
  /** null = none was seen. */
  answer: Message | null;
  /** Of the request, of its answer, and of both: as sure as the less sure of them. */
  pairing: Pairing;
  /** From the call of postMessage to the first listener, microseconds. */
  queueUs: number;
  /** From there until the answer is posted; without one until the listeners have run. null = not known. */
  workUs: number | null;
  /** Of that while SQL ran: storage calls that it waited for, and the rest. The remainder of `workUs` is other work, or waiting. */
  storageUs: number;
  sqlUs: number;
  /** From the answer's call of postMessage to the first listener, and while those run; null = not known. */
  answerQueueUs: number | null;
  listenersUs: number | null;
  /** From the call of postMessage to the end of the answer's listeners, or as far as it is known. */
  totalUs: number;
  /** Row of the interaction of the page in which it was posted; -1 = none was recorded. */
  interaction: number;
  /** From the user's input to the call of postMessage; null without an interaction. */
  inputUs: number | null;
}

const NEEDS = { messages, pieces, rowsByOperation };

/** In order of time. */
export const requests = fact('requests', 'requests and their answers', NEEDS, (store, known) => {
  const byEnd = grouped(known.messages, ({ from }) => from);
  const asked = [...byEnd].flatMap(([end, own]) =>
    end.peer && isAsking(end, end.peer) ? pairsOf(own, byEnd.get(end.peer) ?? []) : [],
  );
  return asked
    .map(({ message, answer, pairing }) =>
      requestOf(message, answer, pairing, known, store.originMs),
    )
    .sort((a, b) => postedUs(a.message) - postedUs(b.message));
});

/** Who asks and who answers: a worker its creator; of other channels, the end where the first message is posted. */
function isAsking({ channel, thread, posts }: ChannelEnd, peer: ChannelEnd): boolean {
  if (channel.channel === 'worker' || channel.channel === 'creator')
    return channel.channel === 'worker';
  const [own] = posts.values();
  const [other] = peer.posts.values();
  if (own === undefined || other === undefined) return own !== undefined;
  return thread.events.t0[own]! <= peer.thread.events.t0[other]!;
}

interface Pair {
  message: Message;
  answer: Message | null;
  pairing: Pairing;
}

/** @param own what one end posts, in order @param answers the same of its peer */
function pairsOf(own: readonly Message[], answers: readonly Message[]): Pair[] {
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
      const answer = end > first ? answers[end - 1]! : null;
      return { message, answer, pairing: end > first + 1 ? 'guess' : message.pairing! };
    });
  let next = 0;
  for (const pair of found) {
    if (pair.answer) continue;
    // requests are handled in order: what was posted before this one answers no later one
    const handled = handledUs(pair.message)!;
    while (
      next < answers.length &&
      (taken.has(answers[next]!) || postedUs(answers[next]!) < handled)
    )
      next++;
    const answer = answers[next++];
    if (!answer) break;
    [pair.answer, pair.pairing] = [answer, 'guess'];
  }
  for (const pair of found) if (pair.answer?.pairing === 'guess') pair.pairing = 'guess';
  return found;
}

/** Time by part of SQL before a moment, nanoseconds. */
function upTo(index: IntervalIndex, us: number): Float64Array {
  const times = new Float64Array(KINDS);
  const i = index.before(toNs(us));
  index.totals(i, times);
  // the last one may go on behind
  if (i > 0) times[index.kind[i - 1]!]! -= Math.max(0, index.endOf(i - 1) - toNs(us));
  return times;
}

function requestOf(
  message: Message,
  answer: Message | null,
  pairing: Pairing,
  known: {
    pieces: ByThread<{ index: IntervalIndex }>;
    rowsByOperation: ByThread<RowsByOperation>;
  },
  originMs: number,
): Request {
  const from = postedUs(message);
  const begun = handledUs(message)!;
  const done = answer ? postedUs(answer) : handledEndUs(message);
  let [storageUs, sqlUs] = [0, 0];
  if (done !== null) {
    const { index } = known.pieces.of(message.to!.thread);
    const [before, after] = [upTo(index, begun), upTo(index, done)];
    storageUs = ioTime(partTimes((i) => (i < KINDS ? (after[i]! - before[i]!) / 1000 : 0)));
    sqlUs = after.reduce((ns, to, i) => ns + to - before[i]!, 0) / 1000 - storageUs;
  }
  const heard = answer && handledUs(answer);
  const end = answer && handledEndUs(answer);
  const interaction = pageSpanIn(
    ...([message.from.thread, known.rowsByOperation, Op.interaction, originMs, from] as const),
  );
  return {
    ...{ message, answer, pairing, storageUs, sqlUs },
    queueUs: Math.max(0, begun - from),
    workUs: done === null ? null : Math.max(0, done - begun),
    answerQueueUs: heard === null ? null : Math.max(0, heard - done!),
    listenersUs: end === null ? null : end - heard!,
    totalUs: Math.max(0, (end ?? heard ?? done ?? begun) - from),
    interaction: interaction?.row ?? -1,
    inputUs: interaction && from - interaction.fromUs,
  };
}
