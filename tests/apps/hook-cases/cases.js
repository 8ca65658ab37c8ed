// The cases: each returns what the app can see of it, as JSON. `runCases()` runs them all.
const here = new URL('.', location.href).href;
const tidy = (text) =>
  String(text)
    .replaceAll(here, '<here>/')
    .replace(/blob:\S*?[0-9a-f-]{36}/g, '<blob>');

/** Collects a worker's messages until it is done, fails, or sends nothing for a while. */
function listen(worker, target = worker) {
  const seen = [];
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve([...seen, 'silence']), 4000);
    const finish = () => (clearTimeout(timer), resolve(seen));
    target.addEventListener('message', (e) => {
      seen.push([
        'message',
        JSON.parse(tidy(JSON.stringify(e.data))),
        e.ports.length,
        e.constructor.name,
      ]);
      if (e.data?.done) finish();
    });
    target.addEventListener('error', (e) => {
      e.preventDefault();
      const place = e.message === undefined ? [] : [e.message, tidy(e.filename), e.lineno];
      seen.push(['error', e.constructor.name, e.type, e.cancelable, ...place]);
      finish();
    });
    target.addEventListener('messageerror', () => seen.push(['messageerror']));
  });
}
function talk(worker) {
  const answer = listen(worker);
  worker.postMessage('first');
  const buffer = new ArrayBuffer(5);
  worker.postMessage(buffer, [buffer]);
  worker.postMessage('last', { transfer: [new MessageChannel().port1] });
  return answer.then((seen) => [buffer.byteLength, ...seen]);
}
/** The running case, which names its workers. */
let running = '';
const says = (text, revoke, options) => {
  const url = URL.createObjectURL(
    new Blob(Array.isArray(text) ? text : [text], { type: 'text/javascript' }),
  );
  const worker = new Worker(url, { name: running, ...options });
  if (revoke) URL.revokeObjectURL(url);
  return worker;
};
const caught = (run) => {
  try {
    return run();
  } catch (e) {
    return [e.name, tidy(e.message)];
  }
};
const BLOB_ECHO =
  "performance.mark('case'); self.onmessage = e => self.postMessage({ echo: e.data instanceof ArrayBuffer ? 0 : e.data, done: e.data === 'last' });";
const THIS =
  "performance.mark('case'); self.postMessage({ strict: (function () { return this === undefined })(), done: true });";

