// Recordings by tab in the background, with a fake extension API: a failing tab doesn't affect the
// others.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { nativeTabs } from '../../src/background/sharing.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';

const ORIGIN = 'http://app.test';
let stored: Record<string, unknown>;
let registered: { id: string; js: string[]; matches: string[] }[];
let told: number[];
let failing: number | null;

const api = {
  runtime: { getManifest: () => ({ background: { service_worker: 'background.js' } }) },
  webRequest: Object.fromEntries(
    [
      'onBeforeRequest',
      'onBeforeSendHeaders',
      'onHeadersReceived',
      'onCompleted',
      'onErrorOccurred',
    ].map((name) => [name, { addListener: () => {}, removeListener: () => {} }]),
  ),
  storage: {
    session: {
      get: (key: string) =>
        Promise.resolve(structuredClone(key in stored ? { [key]: stored[key] } : {})),
      set: (values: object) => Promise.resolve(void Object.assign(stored, structuredClone(values))),
    },
  },
  tabs: {
    get: (id: number) => Promise.resolve({ id, url: `${ORIGIN}/` }),
    query: () => Promise.resolve([1, 2, 3].map((id) => ({ id, url: `${ORIGIN}/` }))),
    reload: () => Promise.resolve(),
    sendMessage: (id: number, { k }: { k: string }) => {
      if (id === failing) return Promise.reject(new Error('the tab has crashed'));
      if (k === 'restore') told.push(id);
      return Promise.resolve();
    },
  },
  scripting: {
    getRegisteredContentScripts: (only?: { ids: string[] }) =>
      Promise.resolve(registered.filter(({ id }) => only?.ids.includes(id) ?? true)),
    registerContentScripts: (scripts: typeof registered) =>
      Promise.resolve(void registered.push(...scripts)),
    updateContentScripts: (scripts: typeof registered) =>
      Promise.resolve(
        void (registered = registered.map((one) => scripts.find(({ id }) => id === one.id) ?? one)),
      ),
    unregisterContentScripts: ({ ids }: { ids: string[] }) =>
      Promise.resolve(
        void (registered = registered.filter(({ id }) => ids.length && !ids.includes(id))),
      ),
    executeScript: () => Promise.resolve(),
  },
  permissions: { contains: () => Promise.resolve(true) },
  action: { setIcon: () => Promise.resolve(), setTitle: () => Promise.resolve() },
};

