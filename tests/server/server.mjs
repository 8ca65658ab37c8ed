// The static server of the apps: tests/apps/<app>/ at /<app>/, installed packages at
// /node_modules/. Each is also available under path prefixes that add other security headers. Plain
// JavaScript, so that tools can run it without a build.
import { createServer as createHttpServer } from 'node:http';
import { createReadStream } from 'node:fs';
import { readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownOrigin } from './own-origin.mjs';
import { bundle } from './bundle.mjs';
import { mappedScript, suiteFile } from './suites.mjs';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const APPS = path.join(REPOSITORY, 'tests', 'apps');
const PACKAGES = path.join(REPOSITORY, 'node_modules');

/** Path prefix -> response headers. Apps use relative URLs, so a page under a prefix loads everything under that prefix. */
export const VARIANTS = {
  coi: {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  },
  'csp-self': {
    'Content-Security-Policy': "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'",
  },
  'csp-inline': {
    'Content-Security-Policy':
      "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; worker-src 'self'",
  },
};

/** Scripts that count an app's storage calls, and that fix its randomness. See their comments. */
const COUNT = fileURLToPath(new URL('./count-storage.js', import.meta.url));
const FIX = fileURLToPath(new URL('./fix-chance.js', import.meta.url));

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

export async function createServer({
  port = 0,
  host = '127.0.0.1',
  counted = false,
  fixed = null,
  behind = {},
  before = '',
} = {}) {
  const texts = [...(counted ? [COUNT] : []), ...(fixed ? [FIX] : [])];
  const scripts = await Promise.all(texts.map((file) => readFile(file, 'utf8')));
  const first = `${before}${fixed?.dateMoves ? 'globalThis.dateMoves = true;' : ''}${scripts.join('')}`;
  const added = { first, behind };
  const counts = {};
  const server = createHttpServer((request, response) => {
    const answered =
      counted && request.url === '/counted'
        ? addCounts(counts, request, response)
        : answer(request, response, added);
    answered.catch((error) => {
      if (!response.headersSent)
        response.writeHead(500, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(`500 ${error.message}\n`);
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const chosen = server.address().port;
  return {
    url: `http://localhost:${chosen}`,
    port: chosen,
    // Every name under .localhost is this machine and a secure context. Each is an origin with its
    // own storage.
    origin: (label) => `http://${label}.localhost:${chosen}`,
    counts: () => ({ ...counts }),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

async function addCounts(counts, request, response) {
  let body = '';
  for await (const part of request) body += part;
  for (const [name, n] of Object.entries(JSON.parse(body))) counts[name] = (counts[name] ?? 0) + n;
  response.writeHead(204).end();
}

/**
 * @param added `first` is put before every script, `behind` has texts to put after files, by their
 * names
 */
async function answer(request, response, added) {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse(response, 405, 'only GET and HEAD', {});
  let pathname, search;
  try {
    const url = new URL(request.url, 'http://localhost');
    pathname = decodeURIComponent(url.pathname);
    search = url.search;
  } catch (error) {
    return refuse(response, 400, `not a URL path: ${error.message}`, {});
  }
  const own = await ownOrigin(request.headers.host ?? '', pathname);
  if (own) return send(request, response, own.file, own.headers, added);
  const prefix = Object.keys(VARIANTS).find((name) => pathname.startsWith(`/${name}/`));
  const headers = { 'Cache-Control': 'no-store', ...(prefix ? VARIANTS[prefix] : {}) };
  const rest = prefix ? pathname.slice(prefix.length + 1) : pathname;
  if (rest === '/') return list(response, headers);
  if (rest === '/favicon.ico') return response.writeHead(204, headers).end();

  const file = fileOf(rest);
  const info = file && (await stat(file).catch(() => null));
  if (!info) return refuse(response, 404, `no such file: ${pathname}`, headers);
  if (info.isDirectory()) {
    if (!pathname.endsWith('/'))
      return response.writeHead(301, { ...headers, Location: `${pathname}/${search}` }).end();
    return send(request, response, path.join(file, 'index.html'), headers, added);
  }
  if (search === '?bundle')
    return script(
      request,
      response,
      await bundle(file, prefix ? `/${prefix}` : ''),
      headers,
      added,
    );
  if (rest.startsWith('/suites/') && file.endsWith('.js'))
    return script(request, response, await mappedScript(file), headers, added);
  return send(request, response, file, headers, added);
}

/** @param text the script, as text or bytes */
function script(request, response, text, headers, { first }) {
  const body = first
    ? Buffer.from(withFirst(first, Buffer.from(text).toString()))
    : Buffer.from(text);
  whole(request, response, body, { ...headers, 'Content-Type': TYPES['.js'] });
}

function whole(request, response, body, headers) {
  response.writeHead(200, { ...headers, 'Content-Length': body.byteLength });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** A script with another text before it. A directive stays first. */
function withFirst(first, text) {
  const [directive] = /^\s*(['"])use strict\1;?/.exec(text) ?? [''];
  return `${directive}${first}${text.slice(directive.length)}`;
}

/** The file for a path, or null if the path leaves its folder. */
function fileOf(rest) {
  if (rest.startsWith('/suites/')) return suiteFile(PACKAGES, rest);
  const [root, below] = rest.startsWith('/node_modules/')
    ? [PACKAGES, rest.slice('/node_modules/'.length)]
    : [APPS, rest.slice(1)];
  const file = path.join(root, below);
  return file === root || file.startsWith(root + path.sep) ? file : null;
}

async function send(request, response, file, headers, added) {
  const info = await stat(file).catch(() => null);
  if (!info?.isFile()) return refuse(response, 404, 'no such file', headers);
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
  if (added.first && type === TYPES['.js'])
    return script(request, response, await readFile(file), headers, added);
  const more = added.behind[path.basename(file)];
  if (more !== undefined)
    return whole(request, response, Buffer.concat([await readFile(file), Buffer.from(more)]), {
      ...headers,
      'Content-Type': type,
    });
  const range = rangeOf(request.headers.range, info.size);
  const [start, end] = range ?? [0, info.size - 1];
  response.writeHead(range ? 206 : 200, {
    ...headers,
    'Content-Type': type,
    'Content-Length': end - start + 1,
    'Accept-Ranges': 'bytes',
    ...(range ? { 'Content-Range': `bytes ${start}-${end}/${info.size}` } : {}),
  });
  if (request.method === 'HEAD' || info.size === 0) return response.end();
  // if the page goes away during the load, the response ends early, and the file must be closed
  const stream = createReadStream(file, { start, end });
  response.on('close', () => stream.destroy());
  stream.on('error', (error) => response.destroy(error));
  stream.pipe(response);
}

/** First and last byte of a request for one range of a file, or null for the whole file. */
function rangeOf(header, size) {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || Number(from) >= size) return null;
  return [Number(from), to ? Math.min(Number(to), size - 1) : size - 1];
}

/** The list of apps, at `/`. */
async function list(response, headers) {
  const apps = (await readdir(APPS, { withFileTypes: true })).filter(
    (entry) => entry.isDirectory() && entry.name !== 'common',
  );
  const links = apps.map(({ name }) => `<li><a href="${name}/">${name}</a></li>`).join('\n');
  response.writeHead(200, { ...headers, 'Content-Type': TYPES['.html'] });
  response.end(`<!doctype html>\n<title>Apps</title>\n<ul>\n${links}\n</ul>\n`);
}

function refuse(response, status, text, headers) {
  response.writeHead(status, { ...headers, 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${status} ${text}\n`);
}
