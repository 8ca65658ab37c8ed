/**
 * The parts of a recording that come from the browser's own trace: CPU samples, and the work below
 * storage.
 */
import type { Browser } from 'puppeteer-core';
import type { FunctionNames } from '../trace/name-functions.ts';
import type { TraceStore } from '../trace/store.ts';
import { addBelowStorage, isStorageEvent, STORAGE_CATEGORIES } from './below-storage.ts';
import { BrowserTrace, type Traced } from './browser-trace.ts';
import { CPU_CATEGORIES, CPU_EVENTS, sampled } from './cpu-samples.ts';
import { MARK_CATEGORIES, MARK_EVENTS } from './thread-marks.ts';

export interface BrowserLayers {
  /** Chromium: sample the code that its threads execute. */
  cpu?: boolean;
  /** Names for wasm functions in the samples, where their module has none. */
  names?: FunctionNames;
  /**
   * Chromium: record the browser's work for storage calls, and whether it counts the same number of
   * calls.
   */
  belowStorage?: boolean;
}

/** Whether any of it is requested. Then the hook reports which thread it runs in: `sayingHook`. */
export const asksBrowser = ({ cpu, belowStorage }: BrowserLayers): boolean =>
  Boolean(cpu || belowStorage);

/**
 * A browser takes one trace at a time, so all parts share it.
 * @returns null where nothing is requested
 */
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

/** Add the requested parts to the trace. @returns the outcome, as text for the user */
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
