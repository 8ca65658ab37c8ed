/**
 * Workers that the extension can't wrap, recorded by `vfscope record` in Chromium: blocked by a
 * policy, and service workers.
 */
import { goTo } from '../../src/drive/panel.ts';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { record, type RecordArgs } from '../../src/cli/record.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { launchBrowser } from '../../src/drive/browser.ts';
import { drivenHook } from '../../src/drive/native-workers.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { Op } from '../../src/event/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { some } from '../full.ts';
import { realApp } from '../oracle/real-apps.ts';
import { runTraced, type OracleCounts } from '../oracle/tracing.ts';
import { EXTENSION, savedStore, state } from './extension-harness.ts';
import { countsOf } from './grid-counts.ts';
import { longTest } from './long-test.ts';
import { recordHarness } from './record-harness.ts';
import { countOf, notice, threadOf } from './threads-harness.ts';

const command = recordHarness();

type Steps = (page: Page) => Promise<void>;
/** The recording's script, which is a file and runs in this process. */
const given = globalThis as { vfscopeSteps?: Steps };
/** Records `steps`, beginning on a page of the app's origin. */
async function recorded(
  url: string,
  steps: Steps,
  args: Partial<RecordArgs> = {},
): Promise<TraceStore> {
  const script = path.join(command.folder, 'steps.mjs');
  await writeFile(script, 'export default (page) => globalThis.vfscopeSteps(page);');
  given.vfscopeSteps = steps;
  const out = path.join(command.folder, 'workers.vfst');
  expect(await record({ url, out, script, extension: EXTENSION, ...args }), command.said).toBe(0);
  const { store, warnings } = await readTrace(await readFile(out));
  expect(warnings).toEqual([]);
  expect(store.dropped).toBe(0);
  expect(store.threads.map((t) => [t.faults, t.missing, t.orphanEnds])).toEqual(
    store.threads.map(() => [0, 0, 0]),
  );
  return store;
}
const whyNot = (store: TraceStore): string[] =>
  store.threads.flatMap(({ notes }) =>
    notes.map(({ text, url }) => `${new URL(url ?? '').pathname}: ${text}`),
  );

test("SQLite in a worker that the page's policy blocks: each storage call as Chromium traced it", async () => {
  const origin = `${command.server.origin('closed')}/csp-self`;
  let counts: OracleCounts | undefined;
  const store = await recorded(`${origin}/hook-cases/`, async (page) => {
    const app = `${origin}/journeyapps-wa-sqlite/?vfs=OPFSCoopSync&run=own-sql&n=50`;
    ({ counts } = await runTraced(page, async () => {
      await goTo(page, app);
      await state(page, 'done');
    }));
  });
  expect(countsOf(store)).toEqual(counts);
  expect(counts!.opfs.writes).toBeGreaterThan(100);
  const { commits, engines, threads } = summaryOf(store);
  expect(commits).toBe(51);
  expect(engines.map(({ name }) => name)).toEqual(['@journeyapps/wa-sqlite']);
  expect(threads.filter(({ kind }) => kind === 'worker')).toHaveLength(1);
  expect(whyNot(store)).toEqual([]);
});

