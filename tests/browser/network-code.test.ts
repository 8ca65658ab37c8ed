/**
 * Only the files named here can send anything, both in the sources and in everything that is built
 * and shipped.
 */
import { readFileSync, readdirSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { MAY_SEND, sendersBelow, sendersIn } from './senders.ts';

const DIST = process.env['VFSCOPE_DIST'] ?? 'dist';

/** Sources that may, and why. */
const ALLOWED: Record<string, string> = {
  'src/connect/attach.ts': 'drives a browser that runs already',
  'src/connect/endpoint.ts': 'asks a browser that the user names for its pages (`--connect`)',
  'src/embed/stream.ts': 'sends a recording where the page was told to (`to`)',
  'src/lab/page/own-file.ts': "reads a file of the Lab's own",
  'src/listen/server.ts': '`vfscope listen`, on this machine',
  'src/platform/handover-page.ts': "reads a page of the extension's own",
  'src/platform/own-file.ts': "reads a file of the extension's own",
  'src/site/fetch-trace.ts': 'reads the trace that `?url=` names',
  'src/site/offline.ts': "answers the viewer's own requests, without a network",
  'src/terminal/serve.ts': "serves the command's own pages, on this machine",
};
/** Drives a browser, one that the command starts or connects to, over its debugging protocol. */
const DRIVES = /^src\/(drive|lab\/drive)\//;

/** TypeScript or Svelte as the JavaScript that runs, without types. */
function programOf(file: string): string {
  const text = readFileSync(file, 'utf8');
  if (!MAY_SEND.test(text)) return '';
  const code = file.endsWith('.svelte')
    ? [...text.matchAll(/<script[^>]*>([^]*?)<\/script>/g)].map(([, inner]) => inner).join('\n')
    : text;
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

test("the search finds each way to send, and doesn't mistake text for one", () => {
  expect(sendersIn("const text = 'fetch'; const o = { fetch: 1, WebSocket() {} };")).toEqual({});
  expect(
    sendersIn(`import { connect } from 'node:net'; const { fetch: send } = globalThis;
    navigator.sendBeacon('/'); new XMLHttpRequest(); self['x'] = WebSocket; send('/');`),
  ).toEqual({ 'node:net': 1, fetch: 1, sendBeacon: 1, XMLHttpRequest: 1, WebSocket: 1 });
  // also in code that is stored as text, or that is loaded while it runs
  expect(
    sendersIn(`new Worker(URL.createObjectURL(new Blob(["(() => { fetch('/'); })()"])));
    await import('node:https'); require('net'); process.getBuiltinModule('http'); self.fetchLater;
    const sentence = "The app calls fetch('/') (twice).";`),
  ).toEqual({ fetch: 1, 'node:https': 1, net: 1, http: 1, fetchLater: 1 });
});

test('in sources, only the listed files can send', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
    .filter((file) => /(?<!\.d)\.(m?ts|mjs|svelte)$/.test(file) && !DRIVES.test(file));
  const found = files.filter((file) => Object.keys(sendersIn(programOf(file))).length);
  expect(found.sort()).toEqual(Object.keys(ALLOWED));
});

/**
 * Loaders of the two SQLite builds request their .wasm next to them. One also requests Emscripten's
 * files.
 */
const LOADERS = { fetch: 6, XMLHttpRequest: 6 };
const EXTENSION = {
  'background.js': { fetch: 1 },
  'devtools/panel.js': { fetch: 1 },
  'devtools/store-worker.js': LOADERS,
  'lab/lab-worker.js': { fetch: 22, XMLHttpRequest: 29 },
};

test.each(['chrome', 'firefox', 'safari'])('the built extension for %s', (browser) => {
  expect(sendersBelow(`${DIST}/${browser}`)).toEqual(EXTENSION);
});

test('the viewer as a page, which reads a trace and its own files', () => {
  expect(sendersBelow(`${DIST}/viewer`)).toEqual({
    'offline.js': { fetch: 1 },
    'store-worker.js': LOADERS,
    'viewer.js': { fetch: 1 },
  });
});

test('the built command', () => {
  expect(sendersBelow(`${DIST}/cli`)).toEqual({
    'vfscope.mjs': { fetch: 1, 'node:http': 1, 'puppeteer-core': 3 },
  });
});

/** Everything that is published, except documents. */
test('every published folder of programs is searched here', () => {
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
  const folders = files.flatMap((name) => /^dist\/(\w+)/.exec(name)?.[1] ?? []);
  expect(folders).toEqual(['cli', 'lib', 'chrome', 'firefox', 'viewer']);
});

test('the GitHub Action checks whether the page is served, and sends nothing else', () => {
  expect(sendersBelow('tools/action')).toEqual({ 'compare.mjs': { fetch: 1 } });
});

test('the built library: only the hook can send, once it has an address', () => {
  expect(sendersBelow(`${DIST}/lib`)).toEqual({
    'hook-script.js': { fetch: 1 },
    'hook.js': { fetch: 1 },
  });
});
