/**
 * Runs pages with the hook script and without the extension: builds the hook, serves
 * tests/apps/hook-cases with a page policy, and adds a fake content script and panel to the page
 * that collect what the threads send.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import resolve from '@rollup/plugin-node-resolve';
import type { Browser, Page } from 'puppeteer-core';
import { carriedScript, HOOK_SCRIPT } from '../../tools/build/hook-script.mjs';
import { rollup } from 'rollup';
import esbuild, { minify } from 'rollup-plugin-esbuild';
import { RecordReader } from '../../src/event/batch.ts';
import { Op } from '../../src/event/event.ts';
import { opName } from '../../src/event/operations.ts';
import type { Definition } from '../../src/event/definitions.ts';
import type { ThreadIdentity } from '../../src/protocol/messages.ts';

const CASES = fileURLToPath(new URL('../apps/hook-cases/', import.meta.url));

/** Defines `patchPlatform`, for an app's first script. */
export const PATCH_PLATFORM = readFileSync(path.join(CASES, 'patch-platform.js'), 'utf8');

/** The hook as one script, built as rollup.config.js does. @param before a module that runs before the hook's own, in its bundle */
export async function buildHook(before?: URL): Promise<string> {
  const hooks = fileURLToPath(new URL('../../src/hooks/hooks.ts', import.meta.url));
  const both = `${before ? `import ${JSON.stringify(fileURLToPath(before))};` : ''}import ${JSON.stringify(hooks)};`;
  const bundle = await rollup({
    input: 'entry',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : null),
        load: (id) => (id === 'entry' ? both : null),
      },
      resolve({ browser: true, extensions: ['.ts', '.js'] }),
      esbuild({
        target: 'es2022',
        define: { VFSCOPE_WORKERS_FILTERED: 'false', VFSCOPE_NATIVES_HOOKED: 'false' },
      }),
    ],
  });
  const { output } = await bundle.generate({
    ...HOOK_SCRIPT,
    plugins: [minify({ target: 'es2022' })],
  });
  await bundle.close();
  return output[0].code;
}

/** A script that the hook includes, to run before it, built as rollup.config.js does. */
export async function buildCarried(name: 'messages' | 'instructions'): Promise<string> {
  const bundle = await rollup({
    input: fileURLToPath(new URL(`../../src/hooks/${name}.ts`, import.meta.url)),
    plugins: [
      resolve({ browser: true, extensions: ['.ts', '.js'] }),
      esbuild({ target: 'es2022' }),
    ],
  });
  const { output } = await bundle.generate({
    ...carriedScript(name),
    plugins: [minify({ target: 'es2022' })],
  });
  await bundle.close();
  return output[0].code;
}

/** Marks of closes.js after it has closed itself. */
export const markedClosed = (events: SeenThread['events']): SeenThread['events'] =>
  events.filter(({ object }) => object?.kind === 'name' && object.text === 'closed');

/** Page policy -> headers of the page, and of everything else. */
export const POLICIES: Record<
  string,
  { page: Record<string, string>; rest?: Record<string, string> }
> = {
  plain: { page: {} },
  isolated: {
    page: {
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    },
    rest: { 'Cross-Origin-Embedder-Policy': 'require-corp' },
  },
  'worker-src self': {
    page: { 'Content-Security-Policy': "script-src 'self'; worker-src 'self'" },
  },
  'connect-src self': { page: { 'Content-Security-Policy': "connect-src 'self'" } },
  'no wasm': {
    page: {
      'Content-Security-Policy': "script-src 'self' blob: data:; worker-src 'self' blob: data:",
    },
  },
  'trusted types': { page: { 'Content-Security-Policy': "require-trusted-types-for 'script'" } },
};

/** `/filler.wasm`: a module that does nothing, 5,008 bytes. */
const FILLER = Buffer.concat([
  Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, 0x85, 0x27, 1, 0x78]),
  Buffer.alloc(4995),
]);
const TYPES: Record<string, string> = {
  '.wasm': 'application/wasm',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
};

/**
 * Serves the cases; `/?policy=<name>` is the page. `?type=` is another Content-Type ('' = none),
 * `?to=` redirects, `/referrer` responds with its Referer header, `?held=` responds when `/release`
 * is requested, which returns how many it released.
 */
