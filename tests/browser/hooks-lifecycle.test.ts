/** Handshake, start and stop, blocked and long-running threads, and platform promises. */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../src/event/definitions.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import {
  buildHook,
  collected,
  collectUntil,
  openCases,
  serveCases,
  type SeenThread,
} from './hooks-harness.ts';
import { LAST_MESSAGES, terminatedAtReply } from './last-messages.ts';

declare function rejectionCases(): Promise<unknown>;
declare global {
  interface Window {
    differences(): string[];
  }
}

let browser: Browser;
let server: Awaited<ReturnType<typeof serveCases>>;
let hook: string;
beforeAll(async () => {
  [browser, server, hook] = await Promise.all([launchPlainBrowser(), serveCases(), buildHook()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});
const close = (page: Page): Promise<void> => page.browserContext().close();

/**
 * Runs before the hook and stores every property of every global interface. `differences()` names
 * those that changed.
 */
function rememberEverything(): void {
  const everything = (): Map<string, PropertyDescriptor> => {
    const found = new Map<string, PropertyDescriptor>();
    const add = (name: string, owner: object): void => {
      for (const key of Reflect.ownKeys(owner)) {
        if (
          ['vfscopeStandIn', 'differences', 'probe', 'listen', 'talk', 'runCases'].includes(
            String(key),
          )
        )
          continue; // belong to the test and the page
        found.set(`${name}.${String(key)}`, Object.getOwnPropertyDescriptor(owner, key)!);
      }
    };
    add('window', window);
    for (const key of Object.getOwnPropertyNames(window)) {
      if (!/^[A-Z]/.test(key)) continue;
      const value = (window as unknown as Record<string, unknown>)[key];
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null) continue;
      add(key, value);
      const prototype = (value as { prototype?: object }).prototype;
      if (prototype) add(`${key}.prototype`, prototype);
    }
    return found;
  };
  const before = everything();
  window.differences = () => {
    const after = everything();
    const differ: string[] = [];
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [a, b] = [before.get(name), after.get(name)];
      const same =
        a &&
        b &&
        (['value', 'get', 'set', 'writable', 'enumerable', 'configurable'] as const).every((part) =>
          Object.is(a[part], b[part]),
        );
      if (!same) differ.push(name);
    }
    return differ;
  };
}

function openRemembering(policy: string, answer = 'connected'): Promise<Page> {
  return openCases(browser, server.url(policy), hook, answer, rememberEverything);
}

test.each(['plain', 'isolated'])(
  'stop puts everything back, in the page and in its workers (%s)',
  async (policy) => {
    const page = await openRemembering(policy);
    const during = await page.evaluate(() => window.differences());
    expect(during).toEqual(
      expect.arrayContaining([
        'window.Worker',
        'IDBObjectStore.prototype.put',
        'WebAssembly.instantiate',
        'Storage.prototype.getItem',
      ]),
    );
    // a worker that reports whether its methods are the platform's, and that must keep running
    const probe = `onmessage = () => postMessage([String(IDBObjectStore.prototype.put), String(navigator.locks.request), String(self.close)]);`;
    await page.evaluate((script) => {
      const worker = new Worker(URL.createObjectURL(new Blob([script])));
      Object.assign(window, { probe: worker });
      worker.postMessage('are you there');
      return new Promise((done) => (worker.onmessage = done));
    }, probe);
    await collectUntil(page, (threads) => threads.some((t) => t.identity.kind === 'worker'));
    await page.evaluate(() => window.vfscopeStandIn.stop());
    const threads = await collectUntil(page, (all) => all.every((t) => t.bye !== null));
    expect(threads.map((t) => t.bye)).toEqual(threads.map(() => 'stopped'));
    expect(threads.flatMap((t) => t.notes.filter((n) => n.topic === 'tracer-error'))).toEqual([]);
    expect(await page.evaluate(() => window.differences())).toEqual([]);
    const native = ['put', 'request', 'close'].map(
      (name) => `function ${name}() { [native code] }`,
    );
    const asked = (): Promise<unknown> =>
      page.evaluate(() => {
        const { probe } = window as unknown as { probe: Worker };
        probe.postMessage('ask');
        return new Promise((done) => (probe.onmessage = ({ data }) => done(data)));
      });
    await expect.poll(asked, { timeout: 30_000 }).toEqual(native);
    await close(page);
  },
);

test("a tab that isn't recorded is restored at once and sends nothing", async () => {
  const page = await openRemembering('plain', 'restore');
  await expect.poll(() => page.evaluate(() => window.differences())).toEqual([]);
  expect(
    await page.evaluate(() => [
      window.vfscopeStandIn.hellos.length,
      window.vfscopeStandIn.batches.length,
    ]),
  ).toEqual([0, 0]);
  await close(page);
});

