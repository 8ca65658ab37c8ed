// The journal next to a recording's copy on disk: entries that a crash cut off, data that both
// have, and how a thread's messages are added to it.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PROTOCOL_VERSION, type ThreadMessage } from '../../src/protocol/messages.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import type { Channel } from '../../src/protocol/rpc.ts';
import { Journal } from '../../src/viewer/session/journal.ts';
import { entriesOf, entryBytes } from '../../src/viewer/session/journal-file.ts';
import { JournalDoor, serveJournal } from '../../src/viewer/session/journal-worker.ts';
import { replay } from '../../src/viewer/session/replay.ts';
import { ThreadPorts } from '../../src/viewer/session/thread-ports.ts';
import { batchOf, newStore } from '../traces/builder.ts';
import { syntheticBatches } from '../traces/synthetic.ts';

const info = {
  id: 'w',
  kind: 'worker' as const,
  url: 'https://app.example/w.js',
  name: '',
  parent: null,
  timeOrigin: 1_700_000_000_000,
};
const { timeOrigin, ...identity } = info;
const hello: ThreadMessage = {
  k: 'hello',
  protocol: PROTOCOL_VERSION,
  thread: identity,
  timeOrigin,
};

/** A recording's messages: each thread's hello, its batches. */
function messages(): ThreadMessage[] {
  const said: ThreadMessage[] = [];
  const known = new Set<string>();
  for (const { info, batch } of syntheticBatches({ events: 5000, threads: 2, batch: 500 })) {
    const { timeOrigin, ...thread } = info;
    if (!known.has(info.id))
      said.push({ k: 'hello', protocol: PROTOCOL_VERSION, thread, timeOrigin });
    known.add(info.id);
    said.push({ k: 'batch', batch });
  }
  return said;
}
const filled = (said: readonly ThreadMessage[], store = newStore()): TraceStore => {
  replay(store, said);
  return store;
};
const rows = ({ threads }: TraceStore): unknown[] =>
  threads.map(({ info, events, said }) => [
    info.id,
    said,
    Array.from({ length: events.count }, (_, row) => events.row(row)),
  ]);

describe('entries', () => {
  it('come back as they were sent, up to the one that was cut off', () => {
    const said = messages();
    const parts = said.map((message, n) => entryBytes(n, message));
    const file = new Uint8Array(Buffer.concat(parts));
    expect(entriesOf(file).map(({ n, message }) => [n, message])).toEqual(
      said.map((message, n) => [n, message]),
    );
    const whole = file.length - parts.at(-1)!.length;
    for (const length of [
      whole,
      whole + 1,
      whole + 11,
      whole + 12,
      whole + 15,
      whole + 16,
      file.length - 1,
    ])
      expect(entriesOf(file.subarray(0, length)).length, `${length} bytes`).toBe(said.length - 1);
    file[whole + 40]! ^= 1;
    expect(entriesOf(file).length).toBe(said.length - 1);
  });

  it('are messages that a thread may send, without anything else', () => {
    const forged = { k: 'batch', batch: { thread: 'w', first: -1 } } as unknown as ThreadMessage;
    expect(entriesOf(entryBytes(0, { k: 'hello', thread: 5 } as unknown as ThreadMessage))).toEqual(
      [],
    );
    expect(() => entryBytes(0, forged)).not.toThrow();
    expect(entriesOf(entryBytes(0, forged))).toEqual([]);
  });
});

describe('what a copy lacks', () => {
  it('is added once, whatever the copy already has', () => {
    const said = messages();
    const whole = rows(filled(said));
    for (const [copied, from] of [
      [0, 0],
      [3, 0],
      [3, 3],
      [8, 2],
      [said.length, 4],
    ] as const) {
      const store = filled(said.slice(0, copied));
      replay(store, said.slice(from));
      expect(rows(store), `the copy has ${copied}, the journal begins at ${from}`).toEqual(whole);
      expect(store.dropped).toBe(0);
    }
  });

  it('ends calls that are open in the copy', () => {
    const open = batchOf(info, 0, [[10, 10, 1, 0, Op.xSync, 0, 0, 0, 0, 0, 0, 0, 0]]);
    const end = batchOf(info, 1, [[10, 90, 1, 2, Op.end, 3, 0, 0, 0, 0, 0, 0, 0]]);
    const store = filled([hello, { k: 'batch', batch: open }]);
    const more: ThreadMessage[] = [open, end].map((batch) => ({ k: 'batch', batch }));
    expect(replay(store, [...more, { k: 'bye', thread: 'w', reason: 'closed' }])).toBe(true);
    const [thread] = store.threads;
    expect([
      thread!.events.count,
      thread!.events.dur[0],
      thread!.events.result[0],
      thread!.ended,
    ]).toEqual([1, 80, 3, 'closed']);
    expect(replay(store, [])).toBe(false);
  });
});

