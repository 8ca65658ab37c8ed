// Every way to start a thread, by name: `start.<name>()` resolves when the thread has done its part
// (see thread.js).
const answered = (worker, target = worker) =>
  new Promise((resolve, reject) => {
    target.onmessage = ({ data }) => resolve(data);
    worker.onerror = (e) => (
      e.preventDefault(),
      reject(new Error(e.message || 'the worker did not start'))
    );
    if (target.start) target.start();
  });
const heard = (label) =>
  new Promise((resolve) =>
    addEventListener('message', function on({ data }) {
      if (data?.label !== label) return;
      removeEventListener('message', on);
      resolve(data.text);
    }),
  );
const source = () => fetch('thread.js').then((r) => r.text());

function frame(label, attributes) {
  const answer = heard(`frame ${label}`);
  document.body.append(Object.assign(document.createElement('iframe'), attributes));
  return answer;
}
function sandboxed(label, tokens) {
  const answer = heard(`frame ${label}`);
  const element = document.createElement('iframe');
  element.sandbox = tokens;
  element.src = `frame.html?label=${label}&marks=200`;
  document.body.append(element);
  return answer;
}

const start = {
  classic: () => answered(new Worker('thread.js', { name: 'classic' })),
  module: () => answered(new Worker('thread.js', { name: 'module', type: 'module' })),
  async blob() {
    const url = URL.createObjectURL(new Blob([await source()], { type: 'text/javascript' }));
    const worker = new Worker(url, { name: 'blob' });
    URL.revokeObjectURL(url);
    return answered(worker);
  },
  data: async () =>
    answered(
      new Worker(`data:text/javascript,${encodeURIComponent(await source())}`, { name: 'data' }),
    ),
  nested: () => answered(new Worker('nester.js', { name: 'nested' })),
  pool: () =>
    Promise.all(
      Array.from({ length: 8 }, (_, i) => answered(new Worker('thread.js', { name: `pool ${i}` }))),
    ),
  shared: () => {
    const worker = new SharedWorker('shared.js', 'shared');
    return answered(worker, worker.port);
  },
  async service() {
    await navigator.serviceWorker.register('service.js');
    await navigator.serviceWorker.ready;
  },
  sameSite: () => frame('same-site', { src: 'frame.html?label=same-site' }),
  crossSite: (origin) =>
    frame('cross-site', {
      src: new URL('frame.html?label=cross-site', origin + location.pathname).href,
    }),
  srcdoc: () =>
    frame('srcdoc', {
      srcdoc: `<script>self.threadLabel = 'frame srcdoc'</script><script src="thread.js"></script>`,
    }),
  async blank() {
    const answer = heard('frame blank');
    const element = document.createElement('iframe');
    document.body.append(element);
    const realm = element.contentWindow; // the parent's script runs the empty frame
    realm.threadLabel = 'frame blank';
    realm.eval(await source());
    return answer;
  },
  sandboxed: () => sandboxed('sandboxed', 'allow-scripts'),
};
