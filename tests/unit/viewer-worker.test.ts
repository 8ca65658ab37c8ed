// The store worker's parts without a browser: ports that send false data, requests and answers,
// filters, live numbers.
import { afterEach, describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION, type ThreadMessage } from '../../src/protocol/messages.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { tailsText, unknownTails } from '../../src/analysis/core/unknown-tails.ts';
import { numbersFrom } from '../../src/analysis/numbers/headline-numbers.ts';
import { isFailure, objectName, statementText } from '../../src/trace/describe.ts';
import { Op } from '../../src/event/event.ts';
import { OPS, opName } from '../../src/event/operations.ts';
import { ThreadStore, type TraceStore } from '../../src/trace/store.ts';
import { remote, serve, type Channel } from '../../src/protocol/rpc.ts';
import type { EventFilter } from '../../src/protocol/session.ts';
import { EventQuery } from '../../src/viewer/session/queries/event-query.ts';
import { detailsOfEvent } from '../../src/viewer/session/event-lines.ts';
import { lineOf } from '../../src/viewer/session/line.ts';
import { isCached, lastEndUs } from '../../src/trace/thread-end.ts';
import { ThreadPorts } from '../../src/viewer/session/thread-ports.ts';
import { ThreadBuilder, batchOf, newStore } from '../traces/builder.ts';

/** Two threads whose calls interleave in time: a read-only one, and one that commits. */
function sample(): TraceStore {
  const store = newStore();
  const writer = new ThreadBuilder(store);
  const reader = new ThreadBuilder(store);
  const insert = writer.define({ kind: 'sql', text: 'INSERT INTO note VALUES (?)' });
  const db = writer.file('/app.db');
  const journal = writer.file('/app.db-journal', 'journal');
  const idb = writer.define({ kind: 'idb-store', db: 'app', store: 'blocks' });
  for (let i = 0; i < 5; i++) {
    writer.call('sqlStep', { object: insert, dur: 3, result: 101 }, () => {
      writer.call('xLock', { object: db, aux: 1, result: i === 3 ? 5 : 0 });
      writer.call('xRead', { object: db, offset: 4096, length: 4096 }, () =>
        writer.call('idbGet', { object: idb, dur: 20 }),
      );
      writer.call('xLock', { object: db, aux: 2 });
      writer.call('xWrite', { object: journal, offset: 0, length: 512 });
      writer.call('xSync', { object: journal, dur: 30 });
      writer.call('xWrite', { object: db, offset: 4096, length: 4096 });
      writer.call('xSync', { object: db, dur: 30 });
      writer.call('xDelete', { object: journal });
      writer.call('xFileControl', { object: db, aux: 22 });
      writer.call('xUnlock', { object: db, aux: 0 });
    });
    writer.idle(7);
  }
  const select = reader.define({ kind: 'sql', text: 'SELECT * FROM note' });
  const file = reader.file('/other.db');
  reader.idle(11);
  for (let i = 0; i < 9; i++)
    reader.call('sqlStep', { object: select, dur: 2, result: 100 }, () =>
      reader.call('xRead', {
        object: file,
        offset: i * 4096,
        length: 4096,
        result: i === 4 ? 266 : 0,
      }),
    );
  writer.send();
  reader.send();
  return store;
}

const everything: EventFilter = {
  text: '',
  layers: null,
  errorsOnly: false,
  fromUs: null,
  toUs: null,
};

/** A filter's meaning, one event at a time. */
function bruteForce(
  store: TraceStore,
  filter: EventFilter,
): { t0: number; thread: number; row: number }[] {
  const found: { t0: number; thread: number; row: number }[] = [];
  for (const t of store.threads)
    for (let row = 0; row < t.events.count; row++) {
      const e = t.events.row(row);
      const words = [opName(e.op), objectName(t, e.object), statementText(t, row)].map((s) =>
        s.toLowerCase(),
      );
      if (
        !filter.text
          .toLowerCase()
          .split(/\s+/)
          .filter(Boolean)
          .every((word) => words.some((text) => text.includes(word)))
      )
        continue;
      if (filter.layers && !filter.layers.includes(OPS[e.op]!.layer)) continue;
      if (filter.errorsOnly && !isFailure(e.op, e.result, e.flags)) continue;
      if (filter.fromUs !== null && e.t0 + e.dur < filter.fromUs) continue;
      if (filter.toUs !== null && e.t0 >= filter.toUs) continue;
      found.push({ t0: e.t0, thread: t.index, row });
    }
  return found.sort((a, b) => a.t0 - b.t0);
}

