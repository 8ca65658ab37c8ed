// A large file in the viewer: a separate worker unpacks its chunks, and ends once the events are
// loaded.
import { expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { id, ViewerPage } from './viewer-page.ts';

const trace = syntheticStore({ events: 520_000, clockStepUs: 5 });
const events = trace.eventCount;
const viewer = new ViewerPage(async () => ({
  'large.vfst': Buffer.from(await (await saveTrace(trace)).arrayBuffer()),
}));

/** Workers that the store's worker starts. */
interface Helpers {
  started: string[];
  ended: number;
  /** For the last worker: resolves when it has reported that it is ready. */
  ready: Promise<unknown>;
}
type Watched = typeof globalThis & { helpers: Helpers };

it("is unpacked by a worker next to the store's", async () => {
  await viewer.open('');
  const store = viewer.page.workers().find((worker) => worker.url().includes('store-worker'))!;
  // with two processors, only for larger files
  await store.evaluate(() =>
    Object.defineProperty(navigator, 'hardwareConcurrency', { get: () => 4 }),
  );
  await viewer.page.evaluate(() => {
    const helpers: Helpers = {
      started: [],
      ended: 0,
      ready: Promise.reject(new Error('none was started')),
    };
    helpers.ready.catch(() => undefined);
    (globalThis as Watched).helpers = helpers;
    const Plain = Worker;
    globalThis.Worker = class extends Plain {
      constructor(
        private readonly script: string | URL,
        private readonly options: WorkerOptions = {},
      ) {
        super(script, options);
        helpers.started.push(options.name ?? '');
      }
      override terminate(): void {
        helpers.ended++;
        super.terminate();
        // it may have started too late for this file, so another one shows whether it starts at all
        const { port1, port2 } = new MessageChannel();
        new Plain(this.script, this.options).postMessage({ port: port2 }, [port2]);
        helpers.ready = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
      }
    };
  });
  await viewer.page.evaluate(async () => {
    await window.panel.viewer.open(await (await fetch('/traces/large.vfst')).blob(), 'large.vfst');
  });
  await viewer.page.waitForSelector(`${id('timeline')}[data-frame]`);
  const { started, ended } = await viewer.page.evaluate(() => (globalThis as Watched).helpers);
  expect({ started, ended }).toEqual({ started: ['vfscope unpacker'], ended: 1 });
  expect(await viewer.page.evaluate(() => (globalThis as Watched).helpers.ready)).toEqual({
    push: 'ready',
  });
  await viewer.page.$eval(id('tab-events'), (e) => (e as HTMLElement).click());
  await viewer.page.waitForFunction(
    (selector, count) => document.querySelector(selector)?.textContent?.startsWith(count),
    {},
    id('event-count'),
    events.toLocaleString('en-US'),
  );
});
