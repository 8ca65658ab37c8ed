/**
 * Workers under page policies and in script encodings that break if a script is changed carelessly:
 * what each reports, recorded or not. Has a separate server because each answers with different
 * headers.
 */
import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Page } from 'puppeteer-core';

export interface PolicyServer {
  url: string;
  /**
   * The same on an insecure origin, where Firefox doesn't tell a request's purpose. Resolved by
   * PLAIN_HOST.
   */
  plainUrl: string;
  /** What each worker of the page reports. */
  outcomes(page: Page): Promise<Record<string, unknown>>;
  /** Labels of the threads in a recording. */
  recorded: readonly string[];
  close(): Promise<void>;
}

interface Case {
  type?: 'module';
  /** Its address is a TrustedScriptURL. */
  trusted?: true;
  body: string | Buffer;
  headers?: Record<string, string>;
}

/** A name that the browser resolves to this machine, and doesn't trust. */
export const PLAIN_HOST = 'plain.test';

/** Reports the worker's name, and how its script was read. */
const say = (extra = '0'): string =>
  `performance.mark('own ' + self.name); self.postMessage([self.name, ${extra}]);`;
const strictness = say('(function () { return this === undefined; })()');

const CASES: Record<string, Case> = {
  plain: { body: strictness },
  strict: { body: `// a comment\n/* and another */ 'use strict';\n${strictness}` },
  trusted: { trusted: true, body: say() },
  bom: { body: Buffer.from(`\uFEFF"use strict";${strictness}`) },
  hashbang: { body: `#!/usr/bin/env node\n${strictness}` },
  gzip: { body: gzipSync(say(`'Grüße'`)), headers: { 'Content-Encoding': 'gzip' } },
  'other charset': {
    body: Buffer.from(say(`'Grüße ☂'`)),
    headers: { 'Content-Type': 'text/javascript; charset=iso-8859-1' },
  },
  line: { body: `\n\n${say(`Number(/:(\\d+):\\d+/.exec(new Error().stack)[1])`)}` },
  large: { body: `/*${'x'.repeat(300_000)}*/${say()}` },
  'worker policy': { body: say(), headers: { 'Content-Security-Policy': "script-src 'self'" } },
  imports: { body: `importScripts('imported.js');${say('imported')}` },
  module: { type: 'module', body: `import { value } from './exports.js';${say('value')}` },
  'dynamic import': {
    type: 'module',
    body: `const { value } = await import('./exports.js');${say('value')}`,
  },
  'strict only in words': { body: `/* a */ 0; /* b */ 'use strict';\n${strictness}` },
  'another type': { body: say(), headers: { 'Content-Type': 'text/html' } },
  'plain text': {
    body: say(),
    headers: { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff' },
  },
  'module of another type': {
    type: 'module',
    body: say(),
    headers: { 'Content-Type': 'text/html' },
  },
  'no type': { body: say(), headers: { 'Content-Type': '' } },
  'imports another type': {
    body: `let outcome = 'ran'; try { importScripts('/page.html'); } catch (e) { outcome = e.name; } ${say('outcome')}`,
  },
  'another origin': { body: say(), headers: { Location: 'http://[::1]:9/' } },
  'syntax error': { body: `self.postMessage('never' ` },
};
/** The browser rejects their responses, or they aren't scripts. */
const NEVER_RUN = [
  'another type',
  'plain text',
  'module of another type',
  'another origin',
  'syntax error',
  'no type',
];
/**
 * A page's own scripts. Their start determines how they are read, and an app can see positions in
 * them.
 */
const place = String.raw`/:(\d+:\d+)\)?$/m.exec(new Error().stack)[1]`;
const PARTS: Record<string, string | Buffer> = {
  'bom.js': Buffer.from(`\uFEFFwindow.bom = ['Grüße', ${place}];`),
  'windows-1252.js': Buffer.from(`window.latin = ['Grüße', ${place}];`, 'latin1'),
  'utf-16.js': Buffer.from(`\uFEFFwindow.wide = ['Grüße', ${place}];`, 'utf16le'),
  'imported.js': `var imported = 'by importScripts';`,
  'exports.js': `export const value = 'from a module';`,
  'page.js': `window.pageScript = 'with integrity';`,
};

const integrity = `sha256-${createHash('sha256').update(PARTS['page.js']!).digest('base64')}`;
/** On a separate origin: it tells its page what its scripts are. */
const FRAME = `<!doctype html><script src="page.js" crossorigin integrity="${integrity}"></script><script src="utf-16.js"></script><script src="bom.js"></script>
<script>parent.postMessage([window.pageScript, window.wide, window.bom], '*')</script>`;
const PAGE = `<!doctype html><title>policies</title><script src="page.js" integrity="${integrity}"></script><script src="bom.js"></script><script src="windows-1252.js"></script><script src="utf-16.js"></script><script src="run.js"></script>`;
const RUN = `
const cases = ${JSON.stringify(Object.entries(CASES).map(([name, { type, trusted }]) => [name, type ?? 'classic', !!trusted]))};
const policy = window.trustedTypes?.createPolicy('workers', { createScriptURL: (url) => url });
const outcome = ([name, type, trusted]) => new Promise((done) => {
  setTimeout(done, 10000, [name, 'silence']); // natively each reports something at once
  const url = 'case/' + encodeURIComponent(name) + '/worker.js';
  const worker = new Worker(trusted && policy ? policy.createScriptURL(url) : url, { name, type });
  worker.onmessage = ({ data }) => done([name, data]);
  worker.onerror = (event) => (event.preventDefault(), done([name, 'error: ' + event.message + ' at ' + event.lineno]));
});
const pageScript = () => new Promise((done) => {
  const script = document.createElement('script');
  for (const type of ['load', 'error']) script.addEventListener(type, () => done(type));
  script.src = 'page.html?image';
  document.head.append(script);
});
const serviceWorker = async () => !isSecureContext || navigator.serviceWorker.register('page.html').then(() => 'registered', (e) => e.name);
const frame = (attributes) => new Promise((done) => {
  const element = Object.assign(document.createElement('iframe'), attributes);
  addEventListener('message', function listen({ source, data }) {
    if (source !== element.contentWindow) return;
    removeEventListener('message', listen);
    done(data);
  });
  document.body.append(element);
});
window.outcomes = async () => ({
  frames: [await frame({ sandbox: 'allow-scripts', src: 'frame.html' }), await frame({ src: 'frame.html?sandboxed' })],
  page: [window.pageScript, bom, latin, wide], other: [await pageScript(), await serviceWorker()], ...Object.fromEntries(await Promise.all(cases.map(outcome))) });`;

/** Serves the page and its workers. */
export async function servePolicies(): Promise<PolicyServer> {
  const answer = (pathname: string, sandboxed: boolean, response: ServerResponse): void => {
    const js = { 'Content-Type': 'text/javascript', 'Access-Control-Allow-Origin': '*' };
    const [, name = '', file = ''] = /^\/case\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
    const found = file === 'worker.js' ? CASES[decodeURIComponent(name)] : undefined;
    const part = PARTS[file || pathname.slice(1)];
    // its own policy: only scripts of this origin, no blob: workers
    if (pathname === '/')
      response
        .writeHead(200, {
          'Content-Type': 'text/html',
          'Content-Security-Policy': "default-src 'self'",
        })
        .end(PAGE);
    else if (pathname === '/run.js') response.writeHead(200, js).end(RUN);
    else if (found)
      response
        .writeHead(found.headers?.Location ? 302 : 200, { ...js, ...found.headers })
        .end(found.body);
    else if (pathname === '/frame.html')
      response
        .writeHead(200, {
          'Content-Type': 'text/html',
          ...(sandboxed && { 'Content-Security-Policy': 'sandbox allow-scripts' }),
        })
        .end(FRAME);
    else if (pathname === '/page.html')
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('outcome = "html";');
    else if (part !== undefined) response.writeHead(200, js).end(part);
    else response.writeHead(404).end('no such file');
  };
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    answer(pathname, search === '?sandboxed', response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    plainUrl: `http://${PLAIN_HOST}:${port}/`,
    outcomes: (page) => page.evaluate('outcomes()') as Promise<Record<string, unknown>>,
    recorded: Object.keys(CASES).filter((name) => !NEVER_RUN.includes(name)),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