/** name -> what happens. The test counts `mark`s in the workers if a worker is recorded. */
const CASES = {
  classic: () => talk(new Worker('echo.js')),
  'classic by URL object, named': () =>
    talk(new Worker(new URL('echo.js?x=1', location.href), { name: 'n' })),
  module: () => talk(new Worker('echo-module.js', { type: 'module' })),
  'top-level await': async () => {
    const worker = new Worker('await-module.js', { type: 'module' });
    worker.postMessage('at once'); // lost, also natively
    const answer = listen(worker);
    await listenOnce(worker);
    worker.postMessage('last');
    return (await answer).filter(([, data]) => data?.echo !== 'at once'); // or not
  },
  'rejections that the app could watch being read': async () => {
    const ran = [];
    class Watched extends Error {
      get name() {
        return ran.push('name');
      }
      get message() {
        return ran.push('message');
      }
    }
    const traps = Object.fromEntries(
      ['get', 'getPrototypeOf', 'getOwnPropertyDescriptor'].map((trap) => [
        trap,
        (...args) => ran.push(trap) && Reflect[trap](...args),
      ]),
    );
    for (const reason of [new Watched(), new Proxy(new Error('a'), traps)]) {
      const heard = new Promise((resolve) =>
        addEventListener('unhandledrejection', resolve, { once: true }),
      );
      void Promise.reject(reason);
      (await heard).preventDefault();
    }
    return ran;
  },
  'blob classic, revoked': () => talk(says(BLOB_ECHO, true)),
  'blob classic, kept': () => talk(says(BLOB_ECHO, false)),
  'blob module, revoked': () => talk(says(BLOB_ECHO, true, { type: 'module' })),
  'blob module without a type': () =>
    listen(new Worker(URL.createObjectURL(new Blob([BLOB_ECHO])), { type: 'module' })),
  'blob strict': () => listen(says(["// a comment\n'use strict';\n", THIS], true)),
  'blob sloppy': () => listen(says(THIS, true)),
  'blob throws': () => listen(says("performance.mark('case');\n\nnull.property", true)),
  'data: URL': () => listen(new Worker(`data:text/javascript,${encodeURIComponent(THIS)}`)),
  'blob strict behind comments': () =>
    listen(says([`${'/* a */'.repeat(40)}/* b`, " */ // c\n'use ", "strict';\n", THIS], true)),
  'blob sloppy behind comments': () =>
    listen(says([`${'/* a */'.repeat(40)} 0; /* b */ 'use strict';\n`, THIS], true)),
  'blob strict behind another directive': () =>
    listen(says(["'use client';\n'use strict'\n", THIS], true)),
  'blob that only names a directive': () => listen(says(["'use strict'.length;\n", THIS], true)),
  'blob strict behind 64 KiB': () =>
    listen(says([' '.repeat(65536), "'use strict';\n", THIS], true)),
  'blob sloppy behind 64 KiB': () =>
    listen(says([`${' '.repeat(65536)}var a;`, "'use strict';\n", THIS], true)),
  'blob strict, then bytes': () =>
    listen(says(["'use strict'", new TextEncoder().encode(`;${THIS}`)], true)),
  'blob with a first line of its own': () =>
    listen(says(["#!/usr/bin/env node\n'use strict';\n", THIS], true)),
  'blob strict behind a BOM': () => listen(says(["\uFEFF'use strict';", THIS], true)),
  'blob sloppy behind a BOM': () => listen(says(["\uFEFF'use stricter';", THIS], true)),
  'blob sloppy behind a directive and a statement': () =>
    listen(says(["'use client';\n0;\n'use strict';\n", THIS], true)),
  'blob strict, of bytes': () =>
    listen(
      says([new TextEncoder().encode(`\uFEFF${' '.repeat(100)}"use strict";${THIS}`).buffer], true),
    ),
  'blob strict, of Blobs': () =>
    listen(
      says([new Blob([' // c\n']), new File(["'use strict';"], 'x.js'), new Blob([THIS])], true),
    ),
  'blob strict, of a response': async () =>
    listen(says([await (await fetch('strict.js')).blob()], true)),
  'blob that is a response': async () => {
    const url = URL.createObjectURL(await (await fetch('strict.js')).blob());
    const worker = new Worker(url, { name: running });
    URL.revokeObjectURL(url);
    return listen(worker);
  },
  'blob that is a slice and throws': async () => {
    const whole = new Blob(['     "use strict";\n\n undeclared = 1;'], { type: 'text/plain' });
    return listen(new Worker(URL.createObjectURL(whole.slice(5))));
  },
  'shape of Blob': () => [
    Blob.name,
    Blob.length,
    new Blob() instanceof Blob,
    new File([], 'f') instanceof Blob,
    Object.getPrototypeOf(File) === Blob,
    new Blob(['a']).constructor === Blob,
    class extends Blob {}.name,
    caught(() => Blob()),
    caught(() => new Blob(5)),
    caught(() => new File()),
  ],
  nested: () => talk(new Worker('nested.js')),
  subclass: () => {
    class Mine extends Worker {
      own = 1;
    }
    const worker = new Mine('echo.js');
    return talk(worker).then((seen) => [
      worker instanceof Mine,
      worker instanceof Worker,
      worker.constructor === Mine,
      worker.own,
      ...seen,
    ]);
  },
  'script of another type': () =>
    Promise.all(
      [
        'text/plain',
        'application/octet-stream',
        '',
        'text/html',
        'application/json',
        'image/png',
      ].map((type) => talk(new Worker(`echo.js?type=${encodeURIComponent(type)}`))),
    ),
  'module of another type': () =>
    talk(new Worker('echo-module.js?type=text%2Fplain', { type: 'module' })),
  'strict script of another type': () => listen(new Worker('strict.js?type=text%2Fplain')),
  'redirect to the same origin': () =>
    talk(new Worker(`echo.js?to=${encodeURIComponent('/echo.js?redirected')}`)),
  'redirect to another origin that has no script': () =>
    talk(
      new Worker(
        `echo.js?to=${encodeURIComponent(`${location.origin.replace('localhost', '127.0.0.1')}/index.html`)}`,
      ),
    ),
  'missing script': () => listen(new Worker('missing.js')),
  'missing module': () => listen(new Worker('missing.js', { type: 'module' })),
  'throws at load': () => listen(new Worker('throws.js')),
  'throws at load and handles it': () => talk(new Worker('handled.js')),
  'an iterator of what cannot be transferred': async () => {
    const worker = new Worker('echo.js');
    const error = caught(() =>
      worker.postMessage(
        'never',
        (function* () {
          yield {};
        })(),
      ),
    );
    return [error, ...(await talk(worker))];
  },
  'module that throws': () => listen(new Worker('throws-module.js', { type: 'module' })),
  'module that does not link': () => listen(new Worker('unlinked-module.js', { type: 'module' })),
  'syntax error': () => listen(new Worker('unlinked-module.js')),
  'syntax error, with a fragment': () => listen(new Worker('unlinked-module.js#part')),
  'throws at load, with a fragment': () => listen(new Worker('throws.js#part')),
  referrers: () => listen(new Worker('referrers.js?q=1')),
  'referrers of a module': () => listen(new Worker('referrers.js?module', { type: 'module' })),
  'URLs that are objects': () => listen(new Worker('objects.js?q=1')),
  'relative URLs': () => listen(new Worker('relative.js?q=1', { name: 'relative' })),
  'compiles wasm': () => listen(new Worker('wasm.js')),
  'closes itself': () => listen(new Worker('closes.js')),
  terminated: async () => {
    const worker = new Worker('echo.js');
    worker.postMessage('first');
    await listenOnce(worker);
    const after = [];
    worker.addEventListener('message', (e) => after.push(e.data));
    worker.terminate();
    worker.postMessage('last');
    await talk(new Worker('echo.js')); // as long as another worker needs for the same
    return after;
  },
  'terminated at once': async () => {
    const worker = new Worker('echo.js');
    const after = [];
    worker.addEventListener('message', (e) => after.push(e.data));
    worker.postMessage('first');
    worker.terminate();
    await talk(new Worker('echo.js'));
    return after;
  },
  'bad URL': () => caught(() => new Worker('http://[bad')),
  'foreign origin': () => caught(() => new Worker('https://foreign.invalid/x.js')),
  'no argument': () => caught(() => new Worker()),
  'no new': () => caught(() => Worker('echo.js')),
  'message that cannot be cloned': () => {
    const worker = new Worker('echo.js');
    const result = caught(() => worker.postMessage(() => 1));
    return talk(worker).then((seen) => [result, ...seen]);
  },
  'calls without arguments': () => {
    const worker = new Worker('echo.js');
    const calls = [
      [],
      ['x', 5],
      ['x', { transfer: 5 }],
      ['x', [5]],
      ['x', [new ArrayBuffer(1), null]],
      ['ok', null],
      ['ok', {}],
    ];
    const answers = calls.map((args) => caught(() => worker.postMessage(...args)));
    answers.push(
      caught(() => Worker.prototype.postMessage.call({}, 1)),
      caught(() => Worker.prototype.terminate.call({})),
    );
    const buffer = new ArrayBuffer(4);
    worker.postMessage(buffer, new Set([buffer]));
    return talk(worker).then((seen) => [answers, buffer.byteLength, ...seen]);
  },
  'message that can be cloned once': () => {
    if (typeof RTCPeerConnection !== 'function') return 'none here';
    const worker = new Worker('echo.js');
    worker.postMessage('before');
    const channel = new RTCPeerConnection().createDataChannel('x');
    const result = caught(() => worker.postMessage(channel, [channel]));
    return talk(worker).then((seen) => [result, ...seen]);
  },
  'Worker of a removed frame': async () => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    const { Worker: Theirs } = frame.contentWindow;
    const before = await talk(new Theirs('echo.js?frame'));
    const theirs = frame.contentWindow;
    frame.remove();
    const after = (run) => caught(() => (run(), 'made'));
    return [
      before,
      after(() => new Theirs('echo.js?removed')),
      after(() => new theirs.Worker('echo.js?removed')),
      typeof theirs.Worker,
    ];
  },
  'shape of Worker': () => [
    Worker.name,
    Worker.length,
    Worker.prototype.constructor === Worker,
    Object.keys(Object.getOwnPropertyDescriptor(globalThis, 'Worker')).join(),
    Object.getOwnPropertyNames(Worker).join(),
    Object.getOwnPropertyNames(Worker.prototype).join(),
    Worker.prototype.postMessage.name,
    Worker.prototype.postMessage.length,
    /native code/.test(String(Worker.prototype.postMessage)), // a Proxy's text only lacks the name
    Object.keys(new Worker('echo.js')).length,
  ],
  'Trusted Types URL': () => {
    const policy = trustedTypes.createPolicy('cases', { createScriptURL: (url) => url });
    return talk(new Worker(policy.createScriptURL('echo.js?trusted')));
  },
  SharedWorker: async () => {
    const first = new SharedWorker('shared.js', 'one');
    const a = listen(first, first.port);
    first.port.start();
    const seen = [await a];
    const second = new SharedWorker('shared.js', 'one');
    const b = listen(second, second.port);
    second.port.start();
    return [...seen, await b];
  },
};
const listenOnce = (target) =>
  new Promise((resolve) => target.addEventListener('message', resolve, { once: true }));

/** Events that the window's own listeners received. */
const seenByWindow = [];
addEventListener('message', (e) => seenByWindow.push(['message', tidy(JSON.stringify(e.data))]));
addEventListener('securitypolicyviolation', (e) =>
  seenByWindow.push(['violation', e.effectiveDirective, tidy(e.blockedURI)]),
);

async function runCases(only = Object.keys(CASES)) {
  const results = {};
  for (const name of only) {
    running = name;
    try {
      results[name] = await CASES[name]();
    } catch (e) {
      results[name] = ['threw', e.name, tidy(e.message)];
    }
  }
  return { results, seenByWindow };
}