/** What each worker stores. The page reports the workers' messages, and what it could see. */
const SCRIPTS: Record<string, string> = {
  '/page.js': `
    const heard = [];
    const trusted = self.trustedTypes?.createPolicy('app', { createScriptURL: (url) => url });
    const script = (url) => (location.search.includes('trusted-types') ? trusted.createScriptURL(url) : url);
    addEventListener('securitypolicyviolation', (e) => heard.push('violation ' + e.effectiveDirective + ' ' + e.blockedURI));
    const ran = (worker, target = worker) => new Promise((done) => {
      target.onmessage = ({ data }) => { heard.push(data); done(); };
      worker.onerror = (e) => { heard.push('error ' + e.message); done(); };
      target.start?.();
    });
    const service = async () => {
      const { active, waiting, installing } = await navigator.serviceWorker.register(script('/service.js'));
      await navigator.serviceWorker.ready;
      const { port1, port2 } = new MessageChannel();
      (active ?? waiting ?? installing).postMessage(port2, [port2]);
      await ran({}, port1);
    };
    const shared = () => { const worker = new SharedWorker(script('/shared.js'), 'shared'); return ran(worker, worker.port); };
    globalThis.done = (async () => {
      await ran(new Worker(script('/worker.js'), { name: 'classic' }));
      await ran(new Worker(script('/worker.js'), { name: 'module', type: 'module' }));
      await ran(new Worker(script('/nester.js'), { name: 'nester' }));
      if (!location.search.includes('worker-src')) {
        const text = await (await fetch('/store.js')).text();
        const blob = new Blob([text, 'store("blob", 2).then((said) => postMessage(said.replace(location.href, "")))']);
        await ran(new Worker(script(URL.createObjectURL(blob)), { name: 'blob' }));
      }
      await shared();
      await service();
      return heard;
    })();`,
  // the last part of all of them
  '/store.js': `
    self.store = (name, puts) => new Promise((done) => {
      performance.mark('own ' + name);
      const open = indexedDB.open(name, 1);
      open.onupgradeneeded = () => open.result.createObjectStore('all');
      open.onsuccess = () => {
        const transaction = open.result.transaction('all', 'readwrite');
        for (let i = 0; i < puts; i++) transaction.objectStore('all').put(i, i);
        transaction.oncomplete = () => done(JSON.stringify({ name, location: String(self.location),
          own: Reflect.ownKeys(self).map(String).filter((key) => key !== 'store' && !key.includes('vfscope')).sort().join(),
          natively: ['fetch', 'setTimeout', 'importScripts'].map((key) => typeof self[key] + ' ' + self[key]?.name + Object.keys(Object.getOwnPropertyDescriptor(self, key) ?? {})),
          isolated: self.crossOriginIsolated, secure: self.isSecureContext, shared: typeof SharedArrayBuffer }));
      };
    });`,
  '/worker.js': `
    const load = self.name === 'module' ? import('/store.js') : Promise.resolve(importScripts('/store.js'));
    load.then(() => store(self.name, 7)).then((said) => postMessage(said));`,
  '/nester.js': `
    const inner = new Worker('/worker.js', { name: 'inner' });
    inner.onmessage = ({ data }) => postMessage(data);`,
  '/shared.js': `
    importScripts('/store.js');
    onconnect = ({ ports: [port] }) => void store('shared', 5).then((said) => port.postMessage(said));`,
  '/service.js': `
    importScripts('/store.js');
    oninstall = () => skipWaiting();
    onactivate = (e) => e.waitUntil(clients.claim());
    onmessage = ({ data: port }) => void store('service', 3).then((said) => port.postMessage(said));`,
};
const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Serves a file of the apps with additional headers. */
async function passOn(url: string, headers: object, response: ServerResponse): Promise<void> {
  const answer = await fetch(command.server.url + url);
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...headers });
  response.end(Buffer.from(await answer.arrayBuffer()));
}

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://server');
    const script = SCRIPTS[pathname];
    const policy = searchParams.get('policy');
    const headers = policy ? { 'Content-Security-Policy': policy } : {};
    if (pathname !== '/' && !script) return void passOn(request.url!, headers, response);
    response.writeHead(200, {
      'Content-Type': script ? 'text/javascript' : 'text/html',
      ...headers,
      ...(searchParams.has('isolated') || script ? ISOLATED : {}),
    });
    response.end(script ?? '<!doctype html><body><script src="/page.js"></script>');
  });
  await new Promise<void>((done) => server.listen(0, done));
});
afterAll(() => server?.close());

const SELF = "worker-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const TYPES = "require-trusted-types-for 'script'; trusted-types app";
const address = (policy: string, more = '', host = 'localhost'): string =>
  `http://${host}:${(server.address() as AddressInfo).port}/?policy=${encodeURIComponent(policy)}${more}`;
const putsOf = (store: TraceStore, ...names: string[]): number[] =>
  names.map((name) => countOf(threadOf(store, name), Op.idbPut));
const ALL = ['classic', 'module', 'inner', 'shared', 'service'];
const ALL_PUTS = [7, 7, 7, 5, 3];

const use = (page: Page): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as { done: Promise<string[]> }).done);

/** Runs the same without vfscope. */
async function natively(url: string): Promise<string[]> {
  const { firstPage, load, close } = await launchBrowser({ extension: null });
  try {
    const page = await firstPage();
    await load(page, url);
    return await use(page);
  } finally {
    await close();
  }
}

test.each(
  some([
    ['Trusted Types, isolated', TYPES, '&isolated'],
    ['worker-src without blob:', SELF, ''],
    ['no WebAssembly', "worker-src 'self' blob:; script-src 'self' blob:", ''],
    ['no policy', '', ''],
    ['no policy, isolated', '', '&isolated'],
  ]),
)('workers of all kinds under %s are recorded, and none notices', async (_, policy, more) => {
  const url = address(policy, more);
  const native = natively(url);
  native.catch(() => {}); // handled at the end
  let heard: string[] = [];
  const store = await recorded(url, async (page) => {
    heard = await use(page);
  });
  expect(putsOf(store, ...ALL)).toEqual(ALL_PUTS);
  const fromBlob = policy.includes('worker-src') ? [] : ['blob'];
  expect(putsOf(store, ...fromBlob)).toEqual(fromBlob.map(() => 2));
  expect(store.threads.map(({ info }) => info.kind).sort()).toEqual([
    'page',
    'service-worker',
    'shared-worker',
    ...['classic', 'module', 'nester', 'inner', ...fromBlob].map(() => 'worker'),
  ]);
  expect(whyNot(store)).toEqual([]);
  expect(heard).toEqual(await native);
});

