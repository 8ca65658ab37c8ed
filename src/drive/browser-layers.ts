/** What a recording takes from the browser's own trace: CPU samples, and what lies below storage. */
import type { Browser } from 'puppeteer-core';
import type { FunctionNames } from '../trace/name-functions.ts';
import type { TraceStore } from '../trace/store.ts';
import { addBelowStorage, isStorageEvent, STORAGE_CATEGORIES } from './below-storage.ts';
import { BrowserTrace, type Traced } from './browser-trace.ts';
import { CPU_CATEGORIES, CPU_EVENTS, sampled } from './cpu-samples.ts';
import { MARK_CATEGORIES, MARK_EVENTS } from './thread-marks.ts';

export interface BrowserLayers {
  /** In Chromium: sample what its threads execute. */
  cpu?: boolean;
  /** Of wasm functions in the samples, where their own module has none. */
  names?: FunctionNames;
  /** In Chromium: what the browser does for storage calls, and whether it counts as many. */
  belowStorage?: boolean;
}

/** Whether any of it is asked for. Then the hook says which thread it is in: `sayingHook`. */
export const asksBrowser = ({ cpu, belowStorage }: BrowserLayers): boolean =>
  Boolean(cpu || belowStorage);

/** A browser takes one trace at a time, so it is one for all. @returns null where nothing is asked for */
export async function traceBrowser(
  browser: Browser,
  asked: BrowserLayers,
): Promise<BrowserTrace | null> {
  if (!asksBrowser(asked)) return null;
  const names = new Set([...MARK_EVENTS, ...(asked.cpu ? CPU_EVENTS : [])]);
  return BrowserTrace.begin(
    browser,
    [
      ...MARK_CATEGORIES,
      ...(asked.cpu ? CPU_CATEGORIES : []),
      ...(asked.belowStorage ? STORAGE_CATEGORIES : []),
    ],
    (event) => names.has(event.name) || isStorageEvent(event),
  );
}

/** Put what was asked for into the trace. @returns what became of it, as text for the user */
export function addLayers(
  store: TraceStore,
  traced: Traced,
  { cpu, names, belowStorage }: BrowserLayers,
): string {
  return [
    ...(cpu ? [sampled(store, traced, names)] : []),
    ...(belowStorage ? [addBelowStorage(store, traced)] : []),
  ].join('; ');
}
