/**
 * One request from the user's input to the end of the answer's listeners, with the calls on its
 * way.
 */
import { Op } from '../../event/event.ts';
import { formatDuration } from '../../text/numbers.ts';
import { objectName } from '../../trace/describe.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../trace/store.ts';
import { cellText } from '../core/table.ts';
import type { ByThread } from '../core/graph.ts';
import type { RowsByOperation } from '../core/rows-by-operation.ts';
import { handledEndUs, handledUs, type Message, type Pairing } from './messages.ts';
import { pageSpans, spanIn } from './page-spans.ts';
import { requestOfCall, type Request } from './requests.ts';
import { requestColumns } from './table.ts';

export interface RequestStep {
  title: string;
  help: string;
  /** A time, as text. */
  text: string;
}
export interface RequestLink {
  title: string;
  ref: EventRef;
  /** What it is, as text from the page, and how long it took. */
  text: string;
}
export interface RequestDetails {
  pairing: Pairing;
  /** In order of time, the total last. Unknown times are left out. */
  steps: RequestStep[];
  /** Calls of the request, and what the browser reported around it. */
  links: RequestLink[];
}

/** In order of time. */
const STEPS = [
  ...(['input_dur', 'queue_dur', 'start_dur', 'work_dur', 'behind_dur'] as const),
  ...(['sql_dur', 'storage_dur'] as const),
  ...(['answer_queue_dur', 'listeners_dur', 'dur'] as const),
];

/** Maximum inner requests that get links. */
const MOST_INNER = 20;

/** Steps that most requests don't have. */
const RARE: ReadonlySet<string> = new Set(['start_dur', 'behind_dur']);

/**
 * For the request that an event belongs to: its posts, the listeners of both messages, what its
 * thread did in between, and the interaction in which it was posted. If an interaction has several,
 * the one that finished last, because the user waited for it.
 * @returns null if it doesn't belong to a request
 */
export function requestDetails(
  { originMs }: TraceStore,
  requests: readonly Request[],
  rows: ByThread<RowsByOperation>,
  thread: ThreadStore,
  row: number,
): RequestDetails | null {
  const isIn = (one: Message | null): boolean =>
    one !== null &&
    ((one.from.thread === thread && one.row === row) ||
      (one.to?.thread === thread && one.toRow === row));
  const endUs = ({ message: { from, row: at }, totalUs }: Request): number =>
    from.thread.events.t0[at]! + totalUs;
  const request =
    requests.find(({ message, answer }) => isIn(message) || isIn(answer)) ??
    requests
      .filter(({ message, interaction }) => message.from.thread === thread && interaction === row)
      .reduce<Request | null>((a, b) => (a && endUs(a) >= endUs(b) ? a : b), null) ??
    requestOfCall(requests, thread, row);
  if (!request) return null;
  const { message, answer, interaction, outer } = request;
  const asker = message.from.thread;
  const links: RequestLink[] = [];
  const link = (title: string, of: ThreadStore, at: number, text: string): void =>
    void links.push({ title, ref: of.ref(at), text });
  const reported = (title: string, at: number): void => {
    const { object, length } = asker.events;
    const name = objectName(asker, object[at]!);
    link(title, asker, at, `${name}, ${formatDuration(length[at]!)}`);
  };
  const linkRequest = (title: string, { message: { from, row: at }, totalUs }: Request): void =>
    link(title, from.thread, at, formatDuration(totalUs));
  if (interaction >= 0) reported('Posted in', interaction);
  if (outer) linkRequest('Part of', outer);
  link('Posted by', asker, message.row, 'postMessage');
  if (message.to) link('Handled by', message.to.thread, message.toRow, 'listeners');
  requests
    .filter((other) => other.outer === request)
    .slice(0, MOST_INNER)
    .forEach((inner) => linkRequest('Asked in turn', inner));
  if (answer) {
    link('Answered by', answer.from.thread, answer.row, 'postMessage');
    const [from, to] = [handledUs(answer), handledEndUs(answer)];
    if (answer.toRow >= 0) link('Answer handled by', asker, answer.toRow, 'listeners');
    if (from !== null && to !== null)
      for (const op of [Op.longTask, Op.interaction] as const) {
        const found = spanIn(pageSpans(asker, rows.of(asker), op, originMs), from, to);
        if (found && found.row !== interaction) reported('Answer handled in', found.row);
      }
  }
  return {
    pairing: request.pairing,
    steps: STEPS.flatMap((name) => {
      const { unit, title, help, value } = requestColumns[name];
      const us = value(request);
      return us === null || (us === 0 && RARE.has(name))
        ? []
        : [{ title, help, text: cellText(unit, us) }];
    }),
    links: links.filter(
      ({ ref }) => ref.seq !== thread.events.seq[row] || ref.thread !== thread.index,
    ),
  };
}
