/**
 * Serves folders and files to browsers on this machine only: pages that ship with a command, and
 * their data.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, resolve, sep } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

export interface Served {
  /** `http://localhost:<port>`: a secure context, which has OPFS. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serve files on a free port of 127.0.0.1, read only.
 * @param folders by URL path, such as `/demo/`; the first match wins, and a path without a trailing
 * slash is a file's. A path that leaves its
 *   folder, or has no match, gets 404. A host that isn't this machine gets 403, so that no site can
 * read the files through its own host name.
 */
export async function serveFolders(folders: Readonly<Record<string, string>>): Promise<Served> {
  const server = createServer((request, response) => {
    answer(request, response, folders).catch((e: Error) => refuse(response, 500, e.message));
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', listening);
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  { method, url = '/', headers }: IncomingMessage,
  response: ServerResponse,
  folders: Readonly<Record<string, string>>,
): Promise<void> {
  if (!/^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(headers.host ?? ''))
    return refuse(response, 403, 'for localhost only');
  if (method !== 'GET' && method !== 'HEAD') return refuse(response, 405, 'only GET and HEAD');
  const file = fileOf(url, folders);
  const info = file === null ? null : await stat(file).catch(() => null);
  if (file === null || !info?.isFile()) return refuse(response, 404, 'no such file');
  response.writeHead(200, {
    'Cache-Control': 'no-store',
    'Content-Length': info.size,
    'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
  });
  if (method === 'HEAD') return void response.end();
  const stream = createReadStream(file);
  response.on('close', () => stream.destroy()); // the page has left
  stream.on('error', (e) => response.destroy(e));
  stream.pipe(response);
}

/** null if the path matches none of them. */
function fileOf(url: string, folders: Readonly<Record<string, string>>): string | null {
  if (!URL.canParse(url, 'http://localhost')) return null;
  let path: string;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return null; // % without two hex digits
  }
  const prefix = Object.keys(folders).find((one) =>
    one.endsWith('/') ? path.startsWith(one) : path === one,
  );
  if (prefix === undefined || path.includes('\0')) return null;
  if (!prefix.endsWith('/')) return folders[prefix]!;
  const folder = resolve(folders[prefix]!);
  const below = path.slice(prefix.length);
  const file = resolve(
    folder,
    below.endsWith('/') || below === '' ? join(below, 'index.html') : below,
  );
  return file.startsWith(folder + sep) ? file : null;
}

function refuse(response: ServerResponse, status: number, text: string): void {
  if (!response.headersSent) response.writeHead(status, { 'Content-Type': 'text/plain' });
  response.end(`${status} ${text}\n`);
}
