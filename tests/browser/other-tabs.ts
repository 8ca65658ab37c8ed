/**
 * What a tab that isn't recorded could notice while another one is: a page with workers of every
 * type, each of which a hook would change, reports everything it sees from its first line on.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'puppeteer-core';

const WORKER = `postMessage('ran')`;
const FETCHES = `fetch('/referred').then((r) => postMessage(r.status), (e) => postMessage(String(e)))`;
/** At an address without the page's policy, which a blob: worker would inherit. */
const ABROAD = `fetch(URL_ABROAD).then((r) => postMessage(r.status), (e) => postMessage(String(e)))`;

/** Answers every page in its folder itself. */
const SERVICE_WORKER = `addEventListener('fetch', (e) => e.request.mode === 'navigate' &&
  e.respondWith(new Response(PAGE, { headers: { 'Content-Type': 'text/html' } })));`;

/** Runs before everything else in the page. */
const LOOK = `
const own = () => ({
  symbols: Object.getOwnPropertySymbols(globalThis).map(String).filter((name) => name.includes('vfscope')),
  step: '_sqlite3_step' in {},
  natives: [Worker, SharedWorker, indexedDB.open, Storage.prototype.setItem, WebAssembly.instantiate].map(String),
  stack: (() => { try { new Worker('http://[') } catch (e) { return e.stack.split('\\n').length + (/extension:/.test(e.stack) ? ' ours' : '') } })(),
});
const heard = [];
addEventListener('message', ({ data }) => heard.push(JSON.stringify(data)));
const first = own();
const run = (url, options) => new Promise((done) => {
  const worker = new Worker(url, options);
  worker.onmessage = ({ data }) => done(data);
  worker.onerror = () => done('error');
});
const workers = Promise.all([run('/worker.js'), run('/worker.js', { type: 'module' }), run('/worker.txt'), run('/fetches.js'),
  run('/abroad.js'), run(URL.createObjectURL(new Blob([${JSON.stringify(WORKER)}])))]);
const load = new Promise((done) => addEventListener('load', done));
globalThis.seen = Promise.all([workers, load]).then(([w]) => ({ first, workers: w, heard, frames: length }));
`;
const PAGE = `<!doctype html><script>${LOOK}</script><title>page</title><p>A page`;

export interface Seen {
  first: { symbols: string[]; step: boolean; natives: string[]; stack: string };
  workers: unknown[];
  heard: string[];
  frames: number;
}

export interface Origins {
  /** Every label is an origin. */
  origin(label: string): string;
  close(): void;
}

/** `/hop?to=` redirects; scripts in `/sw/` come from a service worker once it is installed. */
export async function serveOrigins(): Promise<Origins> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://server');
    const port = (server.address() as AddressInfo).port;
    const send = (type: string | null, text: string, status = 200): void =>
      void response
        .writeHead(status, {
          ...(type ? { 'Content-Type': type } : {}),
          'Cache-Control': 'no-store',
        })
        .end(text);
    if (pathname === '/worker.js') send('text/javascript', WORKER);
    else if (pathname === '/worker.txt') send('text/plain', WORKER);
    else if (pathname === '/fetches.js') send('text/javascript', FETCHES);
    else if (pathname === '/abroad.js')
      send(
        'text/javascript',
        ABROAD.replace('URL_ABROAD', JSON.stringify(`http://abroad.localhost:${port}/open`)),
      );
    else if (pathname === '/open')
      response.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end();
    else if (pathname === '/referred') send('text/plain', '', request.headers.referer ? 200 : 403);
    else if (pathname === '/sw/worker.js')
      send(
        'text/javascript',
        SERVICE_WORKER.replace('PAGE', () => JSON.stringify(PAGE)),
      );
    else if (pathname === '/hop')
      response.writeHead(302, { Location: searchParams.get('to')! }).end();
    else if (pathname === '/frames')
      send(
        'text/html',
        `<!doctype html><iframe src="${searchParams.get('of')!}"></iframe><iframe srcdoc="<p>one"></iframe>`,
      );
    else if (pathname === '/plain')
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><p>A page'); // may be cached
    else {
      response.setHeader('Content-Security-Policy', "connect-src 'self'");
      send('text/html', PAGE);
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    origin: (label) => `http://${label}.localhost:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Load a page and get its report. */
export async function observe(page: Page, url: string): Promise<Seen> {
  await page.goto(url);
  return page.evaluate(() => (globalThis as unknown as { seen: Promise<Seen> }).seen);
}

/** Nothing is recorded there, but its SharedWorkers are those of the recorded tab. */
export const joined = (tab: Page): Promise<unknown> =>
  tab.waitForFunction(() => !('_sqlite3_step' in {}), { polling: 50 });

/**
 * Without our marker and the SharedWorker constructor, which all tabs of a recorded origin have.
 */
export function beside({ first, ...rest }: Seen): Seen {
  const natives = first.natives.map((text) =>
    text === 'function () { [native code] }' ? 'function SharedWorker() { [native code] }' : text,
  );
  return { first: { ...first, symbols: [], natives }, ...rest };
}
