/**
 * Requests of pages that record themselves, under one path of a server: `hook.js` is the hook,
 * which posts to `stream`; `trace.vfst` is the trace so far. For the server of `vfscope listen` and
 * for the user's development server.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_POST_CHARS } from '../protocol/stream.ts';
import type { Receiver } from './receiver.ts';

interface RequestOptions {
  readonly receiver: Receiver;
  /** The script for the page of this request. */
  hook(): Promise<string>;
  /**
   * Whether a page of this origin may send. Undefined: the request has no origin, as requests to a
   * page's own server may.
   */
  allows(origin: string | undefined): boolean;
}

/** @param name the part after our path, without a query. Never rejects */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  options: RequestOptions,
): Promise<void> {
  const { origin } = request.headers;
  try {
    if (!options.allows(origin)) return end(response, 403, `Pages of ${origin} may not send here.`);
    if (origin !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Vary', 'Origin');
    }
    // other sites may load the hook and send if `allows` permits it
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    response.setHeader('Cache-Control', 'no-store');
    const { method } = request;
    if (method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
      response.setHeader('Access-Control-Allow-Private-Network', 'true');
      return end(response, 204, '');
    }
    if (method === 'GET' && name === 'hook.js')
      return end(response, 200, await options.hook(), 'text/javascript; charset=utf-8');
    if (method === 'GET' && name === 'trace.vfst')
      return end(response, 200, await options.receiver.bytes(), 'application/octet-stream');
    if (method === 'POST' && name === 'stream') {
      const answer = options.receiver.receive(await bodyOf(request));
      if (answer === null) return end(response, 400, "This isn't a vfscope recording.");
      return end(response, 200, answer, 'application/json');
    }
    end(response, 404, 'There is nothing here.');
  } catch (e) {
    end(response, e instanceof RangeError ? 413 : 500, (e as Error).message);
  }
}

function end(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'Content-Type': type }).end(body);
}

/** @throws RangeError if it is too long */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_POST_CHARS) throw new RangeError(`A post is at most ${MAX_POST_CHARS} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
