/**
 * An app with known messages: it posts five to a worker that is still busy, which then answers
 * each; one goes over a port and back, one through a BroadcastChannel. The content of each contains
 * `unsaid`.
 */
import { Flag } from '../../src/event/event.ts';
import { opName } from '../../src/event/operations.ts';
import type { TraceStore } from '../../src/trace/store.ts';

export const UNSAID = 'unsaid';

/** Runs in the page. @param script the worker's (tests/apps/hook-cases/messages.js) */
export async function goldenMessages(script: string): Promise<void> {
  const worker = new Worker(script);
  const { port1, port2 } = new MessageChannel();
  const channel = new BroadcastChannel('golden');
  const told = new Promise((done) => channel.addEventListener('message', done));
  const echoed = new Promise((done) => (port1.onmessage = done));
  let answers = 0;
  const answered = new Promise<void>((done) => {
    worker.onmessage = (event) => {
      event.stopImmediatePropagation();
      if (++answers === 5) done();
    };
  });
  try {
    worker.postMessage(() => 'unsaid'); // can't be cloned
  } catch {
    // as it should
  }
  const buffer = new ArrayBuffer(4096);
  worker.postMessage('unsaid'.padEnd(50));
  worker.postMessage(new Uint8Array(1000).subarray(10));
  worker.postMessage(new DataView(new ArrayBuffer(2048)));
  worker.postMessage({ unsaid: buffer }, [buffer]);
  worker.postMessage({ unsaid: port2 }, { transfer: [port2] });
  port1.postMessage('unsaid');
  await Promise.all([answered, echoed, told]);
  channel.close();
}

/**
 * What each thread records: operation, channel, number of the message, bytes; `part` if there may
 * be more bytes.
 */
export const GOLDEN = {
  page: [
    'post worker 1 threw',
    'post worker 1 100',
    'post worker 2 1000',
    'post worker 3 2048',
    'post worker 4 4096 part',
    'post worker 5 n/a',
    'port sent worker 5',
    'post port 1 12',
    ...[1, 2, 3, 4, 5].map((n) => `handle worker ${n}`),
    'handle port 1',
    'handle broadcast 1',
  ],
  worker: [
    ...[1, 2, 3, 4, 5].flatMap((n) => [
      `handle creator ${n}`,
      ...(n === 5 ? ['port received creator 5'] : []),
      `post creator ${n} ${2 * `unsaid answer ${n}`.length}`,
    ]),
    'post broadcast 1 32',
    'handle port 1',
    'post port 1 12',
  ],
};

/** Messages whose handling is known: those through the worker and the port. */
export const GOLDEN_EXACT = 12;
/** Each of them requests, or answers what was handled meanwhile. */
export const GOLDEN_REQUESTS = Array.from({ length: 6 }, () => 'exact');

interface Said {
  op: string;
  channel: string;
  aux: number;
  aux2: number;
  length: number;
  threw: boolean;
}
/** An event as a line of GOLDEN; null for others. */
export function goldenLine({ op, channel, aux, aux2, length, threw }: Said): string | null {
  if (op === 'messageHandle') return `handle ${channel} ${aux}${threw ? ' threw' : ''}`;
  if (op === 'messagePort') return `port ${length === 2 ? 'received' : 'sent'} ${channel} ${aux}`;
  if (op !== 'messagePost') return null;
  const bytes = aux2 === 0 ? 'n/a' : aux2 === 2 ? `${length} part` : String(length);
  return `post ${channel} ${aux} ${threw ? 'threw' : bytes}`;
}
/**
 * Messages of different channels may overtake each other: the order is only fixed within a channel.
 */
export const byChannel = (lines: readonly string[]): string[] =>
  ['worker', 'creator', 'port', 'shared-worker', 'broadcast'].flatMap((channel) =>
    lines.filter((line) => line.split(' ').at(line.startsWith('port ') ? 2 : 1) === channel),
  );

/** The lines of a thread of a recording. */
export function goldenLines({ threads }: TraceStore, kind: 'page' | 'worker'): string[] {
  const thread = threads.find(({ info }) => info.kind === kind)!;
  const { op, object, context, aux, aux2, length, flags, count } = thread.events;
  return Array.from({ length: count }, (_, row) => {
    const name = opName(op[row]!);
    const end = thread.definitions.get((name === 'messagePort' ? context : object)[row]!);
    return goldenLine({
      op: name,
      channel: end?.kind === 'channel' ? end.channel : '',
      ...{ aux: aux[row]!, aux2: aux2[row] ?? 0, length: length[row]! },
      threw: (flags[row]! & Flag.threw) !== 0,
    });
  }).filter((line) => line !== null);
}
