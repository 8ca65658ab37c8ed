// Recorded calls, and messages with their number. Its creator terminates it when the last one,
// `done`, arrives.
performance.mark(`own ${self.name}`);
const words = new Int32Array(2);
let made = 0;
const call = (n) => {
  for (let i = 0; i < n; i++) Atomics.notify(words, 0);
  made += n;
};
const spin = (ms) => {
  for (const from = performance.now(); performance.now() - from < ms;);
};
/** Forwards its messages. */
const inner = () =>
  new Worker(
    URL.createObjectURL(
      new Blob([`onmessage = ({ data }) => new BroadcastChannel('replies').postMessage(data)`], {
        type: 'text/javascript',
      }),
    ),
  );
const doors = {
  throw() {
    throw new Error('the last word');
  },
  report: () => reportError(new Error('the last word')),
  self: (message) => self.postMessage(message),
  channel: (message) => new BroadcastChannel('replies').postMessage(message),
};

const WORK = {
  burst: (say, n) => (call(n), say(true)),
  slowly(say, n) {
    for (let i = 0; i < n; i += 10) {
      call(10);
      spin(1);
    }
    say(true);
  },
  async pauses(say, n) {
    for (let i = 0; i < n; i++) {
      call(1);
      await new Promise((done) => setTimeout(done, 1));
    }
    say(true);
  },
  /** One call for each message. */
  chatty(say, n) {
    for (let i = 1; i <= n; i++) {
      call(1);
      say(i === n);
    }
  },
  /**
   * Continues with at most one write a millisecond, each of which stores the number of calls in a
   * file.
   */
  async written(say) {
    const root = await navigator.storage.getDirectory();
    const file = await root.getFileHandle(self.name, { create: true });
    const handle = await file.createSyncAccessHandle();
    say(true);
    const count = new Uint32Array(1);
    for (;;) {
      count[0]++;
      handle.write(count, { at: 0 });
      spin(1);
    }
  },
  /** Continues after its last message. */
  cancelled(say, n) {
    call(n);
    say(true);
    for (;;) {
      call(1);
      spin(1);
    }
  },
};

self.onmessage = ({ data: { work, n, door }, ports: [port] }) => {
  const other = door === 'port' ? port : door === 'worker' ? inner() : null;
  const post = other ? (message) => other.postMessage(message) : doors[door];
  WORK[work]((done) => post({ made, done }), n);
};
