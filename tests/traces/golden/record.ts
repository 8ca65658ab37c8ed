/**
 * Records scenarios and engine apps with the real extension from its real panel.
 * tools/docs/goldens.mjs bundles and starts it.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { launchBrowser, type DrivenBrowser } from '../../../src/drive/browser.ts';
import { openPanel } from '../../../src/drive/panel.ts';
import { saveTrace, startRecording, stopRecording } from '../../../src/drive/session.ts';
import { readTrace } from '../../../src/trace/file/read.ts';
import { openApp, runApp, type WorkloadResult } from '../../oracle/baseline.ts';
import { ENGINE_APPS } from '../../oracle/catalog.ts';
import { createServer, type AppServer } from '../../server/server.mjs';
import { SCENARIOS, type Scenario } from './scenarios.ts';

export interface RecordAll {
  scenarios: readonly Scenario[];
  /** Folder of the built extension. */
  extension: string;
  /** Each trace is written to `<folder>/<name>.vfst`. */
  folder: string;
  say: (line: string) => void;
}

/** @throws Error if a page fails, or a trace is incomplete */
export async function recordAll({ scenarios, extension, folder, say }: RecordAll): Promise<void> {
  const server = await createServer();
  try {
    for (const [i, scenario] of scenarios.entries()) {
      // a separate browser for each, so that cached data doesn't affect the next one
      const driven = await launchBrowser({ extension });
      try {
        const file = path.join(folder, `${scenario.name}.vfst`);
        await recordScenario(scenario, server, driven, `golden-${i}`, file);
        const bytes = await readFile(file);
        const { store, warnings } = await readTrace(bytes);
        if (warnings.length || store.dropped) throw new Error(`${scenario.name}: ${store.dropped} dropped; ${warnings.join(' ')}`);
        say(`${scenario.name}: ${store.eventCount} events, ${bytes.length} bytes`);
      } finally {
        await driven.close();
      }
    }
  } finally {
    await server.close();
  }
}

/**
 * @param label of the origin
 * @param file to write
 * @param more called with the pages after the steps
 * @returns the runs' results, and the total milliseconds
 */
export async function recordScenario(
  scenario: Pick<Scenario, 'path' | 'tabs' | 'steps'>,
  server: AppServer,
  driven: DrivenBrowser,
  label: string,
  file: string,
  more: (pages: readonly Page[]) => Promise<void> = async () => {},
): Promise<{ results: WorkloadResult[]; wallMs: number }> {
  const { tabs = 1 } = scenario;
  const url = server.origin(label) + scenario.path;
  const results: WorkloadResult[] = [];
  const pages = [await driven.firstPage()];
  const panel = await openPanel(pages[0]!);
  if (tabs > 1) await openApp(pages[0]!, url); // an origin is recorded once a tab shows it
  await startRecording(panel, { scope: tabs > 1 ? 'origin' : 'tab' });
  await openApp(pages[0]!, url);
  while (pages.length < tabs) {
    const page = await driven.browser.newPage();
    await openApp(page, url);
    pages.push(page);
  }
  const began = performance.now();
  for (const step of scenario.steps)
    results.push(...(await Promise.all(step.map(({ tab = 0, workload, options }) => runApp(pages[tab] as Page, workload, options)))));
  await more(pages);
  const wallMs = performance.now() - began;
  await pages[0]!.bringToFront(); // DevTools of a background tab draw nothing to click on
  await stopRecording(panel);
  await saveTrace(driven, panel, file);
  return { results, wallMs };
}

/** Every row of the engine grid, with the run that the grid's test uses. */
export function gridScenarios(): Scenario[] {
  return ENGINE_APPS.map(({ id, path: url, run }) => ({
    name: id.replaceAll(' ', '_'),
    shows: id,
    path: url,
    steps: [[{ workload: run.workload, options: run.options }]],
  }));
}

export { SCENARIOS };
