// Scripts from URL objects: an import, and the worker's own worker.
performance.mark('case');
const policy = self.trustedTypes?.createPolicy('objects', { createScriptURL: (url) => url });
const trusted = (url) => policy?.createScriptURL(url) ?? url;
const attempt = (run) => {
  try {
    return run() ?? 'ran';
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
};
const answerOf = (url, options) =>
  new Promise((done) => {
    const worker = new Worker(url, options);
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = (e) => (e.preventDefault(), done('error'));
    worker.postMessage('last');
  });
(async () => {
  const seen = {
    imported: [
      attempt(() => importScripts(new URL('sub/inner.js', location.href))),
      attempt(() => importScripts(trusted('sub/inner.js'))),
      attempt(() => importScripts({ toString: () => 'sub/inner.js' }, './sub/inner.js')),
    ],
    innerLoads: self.innerLoads,
    nested: [
      await answerOf(new URL('echo.js?object', location.href)),
      await answerOf(trusted('echo.js?trusted-inside')),
      await answerOf({ toString: () => 'echo-module.js?text' }, { type: 'module' }),
    ],
  };
  self.postMessage({ ...seen, done: true });
})();