export async function serveCases(): Promise<{
  url: (policy: string) => string;
  close: () => Promise<void>;
}> {
  let current = POLICIES.plain!;
  const held: (() => void)[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (searchParams.has('policy')) current = POLICIES[searchParams.get('policy')!]!;
    const file = pathname === '/' ? 'index.html' : pathname.slice(1);
    const type = searchParams.get('type') ?? TYPES[path.extname(file)] ?? 'text/plain';
    const headers = {
      ...(type && { 'Content-Type': type }),
      ...(pathname === '/' ? current.page : current.rest),
    };
    if (file === 'release') {
      const released = held.splice(0);
      released.forEach((go) => go());
      return void response.writeHead(200, headers).end(String(released.length));
    }
    if (searchParams.has('held')) await new Promise<void>((go) => held.push(go));
    const to = searchParams.get('to');
    if (to) return void response.writeHead(302, { ...headers, Location: to }).end();
    if (file === 'referrer')
      return void response
        .writeHead(200, headers)
        .end(JSON.stringify(request.headers.referer ?? null));
    const content =
      file === 'filler.wasm' ? FILLER : await readFile(path.join(CASES, file)).catch(() => null);
    response.writeHead(content ? 200 : 404, headers).end(content ?? 'no such file');
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: (policy) => `http://localhost:${port}/?policy=${encodeURIComponent(policy)}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** What the fake panel stores of a batch. */
interface RawBatch {
  thread: string;
  timeOrigin: number;
  first: number;
  count: number;
  dropped: number;
  faults: number;
  definitions: Definition[];
  /** base64 */
  records: string;
}
interface Collected {
  hellos: ThreadIdentity[];
  batches: RawBatch[];
  byes: { thread: string; reason: string }[];
}
declare global {
  interface Window {
    vfscopeStandIn: Collected & {
      stop(): void;
      ackAll(): void;
      answer: 'connected' | 'no-panel' | 'restore' | 'silent';
      acks: boolean;
      offers: number;
    };
  }
}

/**
 * In the page: takes the offered port like the content script, and acknowledges like the panel.
 * Runs before the hook.
 */
function standIn(): void {
  const ports = new Set<MessagePort>();
  const received = new Map<string, number>();
  const state: Window['vfscopeStandIn'] = {
    hellos: [],
    batches: [],
    byes: [],
    answer: 'connected',
    acks: true,
    offers: 0,
    ackAll() {
      state.acks = true;
      for (const [thread, records] of received)
        for (const port of ports) port.postMessage({ k: 'ack', thread, records });
    },
    stop: () => ports.forEach((port) => port.postMessage({ k: 'stop' })),
  };
  Object.defineProperty(window, 'vfscopeStandIn', { value: state });
  const base64 = (buffer: ArrayBuffer): string => {
    let text = '';
    const bytes = new Uint8Array(buffer);
    for (let i = 0; i < bytes.length; i += 8192)
      text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return btoa(text);
  };
  const follow = (port: MessagePort): void => {
    ports.add(port);
    port.onmessage = ({ data, ports: [child] }) => {
      if (data.k === 'child' && child) follow(child);
      else if (data.k === 'hello') state.hellos.push(data.thread);
      else if (data.k === 'bye') state.byes.push({ thread: data.thread, reason: data.reason });
      else if (data.k === 'batch') {
        const { batch } = data;
        state.batches.push({ ...batch, records: base64(batch.records) });
        const total = (received.get(batch.thread) ?? 0) + batch.count;
        received.set(batch.thread, total);
        if (state.acks) port.postMessage({ k: 'ack', thread: batch.thread, records: total });
      }
    };
  };
  // the line that the hook opens, and its offers on it
  window.addEventListener('vfscope', (event) => {
    const [line] = (event as MessageEvent).ports;
    if (!line) return;
    event.preventDefault();
    line.onmessage = ({ ports: [offered] }) => {
      state.offers++;
      if (state.answer === 'silent') return;
      if (state.answer === 'connected') follow(offered!);
      line.postMessage({ k: state.answer });
    };
  });
}

/** From now on, every document of this page runs the fake panel and the hook. */
export async function injectHook(page: Page, hook: string, answer = 'connected'): Promise<void> {
  await page.evaluateOnNewDocument(
    `(${String(standIn)})(); vfscopeStandIn.answer = ${JSON.stringify(answer)};\n//# sourceURL=stand-in.js`,
  );
  await page.evaluateOnNewDocument(hook);
}

/** A page of the cases; with the hook if its source is given, and `first` before it. */
export async function openCases(
  browser: Browser,
  url: string,
  hook: string | null,
  answer = 'connected',
  first?: () => void,
): Promise<Page> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  if (first) await page.evaluateOnNewDocument(first);
  if (hook !== null) await injectHook(page, hook, answer);
  await page.goto(url);
  return page;
}

/** One event, from its record and, if it was split, its end record. */
export interface SeenEvent {
  op: string;
  object: Definition | undefined;
  offset: number;
  length: number;
  result: number;
  flags: number;
  context: number;
  aux: number;
  aux2: number;
  objectId: number;
  seq: number;
  endSeq: number;
  durationMs: number;
  /** Start time, ms since the epoch. */
  startMs: number;
}
export interface SeenThread {
  identity: ThreadIdentity;
  events: SeenEvent[];
  definitions: Definition[];
  notes: { topic: string; text: string; url?: string }[];
  dropped: number;
  faults: number;
  bye: string | null;
}

