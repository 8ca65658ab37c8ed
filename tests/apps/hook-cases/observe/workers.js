// What a worker can see of itself, and its creator can see of it.
const text = (value) =>
  String(value)
    .replaceAll(location.origin, '<origin>')
    .replace(/blob:\S*?[0-9a-f-]{36}/g, '<blob>')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>');

async function workers(put) {
  const ask = (worker) =>
    new Promise((done) => {
      worker.onmessage = ({ data }) => done(data);
      worker.onerror = (e) => (
        e.preventDefault(),
        done({
          error: [
            text(e.message),
            text(e.filename),
            e.lineno,
            e.colno,
            e.cancelable,
            e instanceof ErrorEvent,
          ],
        })
      );
    });
  const about = async (name, make, answered = ask) => {
    for (const [what, value] of Object.entries(await answered(make())))
      put(
        `${/^[a-z]+-/.test(what) ? what : `worker/${what}`}/${name}`,
        JSON.parse(text(JSON.stringify(value))),
      );
  };
  await about('classic', () => new Worker('self.js?q=1#h', { name: 'named' }));
  await about('module', () => new Worker('self-module.js', { type: 'module' }));
  const source = await (await fetch('self.js')).text();
  await about('blob', () => new Worker(URL.createObjectURL(new Blob([source]))));
  await about('missing', () => new Worker('missing.js'));
  await about('throws', () => new Worker('../throws.js'));
  await about(
    'throws in a blob',
    () =>
      new Worker(URL.createObjectURL(new Blob([' /* first line */ throw new RangeError("mine")']))),
  );
  await about('syntax', () => new Worker(URL.createObjectURL(new Blob(['\n  let 1']))));
  const askShared = (worker) =>
    new Promise((done) => {
      worker.port.onmessage = ({ data }) => done(data);
      worker.onerror = (e) => done({ error: [e.type, e.constructor.name, e.target === worker] });
    });
  await about('shared', () => new SharedWorker('self.js?q=2#h', { name: 'named' }), askShared);
  await about('shared missing', () => new SharedWorker('missing.js', 'none'), askShared);
  const shared = new SharedWorker('../shared.js', 'shape');
  put('shared-worker-facade/own', Object.getOwnPropertyNames(shared));
  put('shared-worker/shape', [
    shared instanceof SharedWorker,
    shared.port instanceof MessagePort,
    shared.onerror,
    shared.constructor === SharedWorker,
    String(shared),
  ]);
  put(
    'worker-resources/of the page',
    performance
      .getEntriesByType('resource')
      .map((e) => `${text(e.name)} ${e.initiatorType}`)
      .filter((line) => /blob|self/.test(line))
      .sort(),
  );
}
