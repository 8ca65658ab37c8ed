/** The tables of messages between threads: each message, and requests with their answers. */
import { col, rowsIn, table, type Columns } from '../core/table.ts';
import { THREAD } from '../events/table.ts';
import {
  bytesOf,
  handledUs,
  isWholeSize,
  messages,
  postedUs,
  queueUs,
  type Message,
} from './messages.ts';
import { requests, type Request } from './requests.ts';

const PAIRING =
  'exact: both ends count the messages of one channel; guess: by order of time alone; n/a: not handled, or not where that was recorded';

const messageColumns = {
  thread: col('int', 'Thread', THREAD, (m) => m.from.thread.index),
  seq: col('id', 'Event', 'The call of postMessage', (m) => m.from.thread.events.seq[m.row]!),
  ts: col('moment', 'Posted', 'When postMessage was called', postedUs),
  channel: col(
    'text',
    'Channel',
    'worker (a Worker object), creator (a worker posts to its page), port, shared-worker, or broadcast',
    (m) => m.from.channel.channel,
  ),
  number: col(
    'count',
    'Number',
    'Among the messages of this end, from 1',
    (m) => m.from.thread.events.aux[m.row]!,
  ),
  bytes: col(
    'bytes',
    'Bytes',
    'Of a text or a buffer, or of the buffers that were transferred; n/a: an object',
    bytesOf,
  ),
  is_whole: col(
    'int',
    'Is whole',
    '1: these are all of its bytes; 0: an object, or parts of one',
    (m) => Number(isWholeSize(m)),
  ),
  to_thread: col('int', 'To', 'Thread that handled it', (m) => m.to?.thread.index ?? null),
  to_seq: col(
    'id',
    'Handled by',
    'The event of its listeners, on that thread',
    (m) => m.to?.thread.events.seq[m.toRow] ?? null,
  ),
  handled_ts: col('moment', 'Handled', 'When its listeners began to run', handledUs),
  queue_dur: col('us', 'Queue', 'From postMessage to its listeners', queueUs),
  pairing: col('text', 'Pairing', PAIRING, (m) => m.pairing),
} satisfies Columns<Message>;

export const requestColumns = {
  thread: col('int', 'Thread', 'Thread that asked', (r) => r.message.from.thread.index),
  seq: col(
    'id',
    'Event',
    'The call of postMessage',
    (r) => r.message.from.thread.events.seq[r.message.row]!,
  ),
  ts: col('moment', 'Posted', 'When postMessage was called', (r) => postedUs(r.message)),
  to_thread: col('int', 'To', 'Thread that answered', (r) => r.message.to!.thread.index),
  dur: col(
    'us',
    'Total',
    "From postMessage to the end of the answer's listeners",
    (r) => r.totalUs,
  ),
  queue_dur: col('us', 'Queue', 'From postMessage to its listeners', (r) => r.queueUs),
  start_dur: col(
    'us',
    'Start',
    'Of that: until the other thread handled its first message, or ran SQL',
    (r) => r.startUs,
  ),
  work_dur: col(
    'us',
    'Handled',
    'From its listeners to the answer; without an answer, while they ran',
    (r) => r.workUs,
  ),
  behind_dur: col(
    'us',
    'Behind',
    'Of that: until requests before it were answered, where a worker takes messages at once. A guess',
    (r) => r.behindUs,
  ),
  sql_dur: col('us', 'SQL', 'Of the rest: SQL ran, its storage calls left out', (r) => r.sqlUs),
  storage_dur: col('us', 'Storage', 'Of the rest: SQL waited for storage', (r) => r.storageUs),
  answer_queue_dur: col(
    'us',
    'Answer queue',
    'From the post of the answer to its listeners',
    (r) => r.answerQueueUs,
  ),
  listeners_dur: col(
    'us',
    'Listeners',
    'While the listeners of the answer ran',
    (r) => r.listenersUs,
  ),
  input_dur: col(
    'us',
    'Input',
    "From the user's input to postMessage; n/a: no interaction was recorded",
    (r) => r.inputUs,
  ),
  pairing: col(
    'text',
    'Pairing',
    'exact: the answer was posted while the listeners of the request ran, or through a port that came with it; guess: only by order',
    (r) => r.pairing,
  ),
  outer_thread: col(
    'int',
    'Outer thread',
    'Thread that asked what this is part of: it was posted while that was handled',
    (r) => r.outer?.message.from.thread.index ?? null,
  ),
  outer_seq: col('id', 'Outer', 'The event of that call of postMessage, on that thread', (r) =>
    r.outer ? r.outer.message.from.thread.events.seq[r.outer.message.row]! : null,
  ),
} satisfies Columns<Request>;

export const messageTables = [
  table(
    'messages',
    'Messages between threads',
    rowsIn('messageRows', messages, (all) => all),
    messageColumns,
  ),
  table(
    'requests',
    'Messages to a worker and their answers: where the time went',
    rowsIn('requestRows', requests, (all) => all),
    requestColumns,
  ),
];