longTest('in a frame of another site', async () => {
  const framed = address(SELF, '', '127.0.0.1');
  const store = await recorded(address(''), async (page) => {
    await use(page);
    await page.evaluate((src) => {
      document.body.append(Object.assign(document.createElement('iframe'), { src }));
    }, framed);
    const frame = await page.waitForFrame((one) => one.url().includes('127.0.0.1'));
    await frame.waitForFunction(() => 'done' in globalThis, { polling: 50 });
    await frame.evaluate(() => (globalThis as unknown as { done: Promise<unknown> }).done);
  });
  const inFrame = store.threads.filter(({ info }) => info.url.includes('127.0.0.1'));
  const puts = inFrame.map((thread) => countOf(thread, Op.idbPut));
  // the frame and the nesting worker store nothing
  expect(puts.sort()).toEqual([0, 0, 3, 5, 7, 7, 7]);
  expect(whyNot(store)).toEqual([]);
});

longTest('in each tab of a recorded origin', async () => {
  const store = await recorded(
    address(SELF),
    async (page) => {
      await use(page);
      const other = await page.browser().newPage();
      await goTo(other, address(SELF));
      await use(other);
      await page.bringToFront();
    },
    { scope: 'origin' },
  );
  const puts = store.threads.map((thread) => countOf(thread, Op.idbPut)).filter(Boolean);
  // both share the shared worker and the service worker
  expect(puts.sort((a, b) => a - b)).toEqual([6, 7, 7, 7, 7, 7, 7, 10]);
  expect(whyNot(store)).toEqual([]);
});

longTest('SQLite that waits for its storage worker, both closed by a policy', async () => {
  let counts: OracleCounts | undefined;
  const store = await recorded(address(SELF, '&isolated'), async (page) => {
    await use(page);
    const { port } = server.address() as AddressInfo;
    const app = `http://localhost:${port}/coi/sqlite-org/?vfs=opfs&run=own-sql&n=50&policy=${encodeURIComponent(SELF)}`;
    ({ counts } = await runTraced(page, async () => {
      await goTo(page, app);
      await state(page, 'done');
    }));
  });
  expect(countsOf(store)).toEqual(counts);
  expect(counts!.opfs.writes).toBeGreaterThan(100);
  expect(summaryOf(store).commits).toBeGreaterThanOrEqual(51);
  expect(whyNot(store)).toEqual([]);
});

longTest('a worker that the hook does not reach runs on, and is named', async () => {
  const driven = await launchBrowser({ extension: EXTENSION, hook: drivenHook(EXTENSION) });
  try {
    const page = await driven.firstPage();
    const panel = await driven.openPanel(page);
    await startRecording(panel);
    await goTo(page, address(SELF)); // none of them is paused
    const heard = await use(page);
    for (const script of [/nester\.js/, /service\.js/, /shared\.js/, /worker\.js/])
      await notice(panel, script);
    await stopRecording(panel);
    const store = await savedStore(driven, panel);
    expect(heard).toEqual(await natively(address(SELF)));
    expect(whyNot(store).sort()).toEqual([
      expect.stringMatching(/^\/nester.js: Not recorded: the page's CSP forbids blob: workers/),
      expect.stringMatching(/^\/service.js: Not recorded: vfscope's hook started too late/),
      expect.stringMatching(/^\/shared.js: Not recorded: the page's CSP forbids blob: workers/),
      expect.stringMatching(/^\/worker.js: Not recorded: the page's CSP forbids blob: workers/),
    ]);
  } finally {
    await driven.close();
  }
});

longTest.each([
  ['1', '/csp-self'],
  ['2', '/csp-self'],
  ['3', '/csp-self'],
  ['without', ''],
])(
  'PowerSync with its defaults under a policy, run %s: each storage call of its SharedWorker as Chromium traced it',
  async (run, variant) => {
    const origin = command.server.origin(`powersync-closed-${run}`);
    const { path: where, use: uses } = realApp('powersync');
    let counts: OracleCounts | undefined;
    const store = await recorded(`${origin}${variant}/hook-cases/`, async (page) => {
      ({ counts } = await runTraced(page, async () => {
        await goTo(page, origin + variant + where);
        await uses([page], () => Promise.resolve());
      }));
    });
    expect(countsOf(store)).toEqual(counts);
    expect(counts!.idb.requests['put']).toBeGreaterThan(50);
    expect(store.threads.filter(({ info }) => info.kind === 'shared-worker')).toHaveLength(1);
    expect(whyNot(store)).toEqual([]);
  },
);