test('without a panel everything waits, and arrives complete once there is one', async () => {
  const page = await openCases(browser, server.url('plain'), hook, 'no-panel');
  await page.evaluate(() => {
    for (let i = 0; i < 3000; i++) performance.mark('early');
    new Worker('echo.js');
  });
  await expect
    .poll(() => page.evaluate(() => window.vfscopeStandIn.offers), { timeout: 30_000 })
    .toBeGreaterThanOrEqual(2);
  await page.evaluate(() => (window.vfscopeStandIn.answer = 'connected'));
  const threads = await collectUntil(
    page,
    (all) =>
      all.some((t) => t.events.filter((e) => e.op === 'mark').length === 3000) &&
      all.some((t) => t.identity.kind === 'worker' && t.events.length > 3),
  );
  expect(threads[0]!.identity.kind).toBe('page');
  expect(threads.map((t) => t.dropped)).toEqual([0, 0]);
  await close(page);
});

test('the hook runs once per realm, and again after a stop', async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  await page.evaluate(hook);
  await page.evaluate(() => performance.mark('one'));
  await collectUntil(
    page,
    (all) => all.flatMap((t) => t.events).filter((e) => e.op === 'mark').length === 1,
  );
  expect((await collected(page)).length).toBe(1);
  await page.evaluate(() => window.vfscopeStandIn.stop());
  await collectUntil(page, ([first]) => first!.bye === 'stopped');
  await page.evaluate(() => performance.mark('unrecorded'));
  await page.evaluate(hook);
  await page.evaluate(() => performance.mark('two'));
  const threads = await collectUntil(
    page,
    (all) => all.length === 2 && all[1]!.events.some((e) => e.op === 'mark'),
  );
  expect(threads.map((t) => t.events.filter((e) => e.op === 'mark').length)).toEqual([1, 1]);
  await close(page);
});

test('promises of the platform: the same unhandledrejection events, in the same turn', async () => {
  const run = async (page: Page): Promise<unknown> => {
    await page.addScriptTag({ url: '/rejections.js' });
    return page.evaluate(() => rejectionCases());
  };
  const [native, hooked] = [
    await openCases(browser, server.url('plain'), null),
    await openCases(browser, server.url('plain'), hook),
  ];
  const without = await run(native);
  expect(without).toContainEqual(['unhandledrejection', 'never handled', 'NotFoundError']);
  expect(without).toContainEqual(['unhandledrejection', 'stolen, never handled', 'AbortError']);
  expect(without).toContainEqual(['rejectionhandled', 'stolen, handled late', 'AbortError']);
  expect(await run(hooked)).toEqual(without);
  await Promise.all([close(native), close(hooked)]);
});

test('a worker that blocks in Atomics.wait is read while it blocks', async () => {
  const page = await openCases(browser, server.url('isolated'), hook);
  await page.evaluate(() => {
    const shared = new SharedArrayBuffer(8);
    const worker = new Worker('blocked.js');
    worker.postMessage(shared);
    Object.assign(window, {
      shared,
      answer: new Promise((done) => (worker.onmessage = ({ data }) => done(data))),
    });
  });
  const blocked = await collectUntil(page, (all) =>
    all.some((t) => t.events.some((e) => e.op === 'atomics.wait')),
  );
  const worker = blocked.find((t) => t.identity.kind === 'worker')!;
  expect(worker.events.map((e) => e.op)).toEqual(
    expect.arrayContaining(['threadStart', 'mark', 'atomics.wait']),
  );
  expect(worker.events.find((e) => e.op === 'atomics.wait')!.endSeq).toBe(0);
  const answer = await page.evaluate(() => {
    const { shared, answer } = window as unknown as {
      shared: SharedArrayBuffer;
      answer: Promise<unknown>;
    };
    Atomics.notify(new Int32Array(shared), 0);
    return answer;
  });
  expect(answer).toEqual({ done: true });
  const after = await collectUntil(page, (all) =>
    all.some((t) => t.events.some((e) => e.op === 'atomics.wait' && e.endSeq > 0)),
  );
  expect(
    after.find((t) => t.identity.kind === 'worker')!.events.find((e) => e.op === 'atomics.wait')!
      .result,
  ).toBe(0);
  await close(page);
});

test('terminate: the last records of an isolated worker are read', async () => {
  const page = await openCases(browser, server.url('isolated'), hook);
  await page.evaluate(async () => {
    const worker = new Worker('long.js');
    worker.postMessage(500);
    await new Promise((done) => (worker.onmessage = done));
    worker.terminate();
  });
  const threads = await collectUntil(page, (all) => all.some((t) => t.bye === 'terminated'));
  const worker = threads.find((t) => t.identity.kind === 'worker')!;
  expect(worker.events.filter((e) => e.op === 'atomics.notify').length).toBe(500);
  await close(page);
});

