/**
 * Workers that `vfscope record` pauses before their first line: what runs there, and that each is
 * always resumed.
 */
import { createContext, runInContext } from 'node:vm';
import { EventEmitter } from 'node:events';
import type { CDPSession, Page } from 'puppeteer-core';
import { describe, expect, test, vi } from 'vitest';
import { atFirstTouch } from '../../src/drive/at-first-touch.ts';
import { hookNatives } from '../../src/drive/native-workers.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';

/** A realm whose timers fire later, with `atFirstTouch` in it. */
function realm(): { run: (code: string) => unknown; begun: () => number; grow: () => void } {
  let count = 0;
  const context = createContext({ Begin: () => count++, Thing: class {} });
  const run = (code: string): unknown => runInContext(code, context);
  run(`{
    const define = (name, property) => Object.defineProperty(globalThis, name, { ...property, enumerable: true, configurable: true });
    define('indexedDB', { get: () => 'database' });
    define('fetch', { value: function fetch() {}, writable: true });
  }`);
  run(`(${String(atFirstTouch)})(Begin)`);
  return {
    run,
    begun: () => count,
    grow: () => void run('globalThis.setInterval = function setInterval() {}'),
  };
}

describe('at first touch', () => {
  test('begins once, when the platform is complete and the script touches it', () => {
    const { run, begun, grow } = realm();
    expect(run('indexedDB')).toBe('database'); // the browser's own: nothing is complete yet
    expect(begun()).toBe(0);
    grow();
    expect(run('1 + [2, 3].length')).toBe(3);
    expect(run('new Thing') && begun()).toBe(0);
    expect(run('indexedDB')).toBe('database');
    expect(begun()).toBe(1);
    expect(run('fetch.name')).toBe('fetch');
    expect(begun()).toBe(1);
  });

  test('restores the realm', () => {
    const { run, grow } = realm();
    grow();
    run('indexedDB');
    expect(run(`Object.getOwnPropertyDescriptor(globalThis, 'fetch').value.name`)).toBe('fetch');
    expect(run(`Object.getOwnPropertyDescriptor(globalThis, 'indexedDB').set`)).toBeUndefined();
  });

  test("a value that the script sets first stays the script's own", () => {
    const { run, begun, grow } = realm();
    grow();
    run('fetch = 5');
    expect([begun(), run('fetch')]).toEqual([1, 5]);
    expect(run(`JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, 'fetch'))`)).toBe(
      '{"value":5,"writable":true,"enumerable":true,"configurable":true}',
    );
  });

  test('begins at once if the platform is complete', () => {
    const begin = vi.fn();
    atFirstTouch(begin);
    expect(begin).toHaveBeenCalledOnce();
  });
});

type Answer = (method: string, params: Record<string, unknown>) => unknown;
/** A session that notes what is sent to it. */
class Session extends EventEmitter {
  readonly sent: string[] = [];
  readonly inner = new Map<string, Session>();
  constructor(private readonly answer: Answer = () => ({})) {
    super();
  }
  async send(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    this.sent.push(method);
    return this.answer(method, params);
  }
  connection(): { session: (id: string) => Session | undefined } {
    return { session: (id) => this.inner.get(id) };
  }
  async detach(): Promise<void> {
    this.sent.push('detach');
  }
}

/** A page that answers whether it follows a worker, and what is sent to its sessions. */
async function attached(
  type: string,
  url: string,
  worker: Session,
  follows: () => Promise<unknown> = () => Promise.resolve(true),
): Promise<void> {
  const [root, ofPage] = [new Session(), new Session()];
  const as = (session: Session): Promise<CDPSession> =>
    Promise.resolve(session as unknown as CDPSession);
  const page = {
    browser: () => ({ target: () => ({ createCDPSession: () => as(root) }) }),
    createCDPSession: () => as(ofPage),
    frames: () => [{ _id: 'frame', url: () => 'http://app.test/', evaluate: follows }],
  } as unknown as Page;
  await hookNatives(page, {
    scope: 'tab',
    hook: '(function hook(e){})({role:"page"});',
    capture: CAPTURE_DEFAULTS,
    carried: '',
  });
  const session = type === 'worker' ? ofPage : root;
  session.inner.set('1', worker);
  session.emit('Target.attachedToTarget', {
    sessionId: '1',
    targetInfo: { type, url, parentFrameId: 'frame' },
  });
  await vi.waitFor(() => expect(worker.sent).toContain('Runtime.runIfWaitingForDebugger'), 5000);
}
const AUTO = 'Target.setAutoAttach';
const HOOK = 'Runtime.evaluate';
const GO = 'Runtime.runIfWaitingForDebugger';

describe('a worker is resumed', () => {
  test('with the hook, if the frame that created it follows it', async () => {
    const worker = new Session(() => ({ result: {} }));
    await attached('worker', 'http://app.test/w.js', worker);
    expect(worker.sent).toEqual([AUTO, HOOK, GO]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['does not follow it', () => Promise.resolve(false)],
    ['has gone', () => Promise.reject(new Error('detached'))],
    ['never answers', () => new Promise(() => {})],
  ])('without it, if the frame %s', async (_, follows) => {
    const worker = new Session();
    await attached('worker', 'http://app.test/w.js', worker, follows);
    expect(worker.sent).toEqual([AUTO, GO]);
  });

  test.each<[string, Answer]>([
    ['fails', () => Promise.reject(new Error('gone'))],
    ['never answers', (method) => (method === HOOK ? new Promise(() => {}) : {})],
  ])('if it %s', async (_, answer) => {
    const worker = new Session(answer);
    await attached('worker', 'http://app.test/w.js', worker);
    expect(worker.sent).toEqual([AUTO, HOOK, GO]);
  });

  test.each([
    ['shared_worker', 'http://app.test/s.js', [HOOK, GO, 'detach']],
    ['service_worker', 'http://app.test/s.js', [HOOK, GO, 'detach']],
    ['service_worker', 'chrome-extension://vfscope/background.js', [GO, 'detach']],
    ['service_worker', 'http://other.test/s.js', [GO, 'detach']],
    ['shared_worker', 'blob:http://app.test/1', [GO, 'detach']],
  ])('%s %s', async (type, url, sent) => {
    const worker = new Session(() => ({ result: {} }));
    await attached(type, url, worker);
    await vi.waitFor(() => expect(worker.sent).toEqual(sent));
  });
});
