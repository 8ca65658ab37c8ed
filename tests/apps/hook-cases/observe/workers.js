// What a worker can see of itself, and its creator of it.
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
  const about = async (name, make) => {
    for (const [what, value] of Object.entries(await ask(make())))
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
  put(
    'worker-resources/of the page',
    performance
      .getEntriesByType('resource')
      .map((e) => `${text(e.name)} ${e.initiatorType}`)
      .filter((line) => /blob|self/.test(line))
      .sort(),
  );
}