test.each(LAST_MESSAGES)(
  'terminate: nothing is lost that came before the last message: %s of %i by %s',
  async (...asked) => {
    const page = await openCases(browser, server.url('plain'), hook);
    const said = await page.evaluate(terminatedAtReply, ...asked, 0);
    expect(said).toBe(asked[1]);
    const threads = await collectUntil(page, (all) => all.some((t) => t.bye === 'terminated'));
    const worker = threads.find((t) => t.identity.kind === 'worker')!;
    const calls = worker.events.filter((e) => e.op === 'atomics.notify').length;
    expect(calls).toBeGreaterThanOrEqual(asked[1]);
    if (asked[0] !== 'cancelled') expect(calls).toBe(asked[1]);
    await close(page);
  },
);

test('long tasks and interactions of a page are recorded, each once, and none after the end', async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  const spun = await page.evaluate(async () => {
    const spin = (ms: number): void => {
      for (const from = performance.now(); performance.now() - from < ms;);
    };
    const button = document.createElement('button');
    button.textContent = 'Spin';
    button.onclick = () => spin(40);
    document.body.replaceChildren(button);
    const from = performance.now();
    await new Promise<void>((done) => setTimeout(() => (spin(120), done())));
    return from;
  });
  await page.click('button');
  const timings = (all: Awaited<ReturnType<typeof collected>>): string[] =>
    all
      .flatMap(({ events }) => events)
      .filter(({ op }) => op === 'longTask' || op === 'interaction')
      .map(({ op, object, offset, length }) => {
        // the page itself also has long tasks
        if (op === 'longTask' && (offset < spun || length < 120_000)) return '';
        const text = object?.kind === 'name' ? object.text : '';
        return `${op} ${text} ${length >= (op === 'longTask' ? 120_000 : 40_000)}`;
      })
      .filter(Boolean);
  const all = await collectUntil(page, (threads) => timings(threads).length >= 2);
  expect(timings(all)).toEqual([
    'longTask long task true',
    expect.stringMatching(/^interaction (?:click|pointerup|pointerdown) true$/),
  ]);
  await close(page);
});

/** Counts of what arrived from the worker, so that the records stay in the page. */
const arrived = (page: Page): Promise<{ batches: number; records: number; dropped: number }> =>
  page.evaluate(() => {
    const { hellos, batches } = window.vfscopeStandIn;
    const id = hellos.find(({ kind }) => kind === 'worker')?.id;
    const own = batches.filter(({ thread }) => thread === id);
    return {
      batches: own.length,
      records: own.reduce((n, b) => n + b.count, 0),
      dropped: own.at(-1)?.dropped ?? 0,
    };
  });
const longStretch = (page: Page, calls: number, slow = 0): Promise<{ ms: number }> =>
  page.evaluate(
    (n, last) => {
      const began = performance.now();
      const worker = new Worker(`long.js?slow=${last}`);
      worker.postMessage(n);
      return new Promise<{ ms: number }>(
        (done) =>
          (worker.onmessage = ({ data }) =>
            done({ ...(data as object), ms: performance.now() - began })),
      );
    },
    calls,
    slow,
  );

test('one long synchronous task of a worker is sent from inside it, and none is lost below the cap', async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  const calls = 100_000;
  expect(await longStretch(page, calls)).toMatchObject({ calls, done: true });
  // threadStart, two setup records, and for each drain one record and its end
  await expect
    .poll(async () => (await arrived(page)).records, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(calls + 3);
  expect((await arrived(page)).dropped).toBe(0);
  await close(page);
});

