/**
 * Workers whose script includes the hook: one that never reports is noted, even if it ends early.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let notes: string[];
let heard: unknown[];
beforeEach(() => {
  notes = [];
  heard = [];
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  for (const name of ['vfscopeEnvironment', 'VFSCOPE_WORKERS_FILTERED', 'VFSCOPE_NATIVES_HOOKED'])
    vi.stubGlobal(name, name === 'vfscopeEnvironment' ? { role: 'page' } : true); // from the build
  vi.resetModules(); // the hook stores the platform's functions when it loads
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function followed(...scripts: string[]): Promise<{
  workers: Worker[];
  filtered: InstanceType<typeof import('../../src/hooks/filtered-workers.ts').FilteredWorkers>;
}> {
  const { FilteredWorkers } = await import('../../src/hooks/filtered-workers.ts');
  const filtered = new FilteredWorkers({
    id: 'page',
    onChild: () => undefined,
    onMessage: (message) => heard.push(message),
    onTerminated: () => undefined,
    onReady: () => undefined,
    note: (_, script) => notes.push(String(script)),
    requests: () => undefined,
  });
  const workers = scripts.map((script) => {
    const worker = new EventTarget() as Worker;
    filtered.follow(worker, script);
    return worker;
  });
  return { workers, filtered };
}

test('one that is terminated before it reports is noted, unless it has hardly begun', async () => {
  const { workers, filtered } = await followed('soon.js', 'late.js');
  filtered.terminated(workers[0]!);
  await vi.advanceTimersByTimeAsync(1000);
  filtered.terminated(workers[1]!);
  expect(notes).toEqual(['late.js']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(notes).toEqual(['late.js']);
});

test('those that are silent when the recording stops are noted, once', async () => {
  const { filtered } = await followed('a.js', 'b.js');
  await vi.advanceTimersByTimeAsync(1000);
  filtered.judge(null);
  expect(notes).toEqual(['a.js', 'b.js']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(notes).toHaveLength(2);
});

test('one that stays silent is noted after a while', async () => {
  await followed('a.js');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(notes).toEqual(['a.js']);
});

test('what a new worker sends before its port works is forwarded, but not to the app', async () => {
  const { workers } = await followed('a.js');
  const app = vi.fn();
  workers[0]!.addEventListener('message', app);
  const said = (message: object): Event => {
    const event = new MessageEvent('message', {
      data: { mark: 'vfscope', k: 'said', id: 'w', message },
    });
    Object.defineProperty(event, 'isTrusted', { value: true });
    return event;
  };
  const thread = { id: 'w', kind: 'worker', url: 'a.js', name: '', parent: null };
  workers[0]!.dispatchEvent(said({ k: 'hello', protocol: 1, thread, timeOrigin: 0 }));
  workers[0]!.dispatchEvent(said({ k: 'bye', thread: 'w', reason: 'closed' }));
  workers[0]!.dispatchEvent(said({ k: 'nothing of ours' }));
  expect(heard).toMatchObject([
    { message: { k: 'hello', thread: { id: 'w', parent: 'page' } } },
    { message: { k: 'bye' } },
  ]);
  expect(app).toHaveBeenCalledTimes(1);
});
