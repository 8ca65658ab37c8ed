/** Engine apps in WebKit with the hook at document start, and what it recorded as a store: what the tests of engines share. */
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

/** Run an app under this origin, recorded, from its first line to its worker's end. */
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
  await endRecording(page); // before the app ends its worker, which takes with it what it has not sent
  return { result, stored: await storedBy(driven), store: await collectedStore(page) };
}

/** A mark with a moment of its own: where the clock steps by a millisecond, what lies around it has other times. */
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

/** As the panel's Stop: resolves when every thread has said goodbye, behind its last batch. */
export async function endRecording(page: InspectedPage): Promise<void> {
  await page.evaluate(() => window.vfscopeStandIn.stop());
  await page.waitForFunction(() => {
    const { hellos, byes } = window.vfscopeStandIn;
    return hellos.every(({ id }) => byes.some(({ thread }) => thread === id));
  });
}

/** What the stand-in collected, as the panel would hold it. */
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

/** @throws where a batch's bytes are not its records */
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