describe('filters', () => {
  const store = sample();
  const filters: Partial<EventFilter>[] = [
    ...[
      {},
      { text: 'xread' },
      { text: 'JOURNAL' },
      { text: 'insert' },
      { text: 'select xread' },
      { text: 'nothing like it' },
    ],
    ...[
      { layers: ['web' as const] },
      { layers: ['sql' as const, 'vfs' as const], text: 'note' },
      { layers: [] },
    ],
    ...[{ errorsOnly: true }, { errorsOnly: true, text: 'other.db' }, { fromUs: 40, toUs: 120 }],
  ];
  it.each(filters)('%o passes the events that it describes, in order of time', (change) => {
    const filter = { ...everything, ...change };
    const query = new EventQuery(store);
    const expected = bruteForce(store, filter);
    expect(query.run(new Facts(store), filter)).toBe(expected.length);
    const lines = expected.map((_, line) => query.at(line));
    expect(lines.map((_, line) => query.beginOf(line))).toEqual(expected.map((e) => e.t0));
    expect(
      new Set(lines.map((l) => `${l.thread}:${store.threads[l.thread]!.events.rowOfSeq(l.seq)}`)),
    ).toEqual(new Set(expected.map((e) => `${e.thread}:${e.row}`)));
    lines.forEach((event, line) => expect(query.lineOf(event)).toBe(line));
    expect(() => query.at(expected.length)).toThrow(RangeError);
  });
  it('matches errors and finds hidden events', () => {
    const query = new EventQuery(store);
    expect(query.run(new Facts(store), { ...everything, errorsOnly: true })).toBe(2);
    expect(query.lineOf(store.threads[0]!.ref(0))).toBe(-1);
    expect(query.lineOf({ thread: 7, seq: 1 })).toBe(-1);
  });
});

describe('an event as text', () => {
  it('names its statement, parent, and children', () => {
    const store = sample();
    const step = detailsOfEvent(store, store.threads[0]!.ref(0));
    expect(step).toMatchObject({
      name: 'sqlite3_step',
      statement: 'INSERT INTO note VALUES (?)',
      childCount: 10,
      parent: null,
    });
    const read = detailsOfEvent(store, step.children[1]!);
    expect(read).toMatchObject({
      name: 'xRead',
      object: '/app.db',
      offset: 4096,
      parent: { name: 'sqlite3_step', ...store.threads[0]!.ref(0) },
      childCount: 1,
    });
    expect(() => detailsOfEvent(store, { thread: 0, seq: 1e6 })).toThrow(RangeError);
    expect(() => detailsOfEvent(store, { thread: 9, seq: 1 })).toThrow(RangeError);
  });
});

