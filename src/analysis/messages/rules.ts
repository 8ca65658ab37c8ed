/**
 * Finding about messages that wait longer than their work takes.
 *
 *   F59   page  post |.................................................| answer
 *         worker     | SELECT of someone else ........| handles | SQL |
 *
 * A worker that awaits its SQL takes messages at once, so there the request waits until earlier
 * ones are answered.
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
import { NOTICED_US } from './page-spans.ts';
import { behindFromUs, outermost, requests, type Request } from './requests.ts';

export const waitedInQueue: Rule = {
  id: 'F59',
  title: 'A message waited in the queue of its worker',
  needs: { requests },
  run(ctx) {
    const slow = ctx
      .get(requests)
      .filter(
        (request) => waitedUs(request) >= NOTICED_US && 2 * waitedUs(request) > request.totalUs,
      );
    return [...grouped(slow, ({ message }) => message.to!.thread).values()].flatMap((all) => {
      const [thread] = all.map(({ message }) => message.to!.thread);
      const worst = all.reduce((a, b) => (waitedUs(b) > waitedUs(a) ? b : a));
      const behind = longestBehind(ctx, thread!, worst);
      return behind ? [found(ctx, thread!, all, worst, behind)] : [];
    });
  },
};

/** In the queue of the thread, once it has started, and then in that of the app. */
const waitedUs = ({ queueUs, startUs, behindUs }: Request): number => queueUs - startUs + behindUs;

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
  const { message, sqlUs, storageUs } = worst;
  const first = outermost(worst); // what the user waited for
  const waited = formatDuration((first.inputUs ?? 0) + first.totalUs);
  const who =
    first.inputUs === null ? 'A message and its answer took' : `${inputName(first)} waited`;
  const isGuess = [worst, first].some(({ pairing }) => pairing === 'guess');
  const others = all.length > 1 ? `. ${countOf(all.length, 'message')} waited so` : '';
  const isHandlingSure = all.every(({ message: { pairing } }) => pairing === 'exact');
  const isSure = !isGuess && all.every(({ pairing }) => pairing === 'exact');
  return {
    title: `${who} ${isGuess ? 'about ' : ''}${waited}, ${formatDuration(waitedUs(worst))} of them in the queue of ${ctx.titles[thread.index]!} behind ${quoted(behind)}; its own SQL took ${formatDuration(sqlUs + storageUs)}${others}`,
    evidence: evidence.result(ctx, false),
    ...noSaving('what it waited for has its own findings'),
    confidence: isSure ? 'certain' : 'possible',
    reason: isSure
      ? 'both ends of the channel count their messages, and threads share one clock'
      : isHandlingSure
        ? 'the pairing of answers is a guess: it was not the only message posted while the request was handled, or it was posted later'
        : `the pairing of messages is a guess: the channel (${message.from.channel.channel}) shows only the order`,
    advice:
      'Split long work, so that what the user waits for gets its turn; or run it in its own worker.',
    link: 'https://developer.mozilla.org/docs/Web/API/Worker/postMessage',
  };
}

function inputName({ message: { from }, interaction }: Request): string {
  const name = objectName(from.thread, from.thread.events.object[interaction]!);
  return name === 'click' || name.startsWith('pointer') ? 'A click' : `An interaction (${name})`;
}

/**
 * The text of the statement that ran longest on a thread while a message waited there; '' = it
 * waited for something else: SQL ran for less than half of that time.
 */
function longestBehind(ctx: FindingContext, thread: ThreadStore, request: Request): string {
  const [posted, handled] = [postedUs(request.message), handledUs(request.message)!];
  const behind = behindFromUs(request);
  const waits = [
    [posted + request.startUs, handled],
    [behind, behind + request.behindUs],
  ] as const;
  const { t0, dur } = thread.events;
  const runs = ctx.get(executions).of(thread);
  const { row, execution, count } = runs.calls;
  const times = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const begin = t0[row[i]!]!;
    const end = begin + dur[row[i]!]!;
    const text = runs.text[execution[i]!]!;
    for (const [from, to] of waits) {
      const us = Math.min(to, end) - Math.max(from, begin);
      if (us > 0 && text) times.set(text, (times.get(text) ?? 0) + us);
    }
  }
  const sum = [...times.values()].reduce((us, each) => us + each, 0);
  const [longest] = [...times].sort((a, b) => b[1] - a[1]);
  return longest && 2 * sum >= waitedUs(request) ? objectName(thread, longest[0]) : '';
}
