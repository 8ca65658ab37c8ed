/**
 * Caches the page's own files, so that it opens offline. Online, files come from the network, so
 * that they are up to date.
 */
interface ServiceWorker {
  location: Location;
  addEventListener(
    type: 'install',
    listener: (event: { waitUntil(done: Promise<unknown>): void }) => void,
  ): void;
  addEventListener(
    type: 'fetch',
    listener: (event: { request: Request; respondWith(answer: Promise<Response>): void }) => void,
  ): void;
}
const worker = self as unknown as ServiceWorker;
const CACHE = 'vfscope-viewer';
const FILES = [
  './',
  'viewer.js',
  'store-worker.js',
  'wa-sqlite.wasm',
  'journeyapps-wa-sqlite.wasm',
  'example.vfst',
  'icon-32.png',
];

worker.addEventListener('install', (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
});

/** For files by their path alone: `?url=` names a trace, which we must not cache. */
const own = new Set(FILES.map((file) => new URL(file, worker.location.href).href));

worker.addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  const file = url.replace(/[?#].*/s, '');
  if (method !== 'GET' || !own.has(file)) return;
  event.respondWith(
    fetch(event.request).then(
      async (answer) => {
        if (answer.ok) await (await caches.open(CACHE)).put(file, answer.clone());
        return answer;
      },
      async () => (await caches.match(file)) ?? Response.error(),
    ),
  );
});
