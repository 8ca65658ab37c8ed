/** Requests between threads, as a block of the report. */
import { countOf, formatDuration, formatShare } from '../../text/numbers.ts';
import type { RequestSums } from '../messages/request-sums.ts';
import type { Block } from './blocks.ts';

/** null without any. */
export function requestsBlock(sums: RequestSums | null): Block | null {
  if (!sums) return null;
  const { count, totalUs, unanswered, nested, guessed, unrecorded } = sums;
  const unknown = unrecorded
    ? [
        `Posted to workers that aren't recorded: ${countOf(unrecorded, 'message')}. Where their time went isn't known.`,
      ]
    : [];
  if (!count) return unrecorded ? { heading: 'Requests between threads', lines: unknown } : null;
  const parts: [name: string, us: number][] = [
    ['start of the other thread', sums.startUs],
    ['in its queue', sums.queueUs],
    ['behind requests before it', sums.behindUs],
    ['SQL', sums.sqlUs],
    ['storage', sums.storageUs],
    ['other work, and waiting', sums.otherUs],
    ['answer in the queue', sums.answerQueueUs],
    ["the answer's listeners", sums.listenersUs],
  ];
  return {
    heading: `Requests between threads: ${countOf(count, 'message and its answer', 'messages and their answers')}, ${formatDuration(totalUs)}`,
    table: {
      head: ['part', 'time', 'share'],
      rows: parts.map(([name, us]) => [
        name,
        formatDuration(us),
        totalUs > 0 ? formatShare(us / totalUs) : '',
      ]),
      texts: [0],
    },
    lines: [
      'Concurrent requests each count.',
      ...(nested
        ? [
            `Posted while another one was handled: ${countOf(nested, 'request')}. Their time is in the other's, too.`,
          ]
        : []),
      ...(unanswered ? [`No answer was seen: ${countOf(unanswered, 'request')}.`] : []),
      ...(guessed ? [`Pairing is a guess: ${countOf(guessed, 'request')}.`] : []),
      ...unknown,
    ],
  };
}
