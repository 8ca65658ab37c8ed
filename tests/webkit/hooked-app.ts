/**
 * Runs engine apps in WebKit with the hook at document start, and returns the recording as a store.
 * Shared by the engine tests.
 */
import type { ThreadIdentity } from '../../src/protocol/messages.ts';
import type { Batch } from '../../src/event/batch.ts';
import { RECORD_BYTES } from '../../src/event/event.ts';
import { TraceStore } from '../../src/trace/store.ts';
import { injectHook } from '../browser/hooks-harness.ts';
import {
  openApp,
  prepareApp,
  runApp,
  storedBy,
  type StorageHash,
  type WorkloadResult,
} from '../oracle/baseline.ts';
import type { EngineApp } from '../oracle/catalog.ts';
import type { InspectedPage } from './inspector.ts';

export interface HookedRun {
  result: WorkloadResult;
  stored: StorageHash;
  store: TraceStore;
}

/** Records an app under this origin, from its first line to the end of its worker. */
export async function runHooked(
  page: InspectedPage,
  hook: string,
  origin: string,
  app: EngineApp,
): Promise<HookedRun> {
  await page.clearStartScripts();
  const driven = page.asPuppeteer();
  await injectHook(driven, hook);
  await openApp(driven, origin + app.path);
  await prepareApp(driven);
  await mark(page, 'oracle-begin');
  const result = await runApp(driven, app.run.workload, app.run.options);
  await mark(page, 'oracle-end');
  // before the app terminates its worker, whose unsent records would be lost
  await endRecording(page);
  return { result, stored: await storedBy(driven), store: await collectedStore(page) };
}

/**
 * Makes a mark further from other events than a step of the clock (1 ms), so that no other event
 * has the same time.
 */
export const mark = (page: InspectedPage, name: string): Promise<void> =>
  page.evaluate(async (text: string) => {
    const step = (): Promise<void> =>
      new Promise((done) => {
        const from = performance.now();
        const look = (): unknown => (performance.now() - from > 2 ? done() : setTimeout(look));
        look();
      });
    await step();
    performance.mark(text);
    await step();
  }, name);

/** Stops like the panel: resolves when every thread has said bye, after its last batch. */
export async function endRecording(page: InspectedPage): Promise<void> {
  await page.evaluate(() => window.vfscopeStandIn.stop());
  await page.waitForFunction(() => {
    const { hellos, byes } = window.vfscopeStandIn;
    return hellos.every(({ id }) => byes.some(({ thread }) => thread === id));
  });
}

/** The collected records as a store, as in the panel. */
export async function collectedStore(page: InspectedPage): Promise<TraceStore> {
  const { hellos, batches } = await page.evaluate(() => {
    const all = window.vfscopeStandIn;
    return { hellos: all.hellos, batches: all.batches };
  });
  return storeOf(
    hellos,
    batches.map((batch) => ({
      ...batch,
      records: new Uint8Array(Buffer.from(batch.records, 'base64')).buffer,
    })),
  );
}

/** @throws if the size of a batch doesn't match its number of records */
export function storeOf(hellos: ThreadIdentity[], batches: Batch[]): TraceStore {
  const store = new TraceStore(Math.min(...batches.map(({ timeOrigin }) => timeOrigin)));
  for (const identity of hellos) {
    const own = batches.filter(({ thread }) => thread === identity.id);
    const thread = store.thread({ ...identity, timeOrigin: own[0]?.timeOrigin ?? store.originMs });
    for (const batch of own) {
      if (batch.records.byteLength !== batch.count * RECORD_BYTES)
        throw new Error(
          `a batch of ${batch.count} records holds ${batch.records.byteLength} bytes`,
        );
      thread.append(batch);
    }
  }
  return store;
}