/** Everything collected so far, decoded, by thread. Fails if there are gaps between batches. */
export async function collected(page: Page): Promise<SeenThread[]> {
  const raw: Collected = await page.evaluate(() => {
    const { hellos, batches, byes } = window.vfscopeStandIn;
    return { hellos, batches, byes };
  });
  return raw.hellos.map((identity) => {
    const batches = raw.batches.filter((batch) => batch.thread === identity.id);
    const definitions = batches.flatMap((batch) => batch.definitions);
    const byId = new Map(
      definitions.filter(({ id }) => id > 0).map((definition) => [definition.id, definition]),
    );
    const events = new Map<number, SeenEvent>();
    let next = 0;
    for (const batch of batches) {
      if (batch.first !== next)
        throw new Error(`a gap in ${identity.url}: expected record ${next}, got ${batch.first}`);
      next += batch.count;
      const bytes = Buffer.from(batch.records, 'base64');
      const reader = new RecordReader(new Uint8Array(bytes).buffer);
      for (let i = 0; i < reader.count; i++) {
        if (reader.op(i) === Op.end) {
          const event = events.get(reader.seq(i));
          if (!event) throw new Error(`an end without its record: seq ${reader.seq(i)}`);
          const late = reader.offset(i);
          Object.assign(event, {
            endSeq: reader.endSeq(i),
            result: reader.result(i),
            flags: event.flags | reader.flags(i),
          });
          if (!Number.isNaN(late)) event.length = late;
          if (reader.aux(i) || reader.aux2(i))
            Object.assign(event, { aux: reader.aux(i), aux2: reader.aux2(i) });
          continue;
        }
        events.set(reader.seq(i), {
          op: opName(reader.op(i)),
          object: byId.get(reader.object(i)),
          offset: reader.offset(i),
          length: reader.length(i),
          result: reader.result(i),
          flags: reader.flags(i),
          context: reader.context(i),
          aux: reader.aux(i),
          aux2: reader.aux2(i),
          objectId: reader.object(i),
          seq: reader.seq(i),
          endSeq: reader.endSeq(i),
          durationMs: reader.t1(i) - reader.t0(i),
          startMs: batch.timeOrigin + reader.t0(i),
        });
      }
    }
    const last = batches.at(-1);
    return {
      identity,
      events: [...events.values()],
      definitions,
      notes: definitions.filter((definition) => definition.kind === 'note'),
      dropped: last?.dropped ?? 0,
      faults: last?.faults ?? 0,
      bye: raw.byes.find(({ thread }) => thread === identity.id)?.reason ?? null,
    };
  });
}

/** Collect until `enough` returns true. @throws after 10 s, with what was collected */
export async function collectUntil(
  page: Page,
  enough: (threads: SeenThread[]) => boolean,
  describe: (threads: SeenThread[]) => string = briefly,
): Promise<SeenThread[]> {
  const end = Date.now() + 10_000;
  for (;;) {
    const threads = await collected(page);
    if (enough(threads)) return threads;
    if (Date.now() > end) throw new Error(`waited 10 s in vain; collected:\n${describe(threads)}`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  }
}

const briefly = (threads: SeenThread[]): string =>
  threads
    .map(
      (t) =>
        `${t.identity.kind} ${t.identity.url}: ${t.events.map((e) => e.op).join(' ')} ${JSON.stringify(t.notes)}`,
    )
    .join('\n');

/**
 * The cases' workers from the network that are recorded wherever blob: workers are allowed. Records
 * of terminated ones may be lost.
 */
export const NETWORK_WORKERS = [
  'await-module.js',
  'closes.js',
  'echo-module.js',
  'echo.js',
  'echo.js?to=%2Fecho.js%3Fredirected',
  'echo.js?x=1',
  'handled.js',
  'nested.js',
  'objects.js?q=1',
  'referrers.js?module',
  'referrers.js?q=1',
  'relative.js?q=1',
  'throws-module.js',
  'throws.js',
  'throws.js#part',
  'wasm.js',
];
/** Workers that those create, if they are recorded. */
export const NESTED_WORKERS = ['echo-module.js?text', 'echo.js?object'];

/** The cases' workers from Blobs whose text may make them strict, by name. */
export const BLOB_CASES = [
  'blob strict',
  'blob sloppy',
  'blob strict behind comments',
  'blob sloppy behind comments',
  'blob strict behind another directive',
  'blob sloppy behind a directive and a statement',
  'blob that only names a directive',
  'blob strict behind 64 KiB',
  'blob sloppy behind 64 KiB',
  'blob strict, then bytes',
  'blob with a first line of its own',
  'blob strict behind a BOM',
  'blob sloppy behind a BOM',
  'blob strict, of bytes',
  'blob strict, of Blobs',
  'blob strict, of a response',
  'blob that is a response',
];