describe('ports', () => {
  const open: MessagePort[] = [];
  afterEach(() => {
    for (const port of open.splice(0)) port.close();
  });

  function session(): {
    store: TraceStore;
    ports: ThreadPorts;
    problems: string[];
    page: () => { port: MessagePort; heard: unknown[] };
  } {
    const store = newStore();
    const problems: string[] = [];
    const ports = new ThreadPorts(store, {
      onBatch: () => undefined,
      onThreads: () => undefined,
      onProblem: (text) => problems.push(text),
    });
    const page = (): { port: MessagePort; heard: unknown[] } => {
      const { port1, port2 } = new MessageChannel();
      const heard: unknown[] = [];
      port1.onmessage = (event: MessageEvent<unknown>) => heard.push(event.data);
      open.push(port1, port2);
      ports.attach(lineOf(port2));
      return { port: port1, heard };
    };
    return { store, ports, problems, page };
  }
  const info = (id: string) => ({
    id,
    kind: 'worker' as const,
    url: 'https://app.example/w.js',
    name: '',
    parent: null,
    timeOrigin: 1_700_000_000_000,
  });
  const hello = (id: string, protocol = PROTOCOL_VERSION): ThreadMessage => {
    const { timeOrigin, ...thread } = info(id);
    return { k: 'hello', protocol, thread, timeOrigin };
  };
  const row = [1, 2, 1, 2, 2, 0, 0, 4096, 0, 0, 0, 0];
  const batch = (id: string, first = 0): ThreadMessage => ({
    k: 'batch',
    batch: batchOf(info(id), first, [row.with(2, first * 2 + 1).with(3, first * 2 + 2)]),
  });
  const until = (condition: () => boolean): Promise<void> =>
    expect.poll(condition).toBe(true) as unknown as Promise<void>;

  it('accepts several threads on one port and acknowledges each', async () => {
    const { store, page, ports } = session();
    const { port, heard } = page();
    for (const id of ['a', 'b']) port.postMessage(hello(id));
    for (const message of [batch('a'), batch('b'), batch('a', 1)]) port.postMessage(message);
    await until(() => heard.length === 3);
    expect(heard).toEqual([
      { k: 'ack', thread: 'a', records: 1 },
      { k: 'ack', thread: 'b', records: 1 },
      { k: 'ack', thread: 'a', records: 2 },
    ]);
    expect(store.threads.map((t) => t.events.count)).toEqual([2, 1]);
    expect(ports.ignored).toBe(0);
  });

  it('counts and ignores what is malformed or comes from another thread', async () => {
    const { store, page, ports, problems } = session();
    const honest = page();
    honest.port.postMessage(hello('a'));
    honest.port.postMessage(batch('a'));
    await until(() => honest.heard.length === 1);
    const liar = page();
    const lies: unknown[] = [
      null,
      'text',
      {},
      { k: 'batch' },
      batch('a', 1),
      batch('nobody'),
      { k: 'bye', thread: 'a', reason: 'stopped' },
      hello('a'),
      hello('x', 99),
      { k: 'child' },
    ];
    for (const lie of lies) liar.port.postMessage(lie);
    await until(() => ports.ignored === lies.length);
    expect(store.threads.map((t) => [t.info.id, t.events.count, t.ended])).toEqual([
      ['a', 1, null],
    ]);
    expect(problems).toEqual([expect.stringContaining('protocol 99')]);
    honest.port.postMessage(batch('a', 1));
    await until(() => store.threads[0]!.events.count === 2);
  });

  it('adopts the port of a worker, and stops it too', async () => {
    const { store, page, ports } = session();
    const parent = page();
    const child = new MessageChannel();
    const heard: unknown[] = [];
    child.port1.onmessage = (event: MessageEvent<unknown>) => heard.push(event.data);
    open.push(child.port1);
    parent.port.postMessage({ k: 'child' }, [child.port2]);
    child.port1.postMessage(hello('worker'));
    await until(() => store.threads.length === 1);
    const stopped = ports.stop(60_000);
    await until(() => heard.length === 1);
    expect(heard).toEqual([{ k: 'stop' }]);
    child.port1.postMessage({ k: 'bye', thread: 'worker', reason: 'stopped' });
    await stopped; // well before its time limit: the last thread has said bye
    expect(store.threads[0]!.ended).toBe('stopped');
  });

  it("doesn't wait forever for a thread that hangs", async () => {
    const { store, page, ports } = session();
    page().port.postMessage(hello('stuck'));
    await until(() => store.threads.length === 1);
    await ports.stop(20);
    expect(store.threads[0]!.ended).toBeNull();
  });

  it("reports how long a thread that doesn't answer may have continued", async () => {
    const { store, page, ports } = session();
    const { port } = page();
    port.postMessage(hello('gone'));
    port.postMessage(batch('gone'));
    await until(() => store.eventCount === 1);
    await ports.stop(20);
    const [thread] = store.threads;
    thread!.unknownUntilUs = 8_000_000;
    const [tail] = new Facts(store).get(unknownTails);
    expect(tail).toMatchObject({ ended: null, us: 8_000_000 - lastEndUs(thread!) });
  });

  it("doesn't wait for a page in the back/forward cache, which has sent everything", async () => {
    const { store, page, ports } = session();
    const { port } = page();
    const navigation = (aux: number, at: number): number[] => {
      const cells = row.with(2, at * 2 + 1).with(3, at * 2 + 2);
      return cells.with(4, Op.navigation).with(-1, aux);
    };
    const goes = (first: number, aux: number): ThreadMessage => {
      const rows = [navigation(aux, first)];
      return { k: 'batch', batch: batchOf(info('page'), first, rows) };
    };
    const [BACK, INTO_CACHE] = [2, 3];
    const child = new MessageChannel();
    open.push(child.port1);
    port.postMessage(hello('page'));
    port.postMessage(goes(0, INTO_CACHE));
    port.postMessage({ k: 'child' }, [child.port2]);
    child.port1.postMessage(hello('worker'));
    await until(() => store.threads.length === 2 && store.eventCount === 1);
    await ports.stop(60_000); // at once
    const tails = new Facts(store).get(unknownTails);
    expect(tails).toMatchObject([{ thread: 1, us: null }]);
    expect(tailsText(tails)).toMatch(
      / was paused with its page in the back\/forward cache before /,
    );
    expect(store.threadById('worker')!.unknownUntilUs).toBe(lastEndUs(store.threadById('page')!));
    port.postMessage(goes(1, BACK));
    await until(() => store.eventCount === 2);
    expect(isCached(store.threadById('page')!)).toBe(false);
  });

  it('knows which threads ended before they could send their last records', async () => {
    const { store, page, ports } = session();
    const parent = page();
    const lines = ['terminated', 'left', 'said'].map((id) => {
      const { port1, port2 } = new MessageChannel();
      open.push(port1);
      parent.port.postMessage({ k: 'child' }, [port2]);
      port1.postMessage({ ...hello(id), thread: { ...info(id), parent: 'page' } });
      return port1;
    });
    for (const id of ['page', 'ring']) parent.port.postMessage(hello(id)); // the page reads the ring of one of them
    lines[0]!.postMessage(batch('terminated'));
    await until(() => store.threads.length === 5 && store.eventCount === 1);
    lines[2]!.postMessage({ k: 'bye', thread: 'said', reason: 'closed' });
    await until(() => store.threadById('said')!.ended !== null);
    parent.port.postMessage({ k: 'bye', thread: 'terminated', reason: 'terminated' });
    parent.port.postMessage({ k: 'bye', thread: 'ring', reason: 'terminated' });
    parent.port.postMessage({ k: 'bye', thread: 'page', reason: 'pagehide' });
    await until(() => store.threadById('page')!.ended !== null);
    const facts = new Facts(store);
    const tails = facts.get(unknownTails);
    expect(
      tails.map(({ thread, ended, us }) => [store.threads[thread]!.info.id, ended, us]),
    ).toEqual([
      ['terminated', 'terminated', expect.any(Number)],
      ['left', 'closed', null],
    ]);
    expect(tailsText(tails)).toMatch(
      /^.+ was terminated at most .+ after its last records; .+ ended with its page before it sent anything: what happened there then is unknown\.$/,
    );
    // it may have continued after that, and sent its records
    const terminated = store.threadById('terminated')!;
    terminated.unknownUntilUs = terminated.events.t0[0]! - 2_000_000;
    expect(new Facts(store).get(unknownTails)[0]!.us).toBe(50_000);
    expect(numbersFrom(facts).get('dropped')).toMatchObject({ value: 0, also: '2 tails unknown' });
    await ports.stop(20);
  });
  it('a shared worker ends with its page, unless another page relays for it', async () => {
    const { store, page, ports } = session();
    const relayed = (by: { port: MessagePort }): MessagePort => {
      const { port1, port2 } = new MessageChannel();
      open.push(port1);
      by.port.postMessage({ k: 'child' }, [port2]);
      port1.postMessage({
        ...hello('shared'),
        thread: { ...info('shared'), kind: 'shared-worker' },
      });
      return port1;
    };
    const shared = (): ThreadStore => store.threadById('shared')!;
    const [first, second] = [page(), page()];
    for (const [i, { port }] of [first, second].entries())
      port.postMessage({ ...hello(`page ${i}`), thread: { ...info(`page ${i}`), kind: 'page' } });
    relayed(first).postMessage(batch('shared'));
    await until(() => store.eventCount === 1);
    first.port.postMessage({ k: 'bye', thread: 'page 0', reason: 'pagehide' });
    await until(() => shared().ended === 'closed');
    expect(shared().unknownUntilUs).not.toBeNull();
    const port = relayed(second);
    await until(() => shared().ended === null);
    expect(shared().unknownUntilUs).toBeNull();
    port.postMessage({ k: 'bye', thread: 'shared', reason: 'stopped' });
    await until(() => shared().ended === 'stopped');
    // it has ended, and its last messages arrive again
    relayed(second).postMessage(batch('shared', 1));
    await until(() => shared().events.count === 2);
    expect([shared().ended, ports.ignored]).toEqual(['stopped', 0]);
    second.port.postMessage({ k: 'bye', thread: 'page 1', reason: 'pagehide' });
    await until(() => store.threadById('page 1')!.ended !== null);
    await ports.stop(60_000); // at once, without waiting
  });
  it('a worker of a shared worker ends without its last records, and once, however often that is reported', async () => {
    const { store, page, ports } = session();
    const relay = page();
    relay.port.postMessage({ ...hello('page'), thread: { ...info('page'), kind: 'page' } });
    const line = (): MessagePort => {
      const { port1, port2 } = new MessageChannel();
      open.push(port1);
      relay.port.postMessage({ k: 'child' }, [port2]);
      port1.postMessage({
        ...hello('shared'),
        thread: { ...info('shared'), kind: 'shared-worker' },
      });
      port1.postMessage({ ...hello('inner'), thread: { ...info('inner'), parent: 'shared' } });
      return port1;
    };
    const bye = { k: 'bye', thread: 'inner', reason: 'terminated', unheard: true };
    const first = line();
    first.postMessage(batch('inner'));
    first.postMessage(bye);
    await until(() => store.threadById('inner')?.ended === 'terminated');
    expect(store.threadById('inner')!.unknownUntilUs).not.toBeNull();
    const second = line();
    second.postMessage(batch('inner'));
    second.postMessage(batch('inner', 1));
    second.postMessage(bye);
    second.postMessage({ k: 'bye', thread: 'shared', reason: 'stopped' });
    await until(() => store.threadById('shared')!.ended !== null);
    expect(store.threadById('inner')).toMatchObject({ ended: 'terminated', missing: 0 });
    expect([store.eventCount, ports.ignored]).toEqual([2, 0]);
    relay.port.postMessage({ k: 'bye', thread: 'page', reason: 'stopped' });
    await until(() => store.threadById('page')!.ended !== null);
    await ports.stop(60_000); // at once, without waiting
  });
  it('a worker that was terminated before its connection opened is over when it says hello', async () => {
    const { store, page, ports } = session();
    const { port } = page();
    port.postMessage(hello('page'));
    port.postMessage({ k: 'bye', thread: 'quick', reason: 'terminated', unheard: true });
    const { port1, port2 } = new MessageChannel();
    open.push(port1);
    port.postMessage({ k: 'child' }, [port2]);
    port1.postMessage({ ...hello('quick'), thread: { ...info('quick'), parent: 'page' } });
    port1.postMessage(batch('quick'));
    await until(() => store.eventCount === 1);
    expect(store.threadById('quick')!.ended).toBe('terminated');
    expect(ports.ignored).toBe(0);
    port.postMessage({ k: 'bye', thread: 'page', reason: 'stopped' });
    await until(() => store.threadById('page')!.ended !== null);
    await ports.stop(60_000); // at once
  });
  it.each([
    ['its maker', false],
    ['its own line', true],
  ])('a worker that two lines speak for is one: %s first', async (_, ownFirst) => {
    const { store, page, ports } = session();
    const { port } = page();
    port.postMessage(hello('page'));
    const { port1, port2 } = new MessageChannel();
    open.push(port1);
    port.postMessage({ k: 'child' }, [port2]);
    const made = { ...hello('made'), thread: { ...info('made'), parent: 'page' } };
    const note: Definition = { kind: 'note', id: 0, topic: 'transport', text: 'once' };
    const without: ThreadMessage = { k: 'batch', batch: batchOf(info('made'), 2, [], [note]) };
    const first = [made, batch('made'), batch('made', 1), without];
    const thread = () => store.threadById('made');
    const relayed = async (): Promise<void> => first.forEach((one) => port.postMessage(one));
    const direct = async (): Promise<void> => {
      for (const one of [...first, batch('made', 2)]) port1.postMessage(one);
      await until(() => thread()?.events.count === 3);
    };
    for (const say of ownFirst ? [direct, relayed] : [relayed, direct]) await say();
    port.postMessage({ k: 'bye', thread: 'made', reason: 'terminated', unheard: true });
    await until(() => thread()!.ended === 'terminated');
    expect([store.threads.length, store.eventCount, ports.ignored]).toEqual([2, 3, 0]);
    expect([thread()!.received, thread()!.lost, thread()!.notes]).toEqual([3, 0, [note]]);
    port.postMessage({ k: 'bye', thread: 'page', reason: 'stopped' });
    await until(() => store.threadById('page')!.ended !== null);
    await ports.stop(60_000); // at once
  });
  it('accepts a late answer', async () => {
    const { store, page, ports } = session();
    const late = page();
    late.port.postMessage(hello('late'));
    await until(() => store.threads.length === 1);
    await ports.stop(20);
    expect(new Facts(store).get(unknownTails)).toMatchObject([{ ended: null, us: null }]);
    late.port.postMessage({ k: 'bye', thread: 'late', reason: 'stopped' });
    await until(() => store.threads[0]!.ended !== null);
    expect(new Facts(store).get(unknownTails)).toEqual([]);
  });
});