describe('the route through the journal', () => {
  const open: MessagePort[] = [];
  afterEach(() => open.splice(0).forEach((port) => port.close()));
  const channel = (): [MessagePort, MessagePort] => {
    const { port1, port2 } = new MessageChannel();
    open.push(port1, port2);
    return [port1, port2];
  };

  it('brings messages and new workers to the store, and commands back to the thread, and ignores malformed ones', async () => {
    const [near, far] = channel();
    serveJournal(far as Channel);
    far.start();
    const store = newStore();
    const ports = new ThreadPorts(store, {
      onBatch: () => {},
      onThreads: () => {},
      onProblem: () => {},
    });
    const journal = new Journal(near as Channel, (line) => ports.attach(line));
    near.start();
    const page = async (): Promise<{ port: MessagePort; heard: unknown[]; other: MessagePort }> => {
      const [port, other] = channel();
      const heard: unknown[] = [];
      port.onmessage = ({ data }) => heard.push(data);
      return { port, heard, other };
    };
    const first = await page();
    await journal.attach(first.other);
    first.port.postMessage(hello);
    const batch = batchOf(info, 0, [[10, 11, 1, 2, Op.xSync, 0, 0, 0, 0, 0, 0, 0, 0]]);
    first.port.postMessage({ k: 'batch', batch }, [batch.records]);
    await vi.waitFor(() => expect(first.heard).toEqual([{ k: 'ack', thread: 'w', records: 1 }]));
    const second = await page();
    first.port.postMessage({ k: 'child' }, [second.other]);
    second.port.postMessage({ ...hello, thread: { ...identity, id: 'child' } });
    second.port.postMessage('nonsense');
    await vi.waitFor(() => expect(ports.ignored).toBe(1));
    expect(store.threads.map(({ info }) => [info.id, info.parent])).toEqual([
      ['w', null],
      ['child', 'w'],
    ]);
    const stopped = ports.stop(10_000);
    await vi.waitFor(() => expect(second.heard).toEqual([{ k: 'stop' }]));
    first.port.postMessage({ k: 'bye', thread: 'w', reason: 'stopped' });
    second.port.postMessage({ k: 'bye', thread: 'child', reason: 'stopped' });
    await stopped;
    ports.close();
    journal.close();
  });

  it('stores what a connection sends about its own threads, and about workers that it created, and nothing else', async () => {
    const files: Uint8Array[] = [];
    const handle = (file: number): object => ({
      truncate: () => (files[file] = new Uint8Array()),
      write: (bytes: Uint8Array, { at }: { at: number }) => {
        files[file] = new Uint8Array(Buffer.concat([files[file]!.subarray(0, at), bytes]));
        return bytes.length;
      },
      close: () => {},
    });
    const directory = {
      getDirectoryHandle: async () => directory,
      getFileHandle: async (name: string) => ({
        createSyncAccessHandle: async () => handle(Number(name.at(-1))),
      }),
    };
    vi.stubGlobal('navigator', { storage: { getDirectory: async () => directory } });
    const heard: { said: unknown }[] = [];
    const door = new JournalDoor((push) => push.k === 'said' && heard.push(push));
    await door.open('journal');
    const [[page, its], [stranger, strangers], [worker, workers]] = [
      channel(),
      channel(),
      channel(),
    ];
    const say = async (port: MessagePort, message: unknown, moved: Transferable[] = []) => {
      const before = heard.length;
      port.postMessage(message, moved);
      await vi.waitFor(() => expect(heard.length).toBe(before + 1));
    };
    const helloOf = (id: string, more: object = {}) => ({
      ...hello,
      thread: { ...identity, id, ...more },
    });
    const sync = (n: number) => ({
      k: 'batch',
      batch: batchOf({ ...info, id: 'page' }, n, [
        [n, n + 1, 2 * n + 1, 2 * n + 2, Op.xSync, 0, 0, 0, 0, 0, 0, 0, 0],
      ]),
    });
    await door.attach(its);
    await door.attach(strangers);
    await say(page, helloOf('page', { kind: 'page' }));
    await say(stranger, helloOf('stranger'));
    await say(page, { k: 'child' }, [workers]);
    await say(worker, helloOf('worker'));
    await say(page, helloOf('worker', { parent: 'page' })); // its creator reports for it, too
    await say(stranger, helloOf('worker', { parent: 'page' }));
    await say(stranger, helloOf('page', { kind: 'page' }));
    await say(stranger, sync(0));
    await say(stranger, { k: 'bye', thread: 'worker', reason: 'closed' });
    await say(worker, { k: 'bye', thread: 'page', reason: 'closed' });
    await say(page, sync(0));
    await say(page, { k: 'bye', thread: 'worker', reason: 'terminated' });
    const written = files.flatMap(entriesOf).map(({ message }) => message);
    expect(written.map((message) => [message.k, JSON.stringify(message)])).toEqual([
      ['hello', expect.stringContaining('"id":"page"')],
      ['hello', expect.stringContaining('"id":"stranger"')],
      ['hello', expect.stringContaining('"id":"worker"')],
      ['hello', expect.stringContaining('"id":"worker"')],
      ['batch', expect.stringContaining('"thread":"page"')],
      ['bye', expect.stringContaining('terminated')],
    ]);
    await door.end(false);
    vi.unstubAllGlobals();
  });
});
