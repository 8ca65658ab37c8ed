/** The page's side of the Lab's worker, where workers are ports of this thread. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Bench, Canceled } from '../../src/lab/page/bench.ts';
import type { Run } from '../../src/lab/experiments/model/types.ts';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import { serve, type Channel } from '../../src/protocol/rpc.ts';

const RUN: Run = {
  workload: 'bulk-insert',
  parameters: {},
  config: DEFAULT_CONFIG,
  mode: 'count',
  repeats: 1,
  seed: 1,
  readRows: false,
};
const TAKEN = { sample: { steps: [] }, environment: {}, left: [] };
const FACTS = { facts: { calls: 3 }, warnings: [] };

/** Methods of the next worker, which get a function to push messages. */
let methodsOf: (push: (message: unknown) => void) => object;
let workers: FakeWorker[] = [];

class FakeWorker {
  private readonly channel = new MessageChannel();
  onerror: ((event: { message: string }) => void) | null = null;
  ended = false;
  constructor(
    readonly url: string,
    readonly options: { name: string },
  ) {
    const { port1, port2 } = this.channel;
    port1.start();
    port2.start();
    const methods = methodsOf((message) => push(message));
    const push = serve(port2 as unknown as Channel, methods);
    workers.push(this);
  }
  postMessage(message: unknown, transfer: Transferable[] = []): void {
    this.channel.port1.postMessage(message, transfer as never);
  }
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void {
    this.channel.port1.addEventListener(type, listener as never);
  }
  terminate(): void {
    this.ended = true;
    this.channel.port1.close();
  }
}

beforeEach(() => {
  workers = [];
  vi.stubGlobal('Worker', FakeWorker);
  vi.stubGlobal('navigator', {});
});
afterEach(() => void vi.unstubAllGlobals());

const bench = (patienceMs = 5000): Bench =>
  new Bench({ workerUrl: 'lab-worker.js', keeperUrl: 'keeper-worker.js', patienceMs });
const never = (): Promise<never> => new Promise(() => {});

test('samples come from one worker, one after another', async () => {
  const asked: Run[] = [];
  methodsOf = () => ({ sample: (run: Run) => (asked.push(run), TAKEN), look: () => FACTS });
  const own = bench();
  expect(await own.sample(RUN)).toEqual(TAKEN);
  expect(await own.look(new Blob(['x']))).toEqual(FACTS);
  expect(asked).toEqual([RUN]);
  expect(workers.map(({ url, options }) => [url, options.name])).toEqual([
    ['lab-worker.js', 'vfscope lab'],
  ]);
});

test('a second request during a run is rejected', async () => {
  methodsOf = () => ({ sample: never });
  const own = bench();
  const first = own.sample(RUN);
  await expect(own.sample(RUN)).rejects.toThrow('The Lab is busy with another run.');
  await own.cancel();
  await expect(first).rejects.toBeInstanceOf(Canceled);
});

test('a failure has its message, and the worker continues', async () => {
  methodsOf = () => ({ sample: () => Promise.reject(new Error('no room')), look: () => FACTS });
  const own = bench();
  await expect(own.sample(RUN)).rejects.toThrow('no room');
  expect(await own.look(new Blob())).toEqual(FACTS);
  expect(workers).toHaveLength(1);
});

test('a worker that hangs is terminated, and the next request gets a new one', async () => {
  methodsOf = () => ({ sample: never });
  const own = bench(20);
  await expect(own.sample(RUN)).rejects.toThrow('It did not finish within 0 s and was ended');
  expect(workers[0]!.ended).toBe(true);
  methodsOf = () => ({ sample: () => TAKEN });
  expect(await own.sample(RUN)).toEqual(TAKEN);
  expect(workers).toHaveLength(2);
});

test('a script that fails is reported, and the next request gets a new worker', async () => {
  methodsOf = () => ({ sample: never });
  const own = bench();
  const first = own.sample(RUN);
  workers[0]!.onerror!({ message: '' });
  await expect(first).rejects.toThrow("The Lab's worker failed: its script could not be loaded");
  methodsOf = () => ({ sample: () => TAKEN });
  expect(await own.sample(RUN)).toEqual(TAKEN);
});

test("progress of a replay is reported, and a replay that makes progress isn't terminated", async () => {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  methodsOf = (push) => ({
    async replay() {
      for (let done = 1; done <= 4; done++) {
        await pause(60);
        push({ stage: 'replay', done, all: 4 });
      }
      return { report: {}, trace: new Blob(), left: [] };
    },
  });
  const seen: number[] = [];
  await bench(150).replay(new Blob(), DEFAULT_CONFIG, ({ done }) => void seen.push(done));
  expect(seen).toEqual([1, 2, 3, 4]);
  expect(workers[0]!.ended).toBe(true);
});

test('a trace comes from the keeper through a port that the run received', async () => {
  const file = new Blob(['trace']);
  methodsOf = () => ({
    trace: (port: MessagePort) => port.postMessage('bye'),
    sample: () => TAKEN,
    keep: (port: MessagePort) =>
      new Promise((resolve) => {
        port.onmessage = () => (port.close(), resolve(file));
      }),
  });
  expect(await (await bench().traced(RUN)).text()).toBe('trace');
  expect(workers.map(({ url, ended }) => [url, ended])).toEqual([
    ['keeper-worker.js', true],
    ['lab-worker.js', true],
  ]);
});
