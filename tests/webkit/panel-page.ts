/**
 * The panel built for Safari, as a page in WebKit. A mock of `browser` has ports that carry only
 * JSON, like Safari's.
 */
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { InspectedPage } from './inspector.ts';

/** Built by `npm run build`, or into another folder with VFSCOPE_DIST. */
export const SAFARI_BUILD = path.join(process.env['VFSCOPE_DIST'] ?? 'dist', 'safari');
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

declare global {
  interface Window {
    vfscopeMock: {
      /** Posted messages, parsed from JSON, oldest first. Readers remove what they read. */
      posted: unknown[];
      say(part: unknown): void;
      failures: string[];
    };
  }
}

/** Runs in the page before the panel: the parts of the extension API that it uses. */
function mock(manifest: object): void {
  const listeners = new Set<(part: unknown) => void>();
  const asJson = (v: unknown): unknown => JSON.parse(JSON.stringify(v));
  const nothing = { addListener: () => undefined };
  const state: Window['vfscopeMock'] = {
    ...{ posted: [], failures: [] },
    say: (part) => listeners.forEach((listener) => listener(asJson(part))),
  };
  addEventListener('error', ({ message }) => state.failures.push(message));
  addEventListener('unhandledrejection', ({ reason }) => state.failures.push(String(reason)));
  const port = (name: string): object => ({
    ...{ name, onDisconnect: nothing, disconnect: () => undefined },
    onMessage: { addListener: (listener: (part: unknown) => void) => listeners.add(listener) },
    postMessage: (part: unknown) => void state.posted.push(asJson(part)),
  });
  const browser = {
    runtime: {
      id: 'vfscope',
      getURL: (file: string) => new URL(file, location.origin).href,
      getManifest: () => manifest,
      connect: ({ name }: { name: string }) => port(name),
    },
    storage: { local: { get: () => Promise.resolve({}), set: () => Promise.resolve() } },
    tabs: { get: () => Promise.resolve({}), onUpdated: nothing },
    devtools: { panels: { themeName: 'light' } },
  };
  Object.assign(window, { browser, chrome: browser, vfscopeMock: state });
}

/** Serves the build with the policy in its manifest. */
export async function servePanelBuild(): Promise<{ url: string; close(): Promise<void> }> {
  const manifest = JSON.parse(await readFile(path.join(SAFARI_BUILD, 'manifest.json'), 'utf8')) as {
    content_security_policy: { extension_pages: string };
  };
  const server: Server = createServer((request, response) => {
    const file = path.join(
      SAFARI_BUILD,
      path.normalize(new URL(request.url ?? '/', 'http://panel').pathname),
    );
    if (!existsSync(file)) return void response.writeHead(404).end();
    const policy = manifest.content_security_policy.extension_pages;
    response.writeHead(200, {
      'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream',
      'Content-Security-Policy': policy,
    });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Opens the panel of tab 1. */
export async function openPanelPage(page: InspectedPage, url: string): Promise<void> {
  const manifest = JSON.parse(
    await readFile(path.join(SAFARI_BUILD, 'manifest.json'), 'utf8'),
  ) as object;
  await page.clearStartScripts();
  await page.evaluateOnNewDocument(mock, manifest);
  await page.goto(`${url}/devtools/panel.html?tab=1`);
  await page.waitForFunction(() => document.querySelector('[data-testid="record"]') !== null);
}

/** Opens the Lab's page. */
export async function openLabPage(page: InspectedPage, url: string): Promise<void> {
  const manifest = JSON.parse(
    await readFile(path.join(SAFARI_BUILD, 'manifest.json'), 'utf8'),
  ) as object;
  await page.clearStartScripts();
  await page.evaluateOnNewDocument(mock, manifest);
  await page.goto(`${url}/lab/lab.html`);
  await page.waitForFunction(() => document.documentElement.dataset['ready'] === 'true');
}
