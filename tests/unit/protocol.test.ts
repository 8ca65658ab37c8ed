/**
 * Guards against messages that a page forges, and the relay over a connection that loses messages.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  isContentMessage,
  isFrameMessage,
  isGreeting,
  isPageMessage,
  isRelayMessage,
  isThreadCommand,
  checkedThreadMessage,
  isThreadMessage,
  PROTOCOL_VERSION,
  type RelayMessage,
  type ThreadCommand,
  type ThreadMessage,
} from '../../src/protocol/messages.ts';
import { drawName, RelayEnd } from '../../src/protocol/relay.ts';

const identity = {
  id: 'a1',
  kind: 'page',
  url: 'http://localhost/',
  name: '',
  parent: null,
} as const;
const hello: ThreadMessage = {
  k: 'hello',
  protocol: PROTOCOL_VERSION,
  thread: identity,
  timeOrigin: 1,
};
const bye: ThreadMessage = { k: 'bye', thread: 'a1', reason: 'stopped' };
const batchOf = (first: number, count = 1): ThreadMessage => ({
  k: 'batch',
  batch: {
    thread: 'a1',
    first,
    count,
    timeOrigin: 1,
    dropped: 0,
    faults: 0,
    definitions: [],
    records: new ArrayBuffer(count * 64),
  },
});

describe('guards', () => {
  test('honest messages pass', () => {
    for (const message of [hello, bye, batchOf(0), batchOf(7, 100), { k: 'child' }])
      expect(isThreadMessage(message)).toBe(true);
    for (const command of [{ k: 'stop' }, { k: 'ack', thread: 'a1', records: 5 }])
      expect(isThreadCommand(command)).toBe(true);
    expect(isPageMessage({ k: 'offer' })).toBe(true);
    for (const k of ['connected', 'restore', 'no-panel'])
      expect(isContentMessage({ k })).toBe(true);
    expect(isFrameMessage({ k: 'token', token: drawName() })).toBe(true);
    expect(isGreeting({ k: 'greeting' })).toBe(true);
    const relayed: RelayMessage[] = [
      { k: 'relay', source: 's', n: 1, seen: 0, body: { k: 'open', channel: 'c' } },
      {
        k: 'relay',
        source: 's',
        n: 2,
        seen: 0,
        body: { k: 'data', channel: 'c', data: hello, child: 'd' },
      },
      { k: 'relay', source: 's', n: 0, seen: 2, body: null },
    ];
    for (const message of relayed) expect(isRelayMessage(message)).toBe(true);
  });

  test('no guard throws on any input', () => {
    const guards = [
      isThreadMessage,
      isThreadCommand,
      isPageMessage,
      isContentMessage,
      isFrameMessage,
      isRelayMessage,
      isGreeting,
    ];
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withTypedArray: true, withMap: true }),
        (junk) => {
          for (const guard of guards) expect(guard(junk)).toBeTypeOf('boolean');
        },
      ),
    );
  });

  test('a message with one spoiled field is rejected', () => {
    const spoil = (message: object, path: string[], value: unknown): unknown => {
      const copy = structuredClone(message) as Record<string, unknown>;
      const holder = path
        .slice(0, -1)
        .reduce((at, key) => at[key] as Record<string, unknown>, copy);
      holder[path.at(-1)!] = value;
      return copy;
    };
    const batch = batchOf(0, 2);
    for (const field of [
      'thread',
      'first',
      'count',
      'timeOrigin',
      'dropped',
      'faults',
      'definitions',
      'records',
    ])
      for (const value of [undefined, null, -1, NaN, {}])
        expect(
          isThreadMessage(spoil(batch, ['batch', field], value)) &&
            !(field === 'timeOrigin' && value === -1),
          field,
        ).toBe(false);
    for (const count of [3, 65537, 1.5, 9e15])
      expect(isThreadMessage(spoil(batch, ['batch', 'count'], count))).toBe(false);
    for (const field of ['id', 'kind', 'url', 'name'])
      expect(isThreadMessage(spoil(hello, ['thread', field], 7))).toBe(false);
    expect(isThreadMessage(spoil(hello, ['thread', 'kind'], 'oracle'))).toBe(false);
    expect(isThreadMessage(spoil(bye, ['thread'], 'x'.repeat(65)))).toBe(false);
    const relayed = {
      k: 'relay',
      source: 's',
      n: 1,
      seen: 0,
      body: { k: 'data', channel: 'c', data: hello },
    };
    for (const path of [
      ['source'],
      ['n'],
      ['seen'],
      ['body', 'channel'],
      ['body', 'data'],
      ['body', 'k'],
    ])
      expect(isRelayMessage(spoil(relayed, path, {})) && path[1] !== 'data', path.join('.')).toBe(
        false,
      );
  });
});

describe('a definition of a page', () => {
  const said = (definition: unknown): ThreadMessage | null =>
    checkedThreadMessage({
      k: 'batch',
      batch: { ...(batchOf(0) as { batch: object }).batch, definitions: [definition] },
    });
  const engine = {
    kind: 'engine',
    id: 1,
    name: 'x',
    sqliteVersion: null,
    sourceId: null,
    suspension: 'none',
    note: null,
  };
  const layers = { vfs: true, sql: true, counters: false };
  const whole: object[] = [
    { kind: 'file', id: 1, path: '/a.db', fileKind: 'main-db', vfs: 'v', engine: 1, flags: 6 },
    { kind: 'idb-store', id: 1, db: 'd', store: 's' },
    { kind: 'sql', id: 1, text: 'SELECT ?', truncated: true },
    { kind: 'note', id: 0, topic: 'engine', text: 'why', url: 'https://a.example/' },
    { ...engine, layers, load: 7 },
    { kind: 'cost', id: 0, nsPerJsEvent: 1, nsPerVfsEvent: null, nsPerClockPair: 2 },
    { kind: 'values', id: 1, of: 3, values: ['1', 'NULL'] },
    { kind: 'stack', id: 1, of: 3, connection: 1, text: 'at f' },
    { kind: 'b-tree-pages', id: 1, file: 1, at: 5, page: 2, children: [3, 4] },
    {
      kind: 'database-header',
      id: 1,
      file: 1,
      at: 5,
      pageSize: 4096,
      pages: 9,
      free: 0,
      schema: 1,
      vacuum: 0,
    },
  ];

  test('is copied field by field, and nothing else is kept', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const definition of whole) {
      expect(said(definition), JSON.stringify(definition)).toMatchObject({
        batch: { definitions: [definition] },
      });
      const message = said({ ...definition, big: 1n, cyclic, toJSON: 'x' }) as {
        batch: { definitions: unknown[] };
      };
      expect(message.batch.definitions).toEqual([definition]);
    }
    const thread = { ...identity, index: 0, cyclic };
    expect(checkedThreadMessage({ ...hello, thread, more: 1n })).toEqual(hello);
  });

  test('with a field of another type is rejected', () => {
    for (const definition of whole)
      for (const key of Object.keys(definition).filter((k) => k !== 'truncated')) {
        // an optional field is left out, or has its value for unknown
        if (
          ['engine.sqliteVersion', 'engine.sourceId', 'engine.suspension', 'engine.note'].includes(
            `${(definition as { kind: string }).kind}.${key}`,
          )
        )
          continue;
        if (
          ['flags', 'engine', 'nsPerVfsEvent', 'nsPerClockPair', 'topic', 'fileKind'].includes(key)
        )
          continue;
        expect(
          said({ ...definition, [key]: 1n }),
          `${JSON.stringify(definition)} ${key}`,
        ).toBeNull();
      }
    for (const odd of [
      { kind: 'file', id: 1 },
      { kind: 'cost', id: 0, nsPerJsEvent: 1n },
      { kind: 'of tomorrow', id: 1 },
    ])
      expect(said(odd)).toBeNull();
    const loose = said({ ...whole[0], flags: 1n, engine: {}, fileKind: 'tape' }) as {
      batch: { definitions: unknown[] };
    };
    expect(loose.batch.definitions).toEqual([
      { ...whole[0], flags: 0, engine: 0, fileKind: 'other' },
    ]);
  });
});

describe('relay', () => {
  const ports: MessagePort[] = [];
  const channel = (): MessageChannel => {
    const made = new MessageChannel();
    ports.push(made.port1, made.port2);
    return made;
  };
  afterEach(() => ports.splice(0).forEach((port) => port.close()));

  /** Everything that a port has received, in order. */
  function inbox(port: MessagePort): { data: unknown; ports: readonly MessagePort[] }[] {
    ports.push(port);
    const got: { data: unknown; ports: readonly MessagePort[] }[] = [];
    port.onmessage = (event) => got.push({ data: event.data, ports: event.ports });
    return got;
  }

  /** Two ends. `lose` decides for each message whether it is lost. */
  function pair(lose: () => boolean): { page: RelayEnd; panel: RelayEnd; arrived: MessagePort[] } {
    const arrived: MessagePort[] = [];
    const way = (to: () => RelayEnd) => (message: RelayMessage) => {
      const copy = structuredClone(message);
      if (!lose()) queueMicrotask(() => to().receive(copy));
    };
    const page: RelayEnd = new RelayEnd(
      's',
      way(() => panel),
    );
    const panel: RelayEnd = new RelayEnd(
      's',
      way(() => page),
      (port) => arrived.push(port),
    );
    return { page, panel, arrived };
  }

  test('carries a port: messages both ways, and a child port on its own channel', async () => {
    const { page, arrived } = pair(() => false);
    const { port1: hook, port2: offered } = channel();
    page.carry(offered);
    hook.postMessage(hello);
    await expect.poll(() => arrived.length).toBe(1);
    const atPanel = inbox(arrived[0]!);
    await expect.poll(() => atPanel.map(({ data }) => data)).toEqual([hello]);

    const { port1: worker, port2: workerOffered } = channel();
    hook.postMessage({ k: 'child' }, [workerOffered]);
    worker.postMessage(batchOf(0));
    await expect.poll(() => atPanel.length).toBe(2);
    const fromWorker = inbox(atPanel[1]!.ports[0]!);
    await expect
      .poll(() => fromWorker.map(({ data }) => (data as ThreadMessage).k))
      .toEqual(['batch']);

    const atHook = inbox(hook);
    const atWorker = inbox(worker);
    const stop: ThreadCommand = { k: 'stop' };
    const ack: ThreadCommand = { k: 'ack', thread: 'a1', records: 1 };
    arrived[0]!.postMessage(stop);
    atPanel[1]!.ports[0]!.postMessage(ack);
    await expect
      .poll(() => [atHook, atWorker].map((box) => box.map(({ data }) => data)))
      .toEqual([[stop], [ack]]);
  });

  test("doesn't relay anything that no thread sends", async () => {
    const { page, arrived } = pair(() => false);
    const { port1: hook, port2: offered } = channel();
    page.carry(offered);
    for (const junk of [null, 7, { k: 'batch' }, { k: 'child' }, { k: 'relay' }])
      hook.postMessage(junk);
    hook.postMessage(bye);
    await expect.poll(() => arrived.length).toBe(1);
    const atPanel = inbox(arrived[0]!);
    await expect.poll(() => atPanel.map(({ data }) => data)).toEqual([bye]);
  });

  test('loses, duplicates, and reorders nothing if the connection loses messages and is repaired', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 1000 }),
        fc.integer({ min: 2, max: 5 }),
        async (seed, every) => {
          let step = seed;
          let broken = true;
          const { page, panel, arrived } = pair(() => broken && ++step % every === 0);
          const { port1: hook, port2: offered } = channel();
          page.carry(offered);
          const atHook = inbox(hook);
          for (let i = 0; i < 40; i++) hook.postMessage(batchOf(i));
          hook.postMessage(bye);
          await new Promise((done) => setImmediate(done));
          broken = false; // reconnected
          page.repair();
          panel.repair();
          await expect.poll(() => arrived.length).toBe(1);
          const atPanel = inbox(arrived[0]!);
          await expect.poll(() => atPanel.length).toBeGreaterThanOrEqual(41);
          expect(
            atPanel.map(({ data }) =>
              (data as ThreadMessage).k === 'batch'
                ? (data as { batch: { first: number } }).batch.first
                : 'bye',
            ),
          ).toEqual([...Array(40).keys(), 'bye']);
          arrived[0]!.postMessage({ k: 'stop' } satisfies ThreadCommand);
          await expect.poll(() => atHook.map(({ data }) => data)).toEqual([{ k: 'stop' }]);
          page.close();
          panel.close();
        },
      ),
      { numRuns: 25 },
    );
  });
});
