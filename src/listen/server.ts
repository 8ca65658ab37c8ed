/**
 * The server of `vfscope listen`: on this machine only, behind a random token that changes with
 * each start.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hookText } from './hook-text.ts';
import { answerRequest } from './requests.ts';
import type { Receiver } from './receiver.ts';

export interface ListenOptions {
  receiver: Receiver;
  /** 0 = any free port */
  port: number;
  /** Origins of pages that may send, besides those on this machine. */
  origins: readonly string[];
  /** What the pages capture. */
  hook: object;
}

export interface Listening {
  /** The script's address, token included. */
  readonly script: string;
  close(): Promise<void>;
}

const LOCAL = /^(localhost|[\w.-]+\.localhost|127\.0\.0\.1|\[::1\])$/;
const isLocal = (host: string): boolean => LOCAL.test(host.replace(/:\d+$/, ''));

/** @throws if the port is taken */
export async function listen(options: ListenOptions): Promise<Listening> {
  const token = randomBytes(16).toString('hex');
  const { receiver, origins } = options;
  let address = '';
  const allows = (origin: string | undefined): boolean =>
    origin === undefined ||
    origins.includes(origin) ||
    (URL.canParse(origin) && isLocal(new URL(origin).host));
  const server = createServer((request, response) => {
    const name = nameOf(request, token);
    if (name === null) return void response.writeHead(404).end();
    const hook = (): Promise<string> => hookText({ ...options.hook, to: `${address}/stream` });
    void answerRequest(request, response, name, { receiver, hook, allows });
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(options.port, '127.0.0.1', listening);
  });
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${token}`;
  return {
    script: `${address}/hook.js`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/**
 * The part after the token; null if the token is missing, or if the request used another host name
 * (DNS rebinding).
 */
function nameOf({ url = '', headers }: IncomingMessage, token: string): string | null {
  if (!isLocal(headers.host ?? '')) return null;
  const [, said = '', name = ''] = url.replace(/\?.*/, '').split('/');
  const [a, b] = [Buffer.from(said), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b) ? name : null;
}
