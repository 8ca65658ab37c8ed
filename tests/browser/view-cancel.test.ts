// A waiting view shows what is computed and the progress, and can be canceled: the work ends, and
// other requests aren't affected. The test controls the worker's pauses, so that nothing depends on
// its speed.
import { describe, expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { id, ViewerPage } from './viewer-page.ts';
import { statementTable } from '../traces/analyses.ts';

const trace = syntheticStore({ events: 150_000, clockStepUs: 5 });
const viewer = new ViewerPage(async () => ({
  'large.vfst': Buffer.from(await (await saveTrace(trace)).arrayBuffer()),
}));

/** Pauses of the store's worker: how many may pass, how many have passed, and the waiting ones. */
interface Gate {
  left: number;
  passed: number;
  held: (() => void)[];
}
type Gated = typeof globalThis & { gate: Gate };

/**
 * Opens the trace on a view with its numbers computed. From then on each pause waits until it is
 * released.
 */
async function open(): Promise<{
  pass(pauses: number): Promise<void>;
  passed(): Promise<number>;
  /**
   * Releases pauses one by one until `done` facts are computed. The work then waits in a pause.
   * @returns the number of computed facts
   */
  reach(done: number): Promise<number>;
}> {
  await viewer.open('');
  const store = viewer.page.workers().find((worker) => worker.url().includes('store-worker'))!;
  await store.evaluate(() => {
    const gate: Gate = { left: Infinity, passed: 0, held: [] };
    (globalThis as Gated).gate = gate;
    // each reading of the clock is past the limit of a short step, so every step ends with a pause
    const now = performance.now.bind(performance);
    let ahead = 0;
    performance.now = () => now() + (ahead += 10);
    const Plain = MessageChannel;
    globalThis.MessageChannel = class extends Plain {
      constructor() {
        super();
        const post = this.port2.postMessage.bind(this.port2) as (message: unknown) => void;
        this.port2.postMessage = (message: unknown) => {
          const go = (): void => {
            gate.left--;
            gate.passed++;
            post(message);
          };
          if (gate.left > 0) go();
          else gate.held.push(go);
        };
      }
    };
  });
  await viewer.page.evaluate(async () => {
    await window.panel.viewer.open(await (await fetch('/traces/large.vfst')).blob(), 'large.vfst');
  });
  await viewer.page.waitForFunction(
    (s: string) => /^\d/.test(document.querySelector(s)?.textContent ?? ''),
    {},
    id('live-commits'),
  );
  await viewer.page.$eval(id('tab-events'), (e) => (e as HTMLElement).click());
  await viewer.page.waitForSelector(id('event-count'));
  await store.evaluate(() => void ((globalThis as Gated).gate.left = 0));
  return {
    pass: (pauses) =>
      store.evaluate((more) => {
        const { gate } = globalThis as Gated;
        gate.left = more;
        while (gate.left > 0 && gate.held.length) gate.held.shift()!();
      }, pauses),
    passed: () => store.evaluate(() => (globalThis as Gated).gate.passed),
    async reach(done) {
      const held = (go: boolean): Promise<void> =>
        store.evaluate(async (release) => {
          const { gate } = globalThis as Gated;
          while (!gate.held.length) await new Promise((later) => setTimeout(later));
          if (release) gate.held.shift()!();
        }, go);
      for (;;) {
        await held(true);
        await held(false);
        const now = await viewer.page.$eval(BAR, (e) => (e as HTMLProgressElement).value);
        if (now >= done) return now;
      }
    },
  };
}
const BAR = `${id('computing')} progress`;
const click = (name: string): Promise<void> =>
  viewer.page.$eval(id(name), (e) => (e as HTMLElement).click());
const waitFor = (name: string): Promise<unknown> => viewer.page.waitForSelector(id(name));
/** The worker has received everything sent so far, and answers other requests. */
const settled = (): Promise<void> =>
  viewer.page.evaluate(() => window.panel.viewer.copy().then(() => undefined));

describe('a waiting view', () => {
  it('shows its progress, stops on Escape, and computes again', async () => {
    const worker = await open();
    const { page } = viewer;
    await click('tab-answer');
    await waitFor('computing');
    await page.waitForSelector(BAR);
    const done = await worker.reach(2);
    const steps = await page.$eval(BAR, (e) => (e as HTMLProgressElement).max);
    expect(steps).toBeGreaterThan(2);
    const [before, said] = [await worker.passed(), await viewer.text(id('computing'))];
    expect(said).toContain(`${done} of ${steps}`);
    expect(said).toMatch(/^Looking (through the trace|for what to do): \w/);
    await page.keyboard.press('Escape');
    await waitFor('compute-again');
    expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.testid)).toBe(
      'compute-again',
    );
    expect(await page.$(id('copy-markdown'))).toBeNull();
    expect(await page.$(id('computing'))).toBeNull();
    await worker.pass(1000);
    await page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('Stopped'),
      {},
      id('computing-stopped'),
    );
    await settled();
    // it ended at its next pause, and the next two never began
    expect((await worker.passed()) - before).toBeLessThanOrEqual(1);
    await page.keyboard.press('Enter');
    await waitFor('copy-markdown');
    expect(await page.$(id('computing-stopped'))).toBeNull();
    expect((await worker.passed()) - before).toBeGreaterThan(steps - 2);
  });

  it('stops waiting once the user leaves it, and its later requests are complete', async () => {
    const worker = await open();
    await click('tab-statements');
    await waitFor('computing');
    await viewer.page.waitForSelector(BAR);
    await worker.reach(1);
    const before = await worker.passed();
    await click('tab-events');
    await worker.pass(1000);
    await settled();
    // it ended at its next pause; Events' requests have few
    expect((await worker.passed()) - before).toBeLessThanOrEqual(5);
    await click('tab-statements');
    await viewer.page.waitForFunction(
      (s: string, rows: string) =>
        document.querySelector(s)?.getAttribute('aria-rowcount') === rows,
      {},
      id('statements'),
      String(statementTable(trace)!.rows.length + 1),
    );
  });
});