beforeEach(() => {
  [stored, registered, told, failing] = [{}, [], [], null];
  vi.stubGlobal('chrome', api);
  vi.resetModules();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const options = {
  k: 'start',
  scope: 'origin',
  reload: true,
  transport: 'port',
  capture: CAPTURE_DEFAULTS,
} as const;

test("a tab that fails at the end doesn't keep the others or the panel from being notified", async () => {
  const { recordingOf, start, stop, watchRecordings } =
    await import('../../src/background/recordings.ts');
  const heard: boolean[] = [];
  watchRecordings((_, recording) => heard.push(recording !== null));
  await start(1, 'page', options);
  // a random name: the page that reloads
  const ids = registered.map(({ id }) =>
    id.replace(/^vfscope-now (?!whole$)\w+$/, 'vfscope-now 1'),
  );
  expect(ids.sort()).toEqual([
    `vfscope-content ${ORIGIN}/*`,
    `vfscope-hooks ${ORIGIN}/*`,
    'vfscope-now 1',
    'vfscope-now whole',
  ]);
  failing = 2;
  await expect(stop(1)).rejects.toThrow('the tab has crashed');
  expect(told).toEqual([1, 3]);
  expect(heard).toEqual([true, false]);
  expect(registered).toEqual([]);
  expect(await recordingOf(1)).toBeNull();
});

test('a start that fails reports its own error, not that of its cleanup', async () => {
  const { recordingOf, start } = await import('../../src/background/recordings.ts');
  vi.spyOn(api.tabs, 'reload').mockRejectedValueOnce(new Error('the page cannot be reloaded'));
  const warned = vi.spyOn(console, 'warn').mockReturnValueOnce();
  failing = 1;
  await expect(start(1, 'page', options)).rejects.toThrow('the page cannot be reloaded');
  expect(String(warned.mock.calls[0]![1])).toContain('the tab has crashed');
  expect(await recordingOf(1)).toBeNull();
  expect(registered).toEqual([]);
});

test.each([
  [`${ORIGIN}/?`, `${ORIGIN}/?`], // the URL that an empty form leads to
  [`${ORIGIN}/a?b=1#c`, `${ORIGIN}/a?b=1`],
  [`${ORIGIN}/a#?`, `${ORIGIN}/a`],
])('%s is announced by a pattern of its own', async (url, pattern) => {
  const { start } = await import('../../src/background/recordings.ts');
  vi.spyOn(api.tabs, 'get').mockResolvedValueOnce({ id: 1, url });
  await start(1, 'page', { ...options, scope: 'tab' });
  const announced = registered.filter(({ id }) => id.startsWith('vfscope-now'));
  expect(announced.map(({ matches }) => matches)).toEqual([[pattern]]);
});

test("a page that doesn't arrive isn't announced any more, unless it was requested again", async () => {
  const { start } = await import('../../src/background/recordings.ts');
  const { documentGone, expectDocument } = await import('../../src/background/coverage.ts');
  await start(1, 'page', { ...options, scope: 'tab' });
  const announced = (): unknown =>
    registered.flatMap(({ id, matches }) => (id.startsWith('vfscope-now') ? matches : []));
  const page = { tabId: 1, frameId: 0, url: `${ORIGIN}/slow` };
  await expectDocument(page);
  await expectDocument(page);
  await documentGone({ ...page, url: `${ORIGIN}/other` });
  await documentGone(page);
  expect(announced()).toEqual([page.url]);
  await documentGone(page);
  expect(announced()).toEqual([]);
});

test('each request for a page on its way waits until its scripts are registered', async () => {
  const { start } = await import('../../src/background/recordings.ts');
  const { expectDocument } = await import('../../src/background/coverage.ts');
  await start(1, 'page', { ...options, scope: 'tab' });
  let register!: () => void;
  vi.spyOn(api.scripting, 'registerContentScripts').mockReturnValueOnce(
    new Promise((done) => (register = () => done(undefined as never))),
  );
  const page = { tabId: 1, frameId: 0, url: 'http://next.test/' };
  const done: string[] = [];
  const both = ['first', 'second'].map((which) =>
    expectDocument(page).then(() => done.push(which)),
  );
  await new Promise((turn) => setTimeout(turn));
  expect(done).toEqual([]);
  register();
  await Promise.all(both);
  expect(done.sort()).toEqual(['first', 'second']);
});

test('a page on its way gets its scripts at once, not after a look at the other tabs', async () => {
  const { start } = await import('../../src/background/recordings.ts');
  const { expectDocument, load } = await import('../../src/background/coverage.ts');
  const { documentRequested } = await import('../../src/background/shared-workers.ts');
  await start(1, 'page', { ...options, scope: 'tab' });
  let answer!: (tabs: { id: number; url: string }[]) => void;
  vi.spyOn(api.tabs, 'query').mockReturnValueOnce(new Promise((done) => (answer = done)));
  const page = { tabId: 1, frameId: 0, url: 'http://next.test/' };
  await documentRequested(page).then(() => expectDocument(page));
  expect(registered.map(({ id }) => id)).toContain('vfscope-hooks http://next.test/*');
  answer([1, 2].map((id) => ({ id, url: page.url })));
  const older = async (): Promise<number[]> =>
    (await load()).sharing.find(({ origin }) => origin === 'http://next.test')!.older;
  await vi.waitFor(async () => expect(await older()).toEqual([1, 2]));
});

test.each([
  ['before our scripts were there runs its SharedWorkers natively, and is named', undefined, [3]],
  ['behind our scripts is one more page of the recorded origin', true, []],
])('a tab that comes to the origin while a recording begins, %s', async (_, hooked, natives) => {
  const { start } = await import('../../src/background/recordings.ts');
  const { load } = await import('../../src/background/coverage.ts');
  const { sharedUrl } = await import('../../src/background/shared-workers.ts');
  const shows = (...ids: number[]): { id: number; url: string }[] =>
    ids.map((id) => ({ id, url: `${ORIGIN}/` }));
  vi.spyOn(api.tabs, 'query').mockResolvedValueOnce(shows(1)).mockResolvedValueOnce(shows(1, 3));
  vi.spyOn(api.tabs, 'sendMessage').mockImplementation((id, { k }) =>
    Promise.resolve(k === 'hooked?' && id === 3 ? (hooked as never) : undefined),
  );
  await start(1, 'page', { ...options, scope: 'tab' });
  const [sharing] = (await load()).sharing;
  expect(nativeTabs(sharing!)).toEqual(natives);
  sharing!.older = []; // the recorded tab has reloaded
  const url = `blob:${ORIGIN}/1`;
  const ask = { k: 'shared', key: 'w', traits: 'classic', url, dead: [] } as const;
  const sender = { tab: { id: 1 }, origin: ORIGIN } as chrome.runtime.MessageSender;
  expect(await sharedUrl({ ...ask, dead: [] }, sender)).toBe(natives.length ? '' : url);
});

test('after a recording, pages that share its workers get their script again from the same registration', async () => {
  const { start, stop } = await import('../../src/background/recordings.ts');
  const { sharedUrl } = await import('../../src/background/shared-workers.ts');
  const { load } = await import('../../src/background/coverage.ts');
  const gone = vi.spyOn(api.scripting, 'unregisterContentScripts');
  vi.spyOn(api.tabs, 'query').mockResolvedValue([{ id: 1, url: `${ORIGIN}/` }]);
  await start(1, 'page', {
    ...options,
    scope: 'tab',
    capture: { ...CAPTURE_DEFAULTS, capture: 2 },
  });
  (await load()).sharing[0]!.older = [];
  const ask = {
    k: 'shared',
    key: 'w',
    traits: 'classic',
    url: `blob:${ORIGIN}/1`,
    dead: [],
  } as const;
  await sharedUrl({ ...ask, dead: [] }, {
    tab: { id: 1 },
    origin: ORIGIN,
  } as chrome.runtime.MessageSender);
  const hook = (): string[] =>
    registered.find(({ id }) => id === `vfscope-hooks ${ORIGIN}/*`)?.js ?? [];
  const before = hook();
  expect(before).toContain('capture/level-2.js');
  await stop(1);
  expect(hook()).toEqual(before);
  gone.mockClear();
  await start(1, 'page', { ...options, scope: 'tab' });
  expect(hook()).not.toContain('capture/level-2.js');
  expect(gone.mock.calls.flatMap(([{ ids }]) => ids)).not.toContain(`vfscope-hooks ${ORIGIN}/*`);
});

test('once the last page that held a shared worker has left after Stop, the remaining pages restore the constructor', async () => {
  const { start, stop } = await import('../../src/background/recordings.ts');
  const { pageShown, sharedUrl } = await import('../../src/background/shared-workers.ts');
  const { load } = await import('../../src/background/coverage.ts');
  const query = vi.spyOn(api.tabs, 'query').mockResolvedValue([{ id: 1, url: `${ORIGIN}/` }]);
  await start(1, 'page', { ...options, scope: 'tab' });
  (await load()).sharing[0]!.older = [];
  const sender = { tab: { id: 2 }, origin: ORIGIN } as chrome.runtime.MessageSender;
  const [key, traits, url] = ['w', 'classic', `blob:${ORIGIN}/2`];
  expect(await sharedUrl({ key, traits, url, dead: [] }, sender)).toBe(url);
  await stop(1);
  told = [];
  query.mockResolvedValue([2, 3].map((id) => ({ id, url: `${ORIGIN}/` })));
  vi.spyOn(api.tabs, 'get').mockImplementation((id) =>
    Promise.resolve({ id, url: 'http://elsewhere.test/' }),
  );
  await pageShown(2);
  await vi.waitFor(() => expect(told).toEqual([2, 3]));
});

test('a page that waits while one recording ends and the next begins gets the state of the next one', async () => {
  const { start, stop } = await import('../../src/background/recordings.ts');
  const { sharedUrl } = await import('../../src/background/shared-workers.ts');
  const { load } = await import('../../src/background/coverage.ts');
  vi.spyOn(api.tabs, 'query').mockResolvedValue([{ id: 1, url: `${ORIGIN}/` }]);
  const sharing = async () => (await load()).sharing[0]!;
  await start(1, 'page', { ...options, scope: 'tab' });
  Object.assign(await sharing(), { older: [1], leaving: [1] });
  const url = `blob:${ORIGIN}/4`;
  const sender = { tab: { id: 1 }, origin: ORIGIN } as chrome.runtime.MessageSender;
  const asked = sharedUrl({ key: 'w', traits: 'classic', url, dead: [] }, sender);
  const first = await sharing();
  await stop(1);
  await start(1, 'page', { ...options, scope: 'tab' });
  const next = await sharing();
  expect(next).not.toBe(first);
  [first.older, next.older] = [[], []];
  expect(await asked).toBe(url);
  expect(next.workers).toEqual([{ key: 'w', traits: 'classic', urls: [url], tabs: [1] }]);
});

test("a shared worker's address is stored before a page learns it", async () => {
  const { start } = await import('../../src/background/recordings.ts');
  const { sharedUrl } = await import('../../src/background/shared-workers.ts');
  const { load } = await import('../../src/background/coverage.ts');
  vi.spyOn(api.tabs, 'query').mockResolvedValue([{ id: 1, url: `${ORIGIN}/` }]);
  await start(1, 'page', { ...options, scope: 'tab' });
  (await load()).sharing[0]!.older = [];
  const set = api.storage.session.set;
  vi.spyOn(api.storage.session, 'set').mockImplementation(async (values) => {
    await new Promise((later) => setTimeout(later));
    await set(values);
  });
  const url = `blob:${ORIGIN}/3`;
  const sender = { tab: { id: 1 }, origin: ORIGIN } as chrome.runtime.MessageSender;
  expect(await sharedUrl({ key: 'w', traits: 'classic', url, dead: [] }, sender)).toBe(url);
  expect(JSON.stringify(stored)).toContain(url);
});

test("where requests can't be followed, every page is told that SharedWorkers are shared", async () => {
  vi.stubGlobal('chrome', { ...api, webRequest: undefined });
  const { start } = await import('../../src/background/recordings.ts');
  await start(1, 'page', options);
  const hooks = registered.filter(({ id }) => id.startsWith('vfscope-hooks'));
  expect(hooks.map(({ matches }) => matches)).toEqual([['http://*/*'], ['https://*/*']]);
  for (const { js } of hooks) expect(js).toContain('capture/shared.js');
});

test("with any number of frame origins, the page's own origin stays covered", async () => {
  const { start } = await import('../../src/background/recordings.ts');
  const { documentSpeaks, expectDocument } = await import('../../src/background/coverage.ts');
  await start(1, 'page', { ...options, scope: 'tab' });
  const tab = { id: 1 } as chrome.tabs.Tab;
  await documentSpeaks({ tab, frameId: 0, url: `${ORIGIN}/` });
  for (let frameId = 1; frameId <= 60; frameId++)
    await expectDocument({ tabId: 1, frameId, url: `http://frame-${frameId}.test/` });
  const hooked = registered.flatMap(({ id, matches }) =>
    id.startsWith('vfscope-hooks') ? matches : [],
  );
  expect(hooked).toContain(`${ORIGIN}/*`);
  expect(hooked).toContain('http://frame-60.test/*');
  expect(hooked.length).toBe(41);
  await documentSpeaks({ tab, frameId: 0, url: 'http://next.test/' });
  for (let frameId = 1; frameId <= 60; frameId++)
    await expectDocument({ tabId: 1, frameId, url: `http://frame-${frameId}.test/` });
  const then = registered.map(({ id }) => id);
  expect(then).toContain('vfscope-hooks http://next.test/*');
  expect(then).not.toContain(`vfscope-hooks ${ORIGIN}/*`);
});

test("a document that doesn't answer may be on its way: only one that reports it was late keeps its SharedWorkers native", async () => {
  const { answer, start } = await import('../../src/background/recordings.ts');
  const { reach } = await import('../../src/background/coverage.ts');
  const { sharedUrl } = await import('../../src/background/shared-workers.ts');
  vi.spyOn(api.tabs, 'query').mockResolvedValue([{ id: 1, url: `${ORIGIN}/` }]);
  await start(1, 'page', { ...options, scope: 'tab' });
  const page = { tab: { id: 1 }, frameId: 0, url: `${ORIGIN}/`, origin: ORIGIN };
  const sender = page as unknown as chrome.runtime.MessageSender;
  const url = `blob:${ORIGIN}/1`;
  const urlOf = (key: string): Promise<string> =>
    sharedUrl({ key, traits: 'classic', url, dead: [] }, sender);
  await answer(sender, 'new');
  failing = 1;
  expect(await reach(1, 0, page.url)).toBe(false);
  expect(await urlOf('a')).toBe(url);
  await answer(sender, 'late');
  expect(await urlOf('b')).toBe('');
});

test('the document that Record reloads gets no scripts if it has only now loaded', async () => {
  const { start } = await import('../../src/background/recordings.ts');
  const { expectDocument, reach } = await import('../../src/background/coverage.ts');
  const injected = vi.spyOn(api.scripting, 'executeScript');
  const page = { tabId: 1, frameId: 0, url: `${ORIGIN}/` };
  await start(1, 'page', { ...options, scope: 'tab' });
  failing = 1;
  await reach(1, 0, page.url);
  expect(injected).not.toHaveBeenCalled();
  await expectDocument(page); // its request
  await reach(1, 0, page.url);
  expect(injected).toHaveBeenCalledTimes(2);
});