test('a worker of an isolated page loses nothing while the page is busy', async () => {
  const page = await openCases(browser, server.url('isolated'), hook);
  const calls = 200_000;
  await page.evaluate(async (n) => {
    const text = `const words = new Int32Array(new SharedArrayBuffer(8));
      postMessage(words);
      for (let i = 0; i < ${n}; i++) Atomics.notify(words, 0);
      Atomics.store(words, 1, 1);`;
    const worker = new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
    await new Promise<void>((done) => {
      worker.onmessage = ({ data }) => {
        while (Atomics.load(data as Int32Array, 1) === 0);
        done();
      };
    });
  }, calls);
  await expect
    .poll(async () => (await arrived(page)).records, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(calls);
  expect((await arrived(page)).dropped).toBe(0);
  await close(page);
});

test.each([0, 20_000])(
  'records of a synchronous task are sent several times a second, slow after %i fast calls',
  async (fast) => {
    const page = await openCases(browser, server.url('plain'), hook);
    const { ms } = await longStretch(page, fast + 400, 400);
    await expect
      .poll(async () => (await arrived(page)).records, { timeout: 30_000 })
      .toBeGreaterThanOrEqual(fast + 400);
    const { batches } = await arrived(page);
    expect(batches).toBeGreaterThan(8); // in 2 s; the ring alone would have held ten times as much
    expect(batches).toBeLessThan(20 + ms / 50);
    await close(page);
  },
);

test('a burst of calls after a pause needs no extra message: its events leave with the next timer', async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  await page.evaluate(() => {
    const text = `const words = new Int32Array(2);
      const burst = (left) => {
        for (let i = 0; i < 40; i++) Atomics.notify(words, 0);
        if (left) setTimeout(burst, 300, left - 1);
        else postMessage('done');
      };
      setTimeout(burst, 300, 9);`;
    const worker = new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
    return new Promise((done) => (worker.onmessage = done));
  });
  await expect
    .poll(async () => (await arrived(page)).records, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(400);
  const [worker] = (await collected(page)).filter(({ identity }) => identity.kind === 'worker');
  expect(worker!.events.filter((e) => e.op === 'tracer' && e.length > 0)).toEqual([]);
  await close(page);
});

test('without acks a thread stops sending at 128 MiB, counts what it drops, and continues after an ack', async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  await page.evaluate(() => (window.vfscopeStandIn.acks = false));
  const calls = 2_300_000;
  expect(await longStretch(page, calls)).toMatchObject({ calls, done: true });
  const cap = (128 * 1024 * 1024) / 64;
  await expect
    .poll(async () => (await arrived(page)).records, { timeout: 30_000 })
    .toBeGreaterThanOrEqual(cap - 1024);
  expect((await arrived(page)).records).toBeLessThan(cap + 16384);
  await page.evaluate(() => window.vfscopeStandIn.ackAll());
  const complete = async (): Promise<boolean> => {
    const { records, dropped } = await arrived(page);
    return dropped > 0 && records + dropped >= calls;
  };
  await expect.poll(complete, { timeout: 30_000 }).toBe(true);
  await close(page);
});

test.each([
  ['visible', ['pagehide', 'visibilitychange'], ['navigation', 'mark', 'visibility', 'mark']],
  ['hidden', ['visibilitychange', 'pagehide'], ['visibility', 'mark', 'navigation', 'mark']],
])(
  "a %s page that ends sends all that the app's listeners do, with a bye",
  async (how, types, last) => {
    const page = await openCases(browser, server.url('plain'), hook);
    await page.evaluate(
      (isHidden, order) => {
        Object.defineProperty(document, 'hidden', { value: isHidden });
        for (const type of order) addEventListener(type, () => performance.mark(type));
        for (const type of order) {
          if (type === 'pagehide')
            dispatchEvent(new PageTransitionEvent(type, { persisted: false }));
          else document.dispatchEvent(new Event(type, { bubbles: true }));
        }
      },
      how === 'hidden',
      types,
    );
    const [thread] = await collectUntil(page, ([first]) => first?.bye === 'pagehide');
    expect(thread!.events.map((e) => e.op).slice(-last.length)).toEqual(last);
    await close(page);
  },
);

test('every frame is a separate thread, with its page as parent', async () => {
  const page = await openCases(browser, server.url('plain').replace('?', 'frames.html?'), hook);
  const inFrames = async (): Promise<unknown[]> =>
    Promise.all(
      page
        .frames()
        .map((frame) =>
          frame.evaluate(() =>
            window.vfscopeStandIn.hellos.map(({ kind, parent }) => [kind, parent !== null]),
          ),
        ),
    );
  await expect
    .poll(inFrames, { timeout: 30_000 })
    .toEqual([[['page', false]], [['frame', true]], [['frame', true]]]);
  await close(page);
});

test("the tracer's cost is measured and reported", async () => {
  const page = await openCases(browser, server.url('plain'), hook);
  const kind = (thread: SeenThread | undefined, of: Definition['kind']): Definition | undefined =>
    thread?.definitions.find((d) => d.kind === of);
  const [thread] = await collectUntil(page, ([first]) => kind(first, 'cost') !== undefined);
  const [environment, cost] = [kind(thread, 'environment'), kind(thread, 'cost')];
  expect(environment).toMatchObject({
    threadKind: 'page',
    crossOriginIsolated: false,
    hidden: false,
  });
  expect(cost).toMatchObject({ nsPerVfsEvent: null });
  const { nsPerJsEvent, nsPerClockPair } = cost as Extract<Definition, { kind: 'cost' }>;
  // their exact values, and which is larger on a busy machine, don't matter
  for (const ns of [nsPerJsEvent, nsPerClockPair]) expect(ns).toBeGreaterThan(0);
  const setUp = thread!.events.filter((e) => e.op === 'tracer').map((e) => e.durationMs);
  if (process.env['SHOW'])
    console.log('hook', hook.length, 'bytes; set-up', setUp, 'ms;', JSON.stringify(cost));
  await close(page);
});
