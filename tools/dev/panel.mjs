// `npm run panel`: the viewer in an ordinary tab, rebuilt and reloaded as sources change.
//   npm run panel                 a made-up page to record
//   npm run panel -- FILE.vfst    a stored trace
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { basename, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import nodeResolve from '@rollup/plugin-node-resolve';
import { rollup, watch } from 'rollup';
import esbuild from 'rollup-plugin-esbuild';
import svelte from 'rollup-plugin-svelte';
import svelteOptions from '../../svelte.config.js';

const HTML = 'tests/panel/panel.html';
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.vfst': 'application/octet-stream',
};
// as strict as the extension's own pages
const CSP = JSON.parse(readFileSync('manifest.json', 'utf8')).content_security_policy
  .extension_pages;

const plugins = [
  esbuild({ target: 'es2022' }), // before svelte, which takes no types in .svelte.ts modules
  svelte({ ...svelteOptions, emitCss: false }),
  nodeResolve({ browser: true, extensions: ['.ts', '.mjs', '.js', '.svelte'] }),
];
// Svelte's own modules import each other in circles; ours must not
const onLog = (level, log, handle) =>
  log.code === 'CIRCULAR_DEPENDENCY' && log.ids?.every((id) => id.includes('node_modules'))
    ? undefined
    : handle(level, log);
/** @param {string} out folder */
const configs = (out) =>
  [
    ['tests/panel/page.ts', 'page.js'],
    ['src/viewer/session/store-worker.ts', 'store-worker.js'],
  ].map(([input, file]) => ({
    input,
    plugins,
    onLog,
    output: { file: join(out, file), format: 'es', inlineDynamicImports: true },
  }));

/** What the worker loads when a query runs. @param {string} out */
function copyWasm(out) {
  mkdirSync(out, { recursive: true });
  for (const [from, to] of [
    ['wa-sqlite', 'wa-sqlite'],
    ['@journeyapps/wa-sqlite', 'journeyapps-wa-sqlite'],
  ])
    copyFileSync(`node_modules/${from}/dist/wa-sqlite.wasm`, join(out, `${to}.wasm`));
}

/** Build the page and its worker into a folder. @param {string} out */
export async function buildPanel(out) {
  copyWasm(out);
  for (const config of configs(out)) {
    const bundle = await rollup(config);
    await bundle.write(config.output);
    await bundle.close();
  }
}

/**
 * Serve a built panel on 127.0.0.1, and the files of `traces` under /traces/ by name.
 * @param {{ out: string, port?: number, traces?: Record<string, string> }} options
 * @returns {Promise<{ url: string, rebuilt: () => void, close: () => Promise<void> }>}
 */
export async function servePanel({ out, port = 0, traces = {} }) {
  const listeners = new Set();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://panel');
    if (pathname === '/rebuilt') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      listeners.add(response);
      request.on('close', () => listeners.delete(response));
      return;
    }
    const name = decodeURIComponent(basename(pathname));
    const file =
      pathname === '/' ? HTML : pathname.startsWith('/traces/') ? traces[name] : join(out, name);
    if (!file || !existsSync(file)) {
      response.writeHead(404).end('not found');
      return;
    }
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, {
      'content-type': type,
      'content-length': statSync(file).size,
      'content-security-policy': CSP,
      'cache-control': 'no-store',
    });
    createReadStream(file).pipe(response);
  });
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${address.port}/`,
    rebuilt: () => listeners.forEach((response) => response.write('data: rebuilt\n\n')),
    close: () =>
      new Promise((done, failed) => {
        server.closeAllConnections();
        server.close((error) => (error ? failed(error) : done()));
      }),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const out = 'dist/panel';
  const file = process.argv[2];
  if (file && !existsSync(file)) {
    console.error(`there is no file ${file}`);
    process.exit(2);
  }
  const traces = file ? { [basename(file)]: resolve(file) } : {};
  copyWasm(out);
  const { url, rebuilt } = await servePanel({
    out,
    port: Number(process.env.PORT ?? 8123),
    traces,
  });
  watch(configs(out).map((config) => ({ ...config, watch: { clearScreen: false } }))).on(
    'event',
    (event) => {
      if (event.code === 'ERROR') console.error(event.error.message);
      if (event.code === 'BUNDLE_END') void event.result.close();
      if (event.code !== 'END') return;
      console.log(
        `built; ${url}?watch&${file ? `open=${encodeURIComponent(`/traces/${basename(file)}`)}` : 'live'}`,
      );
      rebuilt();
    },
  );
}
