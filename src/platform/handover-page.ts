/**
 * The source of the handover frame. In Chromium, its address holds the token, and the service
 * worker answers: any page could probe a fixed address to detect the extension, and what Chromium
 * sends from a dynamic one (`use_dynamic_url`) lacks the header that a cross-origin isolated page
 * requires. In other browsers, addresses are random, and the frame is a file.
 */
import { api } from './extension-api.ts';

const FILE = 'handover/frame.html';
/** No file of ours is in this folder. */
const SERVED = '/handover/frame/';

/**
 * @param token from the background, for this document
 * @returns '' where no frame of ours reaches the hub: in Safari, which doesn't let a page load one,
 * and on an insecure page in Firefox, where a frame has separate shared workers
 */
export function handoverAddress(token: string): string {
  const [accessible] = api.runtime.getManifest().web_accessible_resources ?? [];
  if (typeof accessible !== 'object') return '';
  const path = accessible.resources[0]!;
  const byToken = path.includes('*'); // in Chromium
  return byToken || isSecureContext ? api.runtime.getURL(path.replace('*', token)) : '';
}

interface FetchEvent extends Event {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface InstallEvent extends Event {
  addRoutes?(routes: { condition: object; source: string }[]): Promise<void>;
}

/**
 * Answer the frames of content scripts, in a service worker. The background calls it at its start.
 * @param isOpen whether the token was issued and is still waiting for its frame
 */
export function serveHandover(isOpen: (token: string) => Promise<boolean>): void {
  if (!('skipWaiting' in globalThis)) return; // an event page, where the frame is a file
  // our other files load without the worker
  addEventListener('install', ((event: InstallEvent) => {
    const others = { not: { urlPattern: { pathname: `${SERVED}*` } } };
    event.addRoutes?.([{ condition: others, source: 'network' }]).catch((e: unknown) => {
      console.warn('vfscope: pages of the extension load through its worker:', e);
    });
  }) as (event: Event) => void);
  addEventListener('fetch', ((event: FetchEvent) => {
    const { pathname } = new URL(event.request.url);
    if (pathname.startsWith(SERVED))
      event.respondWith(pageFor(pathname.slice(SERVED.length), isOpen));
  }) as (event: Event) => void);
}

async function pageFor(
  token: string,
  isOpen: (token: string) => Promise<boolean>,
): Promise<Response> {
  if (!(await isOpen(token))) return Response.error(); // the same answer as without the extension
  const page = await fetch(api.runtime.getURL(FILE));
  const headers = new Headers(page.headers);
  headers.set('Cross-Origin-Resource-Policy', 'cross-origin');
  return new Response(page.body, { headers });
}
