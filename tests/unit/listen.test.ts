/** What `vfscope listen` accepts: only a page's own posts, with the token, once each. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkedAnswer, streamText, type StreamPost } from '../../src/protocol/stream.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/messages.ts';
import { Receiver } from '../../src/listen/receiver.ts';
import { listen, type Listening } from '../../src/listen/server.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { Op } from '../../src/event/event.ts';
import { drainRecords } from '../../src/record/drain.ts';
import { Recorder } from '../../src/record/recorder.ts';

const PAGE = 'http://app.localhost/';

/** A post with `marks` more marks of a page. The first post also has the page's first message. */
function post(n: number, marks: number, recorder = new Recorder({ capacity: 256 })): StreamPost {
  for (let i = 0; i < marks; i++) recorder.instant(Op.mark, 0, NaN, 0);
  const drained = drainRecords(recorder.memory.buffer);
  const { timeOrigin } = performance;
  const thread = { id: 'page', kind: 'page', url: PAGE, name: '', parent: null } as const;
  const batch = {
    ...{ thread: 'page', first: drained?.first ?? 0, count: drained?.count ?? 0 },
    ...{ timeOrigin, dropped: 0, faults: 0 },
    definitions: recorder.takeDefinitions(),
    records: drained?.records ?? new ArrayBuffer(0),
  };
  const hello = { k: 'hello', protocol: PROTOCOL_VERSION, thread, timeOrigin } as const;
  return {
    source: 'a page',
    n,
    said: [
      ...(n === 1 ? [{ line: 0, message: hello }] : []),
      { line: 0, message: { k: 'batch', batch } },
    ],
  };
}

describe('a receiver', () => {
  test('acknowledges what it receives, and stores a post that is sent again once', async () => {
    const receiver = new Receiver((text) => expect.unreachable(text));
    const recorder = new Recorder({ capacity: 256 });
    const sent = streamText(post(1, 3, recorder));
    const first = receiver.receive(sent);
    expect(checkedAnswer(first!)).toEqual({
      commands: [{ line: 0, command: { k: 'ack', thread: 'page', records: 3 } }],
    });
    expect(receiver.receive(sent)).toBe(first);
    expect(checkedAnswer(receiver.receive(streamText(post(2, 2, recorder)))!)).toEqual({
      commands: [{ line: 0, command: { k: 'ack', thread: 'page', records: 5 } }],
    });
    const { store, header } = await readTrace(await receiver.bytes());
    expect([store.eventCount, store.dropped, header.origin]).toEqual([
      5,
      0,
      'http://app.localhost',
    ]);
  });

  test.each([
    ['no JSON', 'hello'],
    ['no post', '{}'],
    ['no message', '{"source":"a","n":1,"said":[{"line":0,"message":{"k":"rm"}}]}'],
    ['a line that is none', '{"source":"a","n":1,"said":[{"line":-1,"message":{"k":"child"}}]}'],
    ['a batch that lies', streamText(post(1, 1)).replace('"count":1', '"count":2')],
  ])('refuses %s', (_, text) => {
    const receiver = new Receiver((said) => expect.unreachable(said));
    expect(receiver.receive(text)).toBeNull();
    expect(receiver.threadCount).toBe(0);
  });
});

describe('its server', () => {
  let server: Listening;
  const receiver = new Receiver((text) => expect.unreachable(text));
  beforeAll(async () => {
    const origins = ['https://app.example.com'];
    server = await listen({ receiver, port: 0, origins, hook: { capture: 0 } });
  });
  afterAll(() => server.close());

  const ask = (
    url: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<{ status: number; allowed: string | undefined }> =>
    new Promise((done, failed) => {
      const asked = request(url, { method: body === undefined ? 'GET' : 'POST', headers });
      asked.once('error', failed).once('response', (response) => {
        response.resume();
        const allowed = response.headers['access-control-allow-origin'];
        done({ status: response.statusCode!, allowed });
      });
      asked.end(body);
    });
  const stream = (): string => server.script.replace('hook.js', 'stream');

  test('can only be reached from this machine', () => {
    expect(server.script).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\da-f]{32}\/hook\.js$/);
  });

  test('accepts posts from pages of this machine, and from origins that the user named', async () => {
    const text = streamText(post(1, 1));
    for (const origin of ['http://localhost:5173', PAGE.slice(0, -1), 'https://app.example.com'])
      expect(await ask(stream(), { origin }, text)).toEqual({ status: 200, allowed: origin });
    expect(receiver.threadCount).toBe(1);
  });

  test.each(['https://evil.example', 'http://localhost.evil.example', 'null'])(
    'refuses pages of %s',
    async (origin) => {
      const refused = { status: 403, allowed: undefined };
      expect(await ask(stream(), { origin }, streamText(post(1, 1)))).toEqual(refused);
    },
  );

  test('serves nothing without its token, or for requests under another host name', async () => {
    const { origin } = new URL(server.script);
    const wrong = `${origin}/${'0'.repeat(32)}/stream`;
    const none = { status: 404, allowed: undefined };
    for (const url of [`${origin}/`, `${origin}/hook.js`, wrong])
      expect(await ask(url)).toEqual(none);
    expect(await ask(server.script, { host: 'evil.example' })).toEqual(none);
    expect(await ask(server.script.replace('hook.js', '../hook.js'))).toEqual(none);
  });

  test("rejects anything that isn't a post", async () => {
    expect((await ask(stream(), {}, 'hello')).status).toBe(400);
  });
});
