// A classic worker, dedicated or shared, reports what it sees.
const connected =
  'SharedWorkerGlobalScope' in self && new Promise((done) => addEventListener('connect', done));
(async () => {
  const names = [];
  for (const key in location) names.push(key);
  const seen = {
    location: [
      location.href,
      location.origin,
      location.pathname,
      location.search,
      location.hash,
      String(location),
      Object.prototype.toString.call(location),
    ],
    'location shape': [
      Object.keys(location),
      names.sort(),
      location === self.location,
      Object.getPrototypeOf(location) === WorkerLocation.prototype,
      location instanceof WorkerLocation,
    ],
    'location getter': [
      Object.getOwnPropertyDescriptor(WorkerLocation.prototype, 'href').get.name,
      Object.hasOwn(self, 'location'),
    ],
    scope: [
      self.name,
      self.origin,
      self.isSecureContext,
      self.crossOriginIsolated,
      typeof SharedArrayBuffer,
      self.constructor.name,
    ],
    names: Object.getOwnPropertyNames(self).sort(),
    onmessage: [self.onmessage, self.onerror],
    'sign-symbol': Object.getOwnPropertySymbols(self).map(String),
    'function-text': [String(IDBObjectStore.prototype.put), String(importScripts), String(fetch)],
    'worker-stack': new Error('here').stack.split('\n').slice(0, 2),
    'worker-resources': performance.getEntriesByType('resource').map((e) => e.name),
    'worker-time': performance.getEntriesByType('navigation').length,
  };
  const fail = (run) => {
    try {
      return run();
    } catch (e) {
      return [e.name, e.message];
    }
  };
  seen['illegal getter'] = fail(() =>
    Object.getOwnPropertyDescriptor(WorkerLocation.prototype, 'href').get.call({}),
  );
  seen['missing import'] = fail(() => importScripts('missing.js'));
  if (location.protocol !== 'blob:') {
    seen.fetch = await fetch('../sub/data.json').then(async (r) => [
      r.url,
      r.status,
      await r.json(),
    ]);
    seen.request = new Request('x').url;
    seen.import = await import('../sub/inner-module.js').then(
      (m) => Object.keys(m),
      (e) => [e.name, e.message],
    );
    const xhr = new XMLHttpRequest();
    xhr.open('GET', '../sub/data.json', false);
    xhr.send();
    seen.xhr = [xhr.status, xhr.responseURL];
    if (self.Worker)
      seen.nested = await new Promise((done) => {
        const w = new Worker('../echo.js');
        w.onmessage = ({ data }) => done(data);
        w.postMessage('last');
      });
  }
  if (!connected) return postMessage(seen);
  const e = await connected;
  const [port] = e.ports;
  seen.connect = [e.type, e.data, e.origin, e.lastEventId, e.ports.length, e.source === port];
  seen.connected = [e.target === self, e.constructor.name, e.bubbles, e.cancelable];
  seen['shared-worker-facade'] = e.isTrusted;
  port.postMessage(seen);
})();