describe('requests', () => {
  interface Api {
    double(n: number): Promise<number>;
    fail(): Promise<never>;
    unsendable(): Promise<unknown>;
    bytes(): Promise<Uint8Array>;
  }
  const kept = { bytes: new Uint8Array(0) };
  class Target implements Api {
    double = (n: number): Promise<number> => Promise.resolve(n * 2);
    fail = (): Promise<never> => Promise.reject(new RangeError('too far'));
    unsendable = (): Promise<unknown> => Promise.resolve({ rows: [() => 1] });
    bytes(): Promise<Uint8Array> {
      kept.bytes = new Uint8Array(16);
      return Promise.resolve(kept.bytes);
    }
  }

  it('are answered separately, errors with name and message, bytes transferred', async () => {
    const { port1, port2 } = new MessageChannel();
    try {
      const push = serve(port1 as Channel, new Target());
      const pushed: unknown[] = [];
      const { api, fail } = remote<Api>(port2 as Channel, (message) => pushed.push(message));
      port1.start();
      port2.start();
      expect(await Promise.all([api.double(4), api.double(5)])).toEqual([8, 10]);
      await expect(api.fail()).rejects.toMatchObject({ name: 'RangeError', message: 'too far' });
      expect((await api.bytes()).byteLength).toBe(16);
      expect(kept.bytes.byteLength).toBe(0);
      // an answer that can't be sent is an error, not silence, because its caller would wait
      // forever
      await expect(api.unsendable()).rejects.toThrow(/could not be cloned/);
      const unknown = api as unknown as Record<string, () => Promise<unknown>>;
      await expect(unknown.toString!()).rejects.toThrow('no method');
      push({ news: 1 });
      await expect.poll(() => pushed).toEqual([{ news: 1 }]);
      const dead = new Error('gone');
      fail(dead);
      await expect(api.double(1)).rejects.toBe(dead);
    } finally {
      port1.close();
    }
  });
});
