// A module worker reports what it sees.
postMessage({
  meta: [import.meta.url, Object.keys(import.meta).sort()],
  location: [location.href, String(location)],
  relative: new URL('x', import.meta.url).href,
  resolved: import.meta.resolve('./x.js'),
  fetched: await fetch('../sub/data.json').then((r) => r.url),
  this: typeof this,
});
