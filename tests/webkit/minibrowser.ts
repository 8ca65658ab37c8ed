/**
 * WebKitGTK's MiniBrowser on a separate display, used for Safari on machines without macOS. Its
 * profile is a folder for this run, because OPFS needs one.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findMiniBrowser, HOW_TO_INSTALL_WEBKIT } from '../../src/drive/find-browser.mjs';
import { InspectedPage } from './inspector.ts';

/** Features that Safari has and WebKitGTK disables by default. */
export const FEATURES =
  'AccessHandle,FileSystem,FileSystemWritableStream,StorageAPI,StorageAPIEstimate';
/** Without these, the browser starts a message bus, a portal, and a mount that outlive it. */
const ALONE = {
  ...{ NO_AT_BRIDGE: '1', GTK_USE_PORTAL: '0', GIO_USE_VFS: 'local', GSETTINGS_BACKEND: 'memory' },
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/dev/null',
};
const START_MS = 30_000;

export interface DrivenWebKit {
  page: InspectedPage;
  /** Pages of its other windows. */
  others: InspectedPage[];
  /** The browser's output. */
  log(): string;
  close(): Promise<void>;
}

/**
 * Starts the browser and opens pages to drive.
 * @param program command line of another WebKitGTK browser
 * @param windows number of windows that it opens
 * @throws if the browser or the display doesn't start, with the browser's output
 */
export async function launchWebKit(
  program?: (profile: string) => string[],
  windows = 1,
): Promise<DrivenWebKit> {
  const found = findMiniBrowser();
  if (!found) throw new Error(`No MiniBrowser found. ${HOW_TO_INSTALL_WEBKIT}`);
  const profile = await mkdtemp(path.join(tmpdir(), 'vfscope-webkit-'));
  const display = await startDisplay();
  const port = await freePort();
  const [command, ...args] = program?.(profile) ?? [found, `--features=${FEATURES}`, 'about:blank'];
  const folders = Object.fromEntries(
    ['data', 'cache', 'config'].map((kind) => [
      `XDG_${kind.toUpperCase()}_HOME`,
      path.join(profile, kind),
    ]),
  );
  const browser = spawn(command!, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...ALONE,
      ...folders,
      DISPLAY: display.name,
      WEBKIT_INSPECTOR_HTTP_SERVER: `127.0.0.1:${port}`,
    },
  });
  let log = '';
  for (const stream of [browser.stdout, browser.stderr])
    stream.on('data', (data: Buffer) => void (log += data.toString()));
  const gone = ended(browser);
  const pages: InspectedPage[] = [];
  const close = async (): Promise<void> => {
    for (const page of pages) page.close();
    browser.kill();
    await gone;
    display.stop();
    await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    for (const socket of await pageSockets(port, windows))
      pages.push(await InspectedPage.connect(socket));
    const [page, ...others] = pages as [InspectedPage, ...InspectedPage[]];
    return { page, others, log: () => log, close };
  } catch (e) {
    await close();
    throw new Error(`WebKit did not start: ${(e as Error).message}\n${log}`, { cause: e });
  }
}

/** WebSocket addresses of the pages, once the inspector's server lists this many. */
async function pageSockets(port: number, count: number): Promise<string[]> {
  let last: unknown;
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(100)) {
    try {
      const list = await (await fetch(`http://127.0.0.1:${port}/`)).text();
      const sockets = new Set(list.match(/socket\/\d+\/\d+\/WebPage/g));
      if (sockets.size === count)
        return [...sockets].map((socket) => `ws://127.0.0.1:${port}/${socket}`);
      last = `it offers ${sockets.size} pages`;
    } catch (e) {
      last = e; // not listening yet
    }
  }
  throw new Error(`no inspector within ${START_MS} ms: ${String(last)}`);
}

/**
 * Starts a display that picks a free number. Each browser has its own, because a shared one can end
 * with the first browser.
 */
async function startDisplay(): Promise<{ name: string; stop(): void }> {
  const server = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  );
  const number = await new Promise<string>((done, failed) => {
    server.stdio[3]!.once('data', (data: Buffer) => done(data.toString().trim()));
    server.once('error', failed);
    server.once('exit', (code) => failed(new Error(`Xvfb ended with ${code}`)));
  });
  return { name: `:${number}`, stop: () => void server.kill() };
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((done) => child.once('exit', () => done()).once('error', () => done()));

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
