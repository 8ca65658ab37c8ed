/**
 * IndexedDB upgrades that block others, and modules that load: what is recorded, and that the app
 * sees no difference.
 */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { buildHook, collectUntil, openCases, serveCases, type SeenEvent } from './hooks-harness.ts';

let browser: Browser;
let server: Awaited<ReturnType<typeof serveCases>>;
let hook: string;
beforeAll(async () => {
  [browser, server, hook] = await Promise.all([
    launchPlainBrowser(['--js-flags=--expose-gc']),
    serveCases(),
    buildHook(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Results in a page without the hook and in one with it. */
async function both<T>(
  run: (page: Page) => Promise<T>,
): Promise<{ native: T; hooked: T; page: Page }> {
  const [plain, page] = [
    await openCases(browser, server.url('plain'), null),
    await openCases(browser, server.url('plain'), hook),
  ];
  return { native: await run(plain), hooked: await run(page), page };
}
async function eventsOf(
  page: Page,
  isOver: (events: SeenEvent[]) => boolean,
): Promise<SeenEvent[]> {
  const threads = await collectUntil(
    page,
    ([thread]) => thread !== undefined && isOver(thread.events),
  );
  expect(threads[0]!.faults).toBe(0);
  return threads[0]!.events;
}
const of = (events: SeenEvent[], op: string): SeenEvent[] =>
  events.filter((event) => event.op === op);

describe('versions of IndexedDB', () => {
  /**
   * Two connections of one page: the first stays open until it is told to close, and the second is
   * blocked.
   */
  const scenario = (page: Page): Promise<unknown> =>
    page.evaluate(async () => {
      const log: unknown[] = [];
      const named = (name: string) => (event: Event) => {
        const { type, cancelable, defaultPrevented, eventPhase, currentTarget, target } = event;
        log.push([name, type, cancelable, defaultPrevented, eventPhase, currentTarget === target]);
        event.preventDefault();
      };
      const opened = (version: number, onBlocked?: () => void): Promise<IDBDatabase> =>
        new Promise((ok, failed) => {
          const request = indexedDB.open('versions', version);
          request.onsuccess = () => ok(request.result);
          request.onerror = () => failed(request.error);
          if (!onBlocked) return;
          request.addEventListener('blocked', named('first'));
          request.onblocked = (event) => {
            named('second')(event);
            onBlocked();
          };
          request.addEventListener('blocked', named('third'));
        });
      const one = await opened(1);
      const told = named('handler');
      one.addEventListener('versionchange', named('before'));
      one.onversionchange = told;
      log.push(
        one.onversionchange === told,
        Object.getOwnPropertyNames(one),
        Reflect.ownKeys(Object.getPrototypeOf(one) as object).map(String),
      );
      one.addEventListener('versionchange', named('after'));
      const two = await opened(2, () => one.close());
      const { set, get, enumerable, configurable } = Object.getOwnPropertyDescriptor(
        IDBDatabase.prototype,
        'onversionchange',
      )!;
      log.push([
        set!.name,
        set!.length,
        String(set).endsWith('{ [native code] }'),
        String(get),
        enumerable,
        configurable,
      ]);
      let refused = '';
      try {
        set!.call({}, told);
      } catch (error) {
        refused = String(error);
      }
      two.onversionchange = told;
      two.onversionchange = null;
      await new Promise<void>((ok) => {
        const request = indexedDB.deleteDatabase('versions');
        request.onblocked = () => two.close();
        request.onsuccess = () => ok();
      });
      return [log, refused];
    });

  test("which connection waits, and which is notified, in the platform's order and with its results", async () => {
    const { native, hooked, page } = await both(scenario);
    expect(hooked).toEqual(native);
    expect(JSON.stringify(native)).toContain('"third","blocked"');
    const events = await eventsOf(page, (all) =>
      of(all, 'idb.deleteDatabase').some((e) => e.endSeq > 0),
    );
    const [, open2] = of(events, 'idb.open');
    const [remove] = of(events, 'idb.deleteDatabase');
    const words = (e: SeenEvent) => [
      e.object?.kind === 'idb-database' && e.object.db,
      e.offset,
      e.length,
      e.aux,
    ];
    expect(of(events, 'idb.blocked').map(words)).toEqual([
      ['versions', 2, 1, open2!.seq],
      ['versions', NaN, 2, remove!.seq],
    ]);
    // the second had removed its handler
    expect(of(events, 'idb.versionChange').map(words)).toEqual([['versions', 2, 1, 0]]);
  });

  test("a connection that isn't referenced any more blocks no other", async () => {
    const { native, hooked } = await both((page) =>
      page.evaluate(async () => {
        const forgotten = async (told: boolean): Promise<void> => {
          const request = indexedDB.open(`forgotten ${told}`, 1);
          await new Promise((ok) => (request.onsuccess = ok));
          if (told) request.result.onversionchange = () => {};
          if (told) request.result.onversionchange = null;
        };
        const removed = (name: string): Promise<string> =>
          new Promise((ok) => {
            const request = indexedDB.deleteDatabase(name);
            request.onblocked = () => ok('blocked');
            request.onsuccess = () => ok('removed');
          });
        const answers: string[] = [];
        for (const told of [false, true]) {
          await forgotten(told);
          for (let i = 0; i < 5; i++) {
            (globalThis as unknown as { gc(): void }).gc();
            await new Promise((ok) => requestAnimationFrame(ok));
          }
          answers.push(await removed(`forgotten ${told}`));
        }
        return answers;
      }),
    );
    expect(native).toEqual(['removed', 'removed']);
    expect(hooked).toEqual(native);
  });
});

describe('wasm modules', () => {
  test('fetch, compile, and instantiate, each as the app calls it, with its own errors', async () => {
    const { native, hooked, page } = await both((page) =>
      page.evaluate(async () => {
        const answers: unknown[] = [];
        const said = async (name: string, run: () => unknown): Promise<void> => {
          try {
            const value: unknown = await run();
            answers.push([
              name,
              Object.prototype.toString.call(value),
              Object.keys(value as object),
            ]);
          } catch (error) {
            answers.push([name, String(error)]);
          }
        };
        const bytes = await (await fetch('/filler.wasm')).arrayBuffer();
        await said('instantiate', () => WebAssembly.instantiate(bytes));
        await said('streaming', () =>
          WebAssembly.instantiateStreaming(fetch('/filler.wasm?streaming')),
        );
        const module = await WebAssembly.compileStreaming(await fetch('/filler.wasm?compiled'));
        await said('module', () => new WebAssembly.Instance(module));
        await said('compiled', () => WebAssembly.compile(bytes));
        await said('constructed', () => new WebAssembly.Module(bytes));
        await said('no module', () => WebAssembly.compile(new Uint8Array(2000)));
        await said('no module either', () => new WebAssembly.Module(new Uint8Array(2000)));
        await said('not found', () => WebAssembly.instantiateStreaming(fetch('/none.wasm')));
        await said('rejected', () =>
          WebAssembly.compileStreaming(Promise.reject(new RangeError('mine'))),
        );
        const { name, length } = WebAssembly.compileStreaming;
        return [
          answers,
          name,
          length,
          String(WebAssembly.compileStreaming).endsWith('{ [native code] }'),
        ];
      }),
    );
    expect(hooked).toEqual(native);
    const events = await eventsOf(
      page,
      (all) => of(all, 'wasm.fetch').length >= 3 && of(all, 'wasm.compile').length >= 6,
    );
    const url = (e: SeenEvent): string =>
      e.object?.kind === 'name' ? e.object.text.replace(/^.*\//, '') : '';
    const fetched = new Map(of(events, 'wasm.fetch').map((e) => [url(e), e]));
    // the last one, if the browser reports it before the test reads the recording
    fetched.delete('none.wasm');
    expect([...fetched.keys()].sort()).toEqual([
      'filler.wasm',
      'filler.wasm?compiled',
      'filler.wasm?streaming',
    ]);
    for (const e of fetched.values())
      expect([e.length, e.aux2, e.offset > 0]).toEqual([5008, 5008, true]);
    const loads = events.filter(({ op }) => op === 'wasm.compile' || op === 'wasm.instantiate');
    const urls = new Map([...fetched.values()].map((e) => [e.objectId, url(e)]));
    const compiled = loads.find((e) => urls.get(e.aux) === 'filler.wasm?compiled')!;
    expect(
      loads.map((e) => [e.op.slice(5), urls.get(e.aux) ?? '', e.length, e.result, e.context]),
    ).toEqual([
      ['instantiate', 'filler.wasm', 5008, 0, 0],
      ['instantiate', 'filler.wasm?streaming', 0, 0, 0],
      ['compile', 'filler.wasm?compiled', 0, 0, 0],
      ['instantiate', '', 0, 0, compiled.seq],
      ['compile', 'filler.wasm?compiled', 5008, 0, 0], // bytes: the last request with this size
      ['compile', 'filler.wasm?compiled', 5008, 0, 0],
      ['compile', '', 2000, 1, 0],
      ['compile', '', 2000, 1, 0],
      ['instantiate', '', 0, 1, 0],
      ['compile', '', 0, 1, 0],
    ]);
    expect(loads.every((e) => e.endSeq > e.seq)).toBe(true);
  });
});
