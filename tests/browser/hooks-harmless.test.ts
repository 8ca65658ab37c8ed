/**
 * Harm that a recording must not do to an app: retain objects that the app drops, or fail to
 * restore because of something frozen.
 */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Flag } from '../../src/event/event.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import {
  buildHook,
  collected,
  collectUntil,
  openCases,
  PATCH_PLATFORM,
  serveCases,
  type SeenThread,
} from './hooks-harness.ts';

declare function countReads(): Promise<unknown>;
declare global {
  interface Window {
    engines: {
      throwInWrite(): Promise<unknown>;
      makeAndDrop(n: number): Promise<void>;
      alive(): Record<string, [alive: number, of: number]>;
      open(name: string): Promise<unknown>;
    };
  }
}

let browser: Browser;
let server: AppServer;
/** Delays scripts. */
let cases: Awaited<ReturnType<typeof serveCases>>;
let hook: string;
beforeAll(async () => {
  [browser, server, cases, hook] = await Promise.all([
    launchPlainBrowser(),
    createServer(),
    serveCases(),
    buildHook(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([server?.close(), cases?.close()]);
});

let labels = 0;
/**
 * A page with its own origin.
 * @param first runs before the hook
 * @param recorded false = without the hook
 */
const open = (first?: () => void, recorded = true): Promise<Page> =>
  openCases(
    browser,
    `${server.origin(`harmless-${++labels}`)}/hook-cases/`,
    recorded ? hook : null,
    'connected',
    first,
  );
const close = (page: Page): Promise<void> => page.browserContext().close();
const faults = (threads: SeenThread[]): string[] =>
  threads.flatMap((t) => t.notes.filter((n) => n.topic === 'tracer-error').map((n) => n.text));

test('engines that the app drops are collected, with their instances, memories, and tables', async () => {
  const page = await open();
  await page.addScriptTag({ type: 'module', url: 'engines.js' });
  await page.waitForFunction(() => 'engines' in window);
  const session = await page.createCDPSession();
  const alive = async (): Promise<unknown> => {
    await session.send('HeapProfiler.collectGarbage');
    return page.evaluate(() => window.engines.alive());
  };
  // a thread can have 16 at a time; later ones get the slots of collected ones
  for (const [n, all] of [
    [12, 12],
    [13, 25],
  ] as const) {
    await page.evaluate((some) => window.engines.makeAndDrop(some), n);
    const kinds = ['module', 'buffer', 'instance', 'Memory', 'Table'];
    const none = Object.fromEntries(kinds.map((kind) => [kind, [0, all]]));
    await expect.poll(alive, { timeout: 30_000 }).toEqual(none);
  }
  await page.evaluate(async () => {
    await window.engines.open('late.db');
    performance.mark('late');
  });
  const threads = await collectUntil(
    page,
    ([t]) => !!t?.events.some((e) => e.object?.kind === 'name' && e.object.text === 'late'),
  );
  const [thread] = threads;
  const engines = thread!.definitions.filter((d) => d.kind === 'engine');
  expect(new Set(engines.map((d) => d.id)).size).toBe(26);
  expect(engines.at(-1)).toMatchObject({ layers: { vfs: true, sql: true } });
  expect(
    thread!.events.filter((e) => e.object?.kind === 'file' && e.object.path.endsWith('late.db'))
      .length,
  ).toBeGreaterThan(0);
  expect(thread!.events.filter((e) => e.op === 'sqlite3_close').length).toBe(25);
  expect(faults(threads)).toEqual([]);
  await close(page);
});

test('a VFS method that throws has an end, and later calls have their own parents', async () => {
  const page = await open();
  await page.addScriptTag({ type: 'module', url: 'engines.js' });
  await page.waitForFunction(() => 'engines' in window);
  expect(await page.evaluate(() => window.engines.throwInWrite())).toBe(true);
  await page.evaluate(() => performance.mark('done'));
  const [thread] = await collectUntil(
    page,
    ([t]) => !!t?.events.some((e) => e.object?.kind === 'name' && e.object.text === 'done'),
  );
  const { events } = thread!;
  const threw = events.filter((e) => e.flags & Flag.threw);
  expect(threw.map((e) => [e.op, e.result])).toEqual([
    ['sqlite3_step', -1],
    ['xWrite', -1],
  ]);
  const [step, write] = threw;
  expect(write!.endSeq).toBeGreaterThan(write!.seq);
  expect(step!.endSeq).toBeGreaterThan(write!.endSeq);
  expect(events.filter((e) => e.op.startsWith('x') && e.endSeq === 0)).toEqual([]);
  expect(faults([thread!])).toEqual([]);
  await close(page);
});

test('the reason of a rejected promise comes from the platform, not from getters of the app', async () => {
  const page = await open();
  // a script of the page's own, because a script that is evaluated from outside gets no rejection
  // events
  await page.addScriptTag({
    content: `
      const inFrame = document.body.appendChild(document.createElement('iframe')).contentWindow;
      class Own extends Error {
        get name() {
          throw new Error('the app was asked');
        }
      }
      (async () => {
        for (const reason of [
          new TypeError('odd'),
          new Own('boom'),
          new DOMException('gone', 'AbortError'),
          new inFrame.DOMException('far', 'DataError'),
          'a text',
        ]) {
          const heard = new Promise((done) => addEventListener('unhandledrejection', done, { once: true }));
          void Promise.reject(reason);
          await heard;
        }
        performance.mark('done');
      })();`,
  });
  const [thread] = await collectUntil(
    page,
    ([t]) => !!t?.events.some((e) => e.object?.kind === 'name' && e.object.text === 'done'),
  );
  const told = thread!.events.flatMap((e) => (e.object?.kind === 'message' ? e.object.text : []));
  expect(told).toEqual([
    'TypeError: odd',
    'Error: boom',
    'AbortError: gone',
    'DataError: far',
    'string',
  ]);
  expect(faults([thread!])).toEqual([]);
  await close(page);
});

test('getters and conversions in arguments run as often as without vfscope', async () => {
  const countsIn = async (page: Page): Promise<unknown> => {
    await page.addScriptTag({ url: 'argument-reads.js' });
    return page.evaluate(async () => [
      await countReads(),
      await new Promise(
        (done) => (new Worker('argument-reads.js').onmessage = ({ data }) => done(data)),
      ),
    ]);
  };
  const [native, hooked] = [await open(undefined, false), await open()];
  const without = (await countsIn(native)) as Record<string, number>[];
  expect(
    without.map((counts) => [
      counts['element'],
      counts['lock.mode'],
      counts['write.at'],
      counts['size'],
      counts['part'],
      counts['worker.type'],
      counts['refused address'],
      counts['service worker toString'],
      counts['message'],
      counts['init.referrerPolicy'],
      counts['failing'],
    ]),
  ).toEqual([
    [1, 1, undefined, undefined, 1, 2, 1, 1, 1, 1, undefined],
    [1, 1, 1, 6, 1, 2, 1, undefined, 1, 1, 1],
  ]);
  expect(await countsIn(hooked)).toEqual(without);
  const threads = await collectUntil(hooked, (all) =>
    all.some((t) => t.events.some((e) => e.op === 'opfs.close' && e.endSeq > 0)),
  );
  expect(faults(threads)).toEqual([]);
  const worker = threads.find((t) => t.identity.url.endsWith('argument-reads.js'))!;
  const calls = worker.events
    .filter((e) => /^opfs\.(read|write|truncate)$/.test(e.op))
    .map((e) => [e.op, e.offset, e.length]);
  // the result of an object's conversion is unknown
  expect(calls).toEqual([
    ['opfs.write', NaN, 8],
    ['opfs.read', 4, 4],
    ['opfs.read', 4, 4],
    ['opfs.read', 4, 4],
    ['opfs.read', NaN, 4],
    ['opfs.truncate', NaN, 0],
  ]);
  await Promise.all([close(native), close(hooked)]);
});

test('vfscope calls no platform function that the app replaces, and none of its ports passes through one', async () => {
  const page = await openCases(browser, 'about:blank', hook);
  await page.evaluateOnNewDocument(`${PATCH_PLATFORM};patchPlatform()`);
  await page.goto(`${server.origin(`harmless-${++labels}`)}/hook-cases/`);
  await page.evaluate(async () => {
    const done = (request: IDBRequest): Promise<unknown> =>
      new Promise((settled) => (request.onsuccess = settled));
    const opening = indexedDB.open('a');
    opening.onupgradeneeded = () => opening.result.createObjectStore('s');
    await done(opening);
    await done(
      opening.result.transaction('s', 'readwrite').objectStore('s').put({ a: 1 }, ['k', 1]),
    );
    localStorage.setItem('a', 'b');
    for (let i = 0; i < 100; i++) performance.mark('replaced');
    await navigator.locks.request('a', () => performance.mark('done'));
  });
  await collectUntil(
    page,
    ([t]) => !!t?.events.some((e) => e.object?.kind === 'name' && e.object.text === 'done'),
  );
  await page.evaluate(() => window.vfscopeStandIn.stop());
  const threads = await collectUntil(page, ([t]) => t?.bye === 'stopped');
  expect(await page.evaluate(() => (window as unknown as { calls: string[] }).calls)).toEqual([]);
  const [thread] = threads;
  expect(thread!.events.filter((e) => e.op === 'mark').length).toBe(101);
  expect(thread!.events.filter((e) => e.op === 'idb.put' && e.endSeq > 0).length).toBe(1);
  expect(faults(threads)).toEqual([]);
  await close(page);
});

/**
 * What `look` returns in a page without the hook and in one with it.
 * @param first the app's first script
 */
async function withoutAndWith(
  look: () => unknown,
  first?: () => void,
): Promise<{ without: unknown; hooked: unknown; threads: SeenThread[] }> {
  const pages = [await open(first, false), await open(first)];
  const [without, hooked] = await Promise.all(pages.map((page) => page.evaluate(look)));
  const threads = await collectUntil(pages[1]!, (all) => all.length > 0);
  await Promise.all(pages.map(close));
  return { without, hooked, threads };
}

test("the app's own trustedTypes without isScriptURL", async () => {
  const { without, hooked, threads } = await withoutAndWith(
    () => {
      const made = (make: () => unknown): string => {
        try {
          return typeof make();
        } catch (e) {
          return String(e);
        }
      };
      return [
        made(() => new SharedWorker('shared.js')),
        made(() => navigator.serviceWorker.register('echo.js')),
        made(() => new Worker('echo.js')),
      ];
    },
    () => {
      const value = { createPolicy: (_: string, rules: object) => rules };
      Object.defineProperty(window, 'trustedTypes', { value });
    },
  );
  expect(without).toEqual(['object', 'object', 'object']);
  expect(hooked).toEqual(without);
  expect(faults(threads)).toEqual([]);
});

test('an app that changes how objects become JSON keeps its workers, and its definitions arrive', async () => {
  const { without, hooked, threads } = await withoutAndWith(
    async () => {
      performance.mark('a name');
      const answer = (worker: Worker): Promise<unknown> =>
        new Promise((done) => {
          worker.onmessage = ({ data }) => done(data);
          worker.onerror = () => done('error');
        });
      const text = new Blob(['postMessage(self.name)'], { type: 'text/javascript' });
      const answers = [
        new Worker(URL.createObjectURL(text), { name: 'blob' }),
        new Worker('argument-reads.js'),
      ].map(answer);
      return [typeof (await answers[1]), await answers[0], JSON.stringify({ a: 1 })];
    },
    () => {
      const toJSON = { value: () => 'of the app', configurable: true };
      Object.defineProperty(Object.prototype, 'toJSON', toJSON);
    },
  );
  expect(without).toEqual(['object', 'blob', '"of the app"']);
  expect(hooked).toEqual(without);
  const [thread] = threads;
  expect(thread!.events.some((e) => e.object?.kind === 'name' && e.object.text === 'a name')).toBe(
    true,
  );
  expect(thread!.notes.map(({ text }) => text)).toEqual(
    Array(2).fill('Not recorded: it cannot be wrapped: your app defines toJSON.'),
  );
});

test('a worker is recorded if the app has a variable named origin', async () => {
  const page = await open();
  await page.evaluate(() => {
    Object.assign(window, { origin: 'of the app' });
    Object.assign(window, { worker: new Worker('echo.js') });
  });
  const threads = await collectUntil(page, (all) => all.length === 2);
  expect(threads.map((t) => [t.identity.kind, t.notes.length])).toEqual([
    ['page', 0],
    ['worker', 0],
  ]);
  await close(page);
});

test("the app learns that the page's policy refuses its own Blob script while a worker starts", async () => {
  const { without, hooked, threads } = await withoutAndWith(async () => {
    const policy = document.createElement('meta');
    policy.httpEquiv = 'Content-Security-Policy';
    policy.content = "script-src 'self'; worker-src 'self' blob:";
    document.head.append(policy);
    const refused = new Promise((done) =>
      addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective)),
    );
    const script = document.createElement('script');
    script.src = URL.createObjectURL(new Blob(['0']));
    const first = new Worker('echo.js');
    document.head.append(script);
    return [await refused, [first, new Worker('echo.js')].length];
  });
  expect(without).toEqual(['script-src-elem', 2]);
  expect(hooked).toEqual(without);
  expect(threads.flatMap((t) => t.notes.map((n) => n.text))).toEqual([]);
});

test("vfscope's messages pass no getter of the app, at neither end of a worker", async () => {
  const countReads = (): void => {
    const texts: string[] = [];
    Object.assign(globalThis, { texts });
    for (const name of ['data', 'ports']) {
      const before = Object.getOwnPropertyDescriptor(MessageEvent.prototype, name)!;
      const get = function (this: MessageEvent): unknown {
        const value: unknown = before.get!.call(this);
        if (this.target instanceof MessagePort) return value; // the stand-in's
        texts.push(`${name} ${JSON.stringify(value)}`);
        return value;
      };
      Object.defineProperty(MessageEvent.prototype, name, { ...before, get });
    }
  };
  const look = async (page: Page): Promise<unknown> => {
    await page.evaluate(countReads);
    await page.evaluate(async (inWorker) => {
      const text = `(${inWorker})(); onmessage = () => postMessage(texts)`;
      const worker = new Worker(URL.createObjectURL(new Blob([text])));
      Object.assign(globalThis, { worker });
      worker.postMessage('go');
      await new Promise((done) => (worker.onmessage = done));
      (window.vfscopeStandIn as Window['vfscopeStandIn'] | undefined)?.stop();
    }, String(countReads));
    await page.waitForFunction(() => !(Symbol.for('vfscope.thread') in globalThis));
    return page.evaluate(async () => {
      const { worker, texts } = globalThis as unknown as { worker: Worker; texts: string[] };
      worker.postMessage('after the end');
      const event = await new Promise<MessageEvent>((done) => (worker.onmessage = done));
      return [[...texts], event.data as unknown];
    });
  };
  const pages = [await open(undefined, false), await open()];
  const [without, hooked] = await Promise.all(pages.map(look));
  expect(without).toEqual([[], []]);
  expect(hooked).toEqual(without);
  await Promise.all(pages.map(close));
});

test("the app's own localStorage isn't read as sessionStorage, and a lock's options are read after its name", async () => {
  const { without, hooked } = await withoutAndWith(async () => {
    const read: string[] = [];
    const { localStorage: native } = window;
    Object.defineProperty(window, 'localStorage', {
      get: () => (read.push('localStorage'), native),
    });
    sessionStorage.setItem('a', 'b');
    const name = { toString: () => (read.push('name'), 'a') } as unknown as string;
    const options = {
      get mode(): LockMode {
        read.push('mode');
        return 'shared';
      },
    };
    await navigator.locks.request(name, options, () => {});
    return read;
  });
  expect(without).toEqual(['name', 'mode']);
  expect(hooked).toEqual(without);
});

test("what the app has frozen stays, is named, and doesn't prevent restoring the rest", async () => {
  const page = await open(() => {
    const natives = [
      ...[
        [Storage.prototype, 'getItem'],
        [Atomics, 'wait'],
        [Performance.prototype, 'mark'],
        [WebAssembly, 'instantiate'],
      ],
      ...[
        [IDBObjectStore.prototype, 'put'],
        [IDBFactory.prototype, 'open'],
        [LockManager.prototype, 'request'],
        [FileSystemFileHandle.prototype, 'getFile'],
        [WebAssembly.Table.prototype, 'set'],
        [window, 'Worker'],
        [URL, 'createObjectURL'],
      ],
    ].map(([owner, key]) => ({
      owner,
      key,
      native: (owner as Record<string, unknown>)[key as string],
    }));
    const patched = (): unknown[] =>
      natives
        .filter(
          ({ owner, key, native }) => (owner as Record<string, unknown>)[key as string] !== native,
        )
        .map(({ key }) => key);
    const capture = { shared: true }; // SharedWorkers run with our script
    Object.assign(window, { patched, [Symbol.for('vfscope.capture')]: capture });
  });
  const patched = (): Promise<unknown[]> =>
    page.evaluate(() => (window as unknown as { patched(): unknown[] }).patched());
  expect(await patched()).toHaveLength(11);
  await page.evaluate(() => {
    const prototypes = [Storage.prototype, Performance.prototype, SharedWorker.prototype];
    for (const object of [...prototypes, Atomics, WebAssembly, File]) Object.freeze(object);
  });
  expect(await page.evaluate(() => (Object.getPrototypeOf(File) as { name: string }).name)).toBe(
    'Blob',
  );
  await page.evaluate(() => window.vfscopeStandIn.stop());
  const [thread] = await collectUntil(page, ([t]) => t?.bye === 'stopped');
  expect(await patched()).toEqual(['getItem', 'wait', 'mark', 'instantiate']);
  expect(
    await page.evaluate(() => ['_sqlite3_step' in {}, Symbol.for('vfscope.thread') in globalThis]),
  ).toEqual([false, false]);
  const notes = thread!.notes.filter((n) => n.topic === 'not-restored').map((n) => n.text);
  expect(notes).toHaveLength(1);
  for (const name of [
    'Performance.measure',
    'Performance.mark',
    'WebAssembly.Instance',
    'Storage.getItem',
    'Atomics.wait',
    'SharedWorker.constructor',
  ])
    expect(notes[0]).toContain(name);
  // and still works
  expect(
    await page.evaluate(() => {
      localStorage.setItem('a', 'b');
      return [
        localStorage.getItem('a'),
        performance.mark('x').name,
        new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof
          WebAssembly.Module,
      ];
    }),
  ).toEqual(['b', 'x', true]);
  expect(faults(await collected(page))).toEqual([]);
  await close(page);
});

test('Blobs are collected after the app revokes their URL, as text or as URL', async () => {
  const page = await open();
  await page.evaluate(() => {
    const blobs = Array.from({ length: 20 }, (_, i) => {
      const blob = new Blob([new Uint8Array(1000)]);
      const url = URL.createObjectURL(blob);
      URL.revokeObjectURL(i % 2 ? url : (new URL(url) as unknown as string));
      return new WeakRef(blob);
    });
    Object.assign(globalThis, { blobs });
  });
  const session = await page.createCDPSession();
  await expect
    .poll(async () => {
      await session.send('HeapProfiler.collectGarbage');
      return page.evaluate(
        () =>
          (globalThis as unknown as { blobs: WeakRef<Blob>[] }).blobs.filter((ref) => ref.deref())
            .length,
      );
    })
    .toBe(0);
  await close(page);
});

test('promises that the app freezes, seals, or gives a constructor resolve to their values', async () => {
  const seen = [];
  for (const recorded of [false, true]) {
    const page = await open(undefined, recorded);
    seen.push(
      await page.evaluate(async () => {
        const rejected: string[] = [];
        addEventListener('unhandledrejection', ({ reason }) => void rejected.push(String(reason)));
        const found = [
          Object.freeze(navigator.locks.request('a', () => 1)),
          Object.seal(navigator.locks.request('b', () => 2)),
          Object.freeze(navigator.storage.getDirectory().then(({ name }) => `root${name}`)),
        ];
        const values = await Promise.all(found);
        const late = Object.freeze(navigator.locks.request('c', () => 3));
        await navigator.locks.request('c', () => 4); // the previous one has settled
        const then = await new Promise((done) => void late.then(done));
        /** The app sets this constructor on a single promise. */
        class Own extends Promise<unknown> {
          /** A class, so strict code, in which invalid assignments throw. */
          static of(promise: Promise<unknown>): void {
            promise.constructor = this;
          }
        }
        const given = navigator.locks.request('d', () => 5);
        Own.of(given);
        const derived = given.then((value) => value);
        const own: unknown[] = [
          derived instanceof Own,
          await derived,
          Object.getOwnPropertyDescriptor(given, 'constructor')?.writable,
        ];
        const refused = Object.freeze(navigator.locks.request('e', () => 6));
        try {
          Own.of(refused);
        } catch (error) {
          own.push((error as Error).name);
        }
        await new Promise((done) => setTimeout(done)); // rejections are reported after the task
        return { values, then, own, rejected };
      }),
    );
    await close(page);
  }
  expect(seen[0]).toEqual({
    values: [1, 2, 'root'],
    then: 3,
    own: [true, 5, true, 'TypeError'],
    rejected: [],
  });
  expect(seen[1]).toEqual(seen[0]);
});

test("a worker that the app has frozen doesn't prevent restoring the rest", async () => {
  const page = await openCases(browser, cases.url('plain'), hook);
  await page.evaluate(() => {
    window.vfscopeStandIn.stop();
    Object.assign(globalThis, { worker: Object.freeze(new Worker('echo.js?held=')) });
  });
  await page.waitForFunction(() => !(Symbol.for('vfscope.thread') in globalThis));
  expect(
    await page.evaluate(() => [String(Worker.prototype.postMessage), Worker.name, Blob.name]),
  ).toEqual(['function postMessage() { [native code] }', 'Worker', 'Blob']);
  expect(faults(await collected(page))).toEqual([]);
  await close(page);
});

test("a worker whose script has not arrived doesn't prevent restoring the rest, and gets its messages", async () => {
  const page = await openCases(browser, cases.url('plain'), hook);
  await page.evaluate(() => {
    window.vfscopeStandIn.stop();
    const worker = new Worker('echo.js?held=');
    const heard: unknown[] = [];
    worker.onmessage = ({ data }: MessageEvent<{ echo: string }>) => heard.push(data.echo);
    worker.postMessage('before');
    Object.assign(globalThis, { worker, heard });
  });
  await page.waitForFunction(() => !(Symbol.for('vfscope.thread') in globalThis));
  const look = (): Promise<unknown> =>
    page.evaluate(() => {
      const { worker } = globalThis as unknown as { worker: Worker };
      const { postMessage } = Worker.prototype as { postMessage: unknown };
      return [String(postMessage), Worker.name, Object.keys(worker)];
    });
  const native = ['function postMessage() { [native code] }', 'Worker'];
  expect(await look()).toEqual([...native, ['postMessage', 'terminate']]);
  const heard = await page.evaluate(async () => {
    const { worker, heard } = globalThis as unknown as { worker: Worker; heard: string[] };
    worker.postMessage('after');
    while (heard.length < 2) await fetch('release');
    return heard;
  });
  expect(heard).toEqual(['before', 'after']);
  expect(await look()).toEqual([...native, []]);
  await close(page);
});
