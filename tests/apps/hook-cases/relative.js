// Everything that resolves a relative URL.
performance.mark('case');
importScripts('sub/inner.js', './sub/inner.js');
const xhr = new XMLHttpRequest();
xhr.open('GET', 'sub/data.json', false);
xhr.send();
(async () => {
  const cache = await caches.open('hook-cases');
  await cache.add('sub/data.json');
  self.postMessage({
    inner: self.inner,
    innerLoads: self.innerLoads,
    location: `${self.location}`,
    parts: [
      location.pathname,
      location.search,
      location.origin === self.origin,
      location instanceof WorkerLocation,
    ],
    fetched: await (await fetch('sub/data.json')).json(),
    request: new Request('sub/data.json').url,
    fetchedRequest: await (await fetch(new Request('./sub/data.json'))).json(),
    xhr: xhr.responseText.trim(),
    responseUrl: xhr.responseURL,
    cached: await (await cache.match('sub/data.json')).json(),
    deleted: await cache.delete('sub/data.json'),
    added: [
      await cache.addAll(new Set(['sub/data.json?added'])),
      (await cache.keys()).map(({ url }) => url),
      await cache.delete('sub/data.json?added'),
    ],
    notTexts: [new Request(5).url, new Request(null).url, (await fetch(undefined)).url],
    name: self.name,
    fetchName: [fetch.name, fetch.length, importScripts.name],
    badImport: (() => {
      try {
        importScripts('http://[bad');
      } catch (e) {
        return `${e.name}: ${e.message}`;
      }
    })(),
    badFetch: await fetch('http://[bad').catch((e) => `${e.name}: ${e.message}`),
    done: true,
  });
})();
