/**
 * Messages that wait longer than they are worked on.
 *
 *   F59   page  post |.................................................| answer
 *         worker     | SELECT of someone else ........| handles | SQL |
 */
import { executions } from '../core/executions.ts';
import { quoted } from '../core/quoted.ts';
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { countOf, formatDuration } from '../../text/numbers.ts';
import { grouped } from '../core/maps.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { handledUs, postedUs } from './messages.ts';
import { requests, type Request } from './requests.ts';

/** A user notices what takes longer (web.dev/articles/rail). */
const LONG_US = 100_000;

export const waitedInQueue: Rule = {
  id: 'F59',
  title: 'A message waited in the queue of its worker',
  needs: { requests },
  run(ctx) {
    const slow = ctx
      .get(requests)
      .filter(({ queueUs, totalUs }) => queueUs >= LONG_US && 2 * queueUs > totalUs);
    return [...grouped(slow, ({ message }) => message.to!.thread).values()].flatMap((all) => {
      const [thread] = all.map(({ message }) => message.to!.thread);
      const worst = all.reduce((a, b) => (b.queueUs > a.queueUs ? b : a));
      const behind = longestBehind(ctx, thread!, worst);
      // without SQL in its way it is not SQLite that it waited for
      return behind ? [found(ctx, thread!, all, worst, behind)] : [];
    });
  },
};

function found(
  ctx: FindingContext,
  thread: ThreadStore,
  all: readonly Request[],
  worst: Request,
  behind: string,
): Found {
  const evidence = new Evidence();
  for (const { message } of all) {
    evidence.tally(thread, message.toRow);
    evidence.show(message.from.thread.index, message.row);
  }
  const { message, inputUs, totalUs, queueUs, sqlUs, storageUs } = worst;
  const waited = formatDuration((inputUs ?? 0) + totalUs);
  const who = inputUs === null ? 'A message and its answer took' : `${inputName(worst)} waited`;
  const about = worst.pairing === 'guess' ? 'about ' : '';
  const others = all.length > 1 ? `. ${countOf(all.length, 'message')} waited so` : '';
  const isHandlingSure = all.every(({ message: { pairing } }) => pairing === 'exact');
  const isSure = all.every(({ pairing }) => pairing === 'exact');
  return {
    title: `${who} ${about}${waited}, ${formatDuration(queueUs)} of them in the queue of ${ctx.titles[thread.index]!} behind ${quoted(behind)}; its own SQL took ${formatDuration(sqlUs + storageUs)}${others}`,
    evidence: evidence.result(ctx, false),
    ...noSaving('what waited in front of it has findings of its own'),
    confidence: isSure ? 'certain' : 'possible',
    reason: isSure
      ? 'both ends of the channel count their messages, and threads share one clock'
      : isHandlingSure
        ? 'the answer is a guess: it was not the only message posted while the request was handled, or it was posted later'
        : `which message was handled is a guess: the channel (${message.from.channel.channel}) shows only the order`,
    advice:
      'Split long work, so that what the user waits for gets its turn; or run it in a worker of its own.',
    link: 'https://developer.mozilla.org/docs/Web/API/Worker/postMessage',
  };
}

function inputName({ message: { from }, interaction }: Request): string {
  const name = objectName(from.thread, from.thread.events.object[interaction]!);
  return name === 'click' || name.startsWith('pointer') ? 'A click' : `An interaction (${name})`;
}

/** The text of the statement that ran longest on a thread while a message waited there; '' = none did. */
function longestBehind(ctx: FindingContext, thread: ThreadStore, { message }: Request): string {
  const [from, to] = [postedUs(message), handledUs(message)!];
  const { t0, dur } = thread.events;
  const runs = ctx.get(executions).of(thread);
  const { row, execution, count } = runs.calls;
  const times = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const begin = t0[row[i]!]!;
    const us = Math.min(to, begin + dur[row[i]!]!) - Math.max(from, begin);
    const text = runs.text[execution[i]!]!;
    if (us > 0 && text) times.set(text, (times.get(text) ?? 0) + us);
  }
  const [longest] = [...times].sort((a, b) => b[1] - a[1]);
  return longest ? objectName(thread, longest[0]) : '';
}
