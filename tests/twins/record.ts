/**
 * Records one twin with the built extension, in a separate browser, so that cached data doesn't
 * affect the next one.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { launchBrowser } from '../../src/drive/browser.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { buildHook } from '../browser/hooks-harness.ts';
import { openApp, runApp } from '../oracle/baseline.ts';
import type { AppServer } from '../server/server.mjs';
import { recordScenario } from '../traces/golden/record.ts';
import type { Twin } from './deeds.ts';

export interface Recorded {
  store: TraceStore;
  /**
   * The app's own measurement of its SQL, and its caller's of all steps and of what follows them,
   * milliseconds.
   */
  ms: number;
  wallMs: number;
}

/**
 * @param label of its origin
 * @param file where the trace is written
 * @throws Error if the page fails, or the trace is incomplete
 */
export async function recordTwin(
  twin: Twin,
  {
    server,
    extension,
    label,
    file,
  }: { server: AppServer; extension: string; label: string; file: string },
): Promise<Recorded> {
  const folder = twin.fault && (await withFault(extension, twin.fault));
  const driven = await launchBrowser({ extension: folder ?? extension });
  try {
    if (twin.before) {
      const page = await driven.browser.newPage();
      await openApp(page, server.origin(label) + twin.path);
      for (const step of twin.before)
        for (const { workload, options } of step) await runApp(page, workload, options);
      await page.evaluate('window.shutdown()');
      await page.close();
    }
    const { results, wallMs } = await recordScenario(twin, server, driven, label, file, twin.more);
    const { store, warnings } = await readTrace(await readFile(file));
    if (warnings.length || store.dropped)
      throw new Error(`${label}: ${store.dropped} dropped; ${warnings.join(' ')}`);
    return { store, ms: results.reduce((sum, { ms }) => sum + ms, 0), wallMs };
  } finally {
    await driven.close();
    if (folder) await rm(folder, { recursive: true });
  }
}

/** A copy of the extension in which a browser fault runs before the hook. @returns its folder */
async function withFault(extension: string, fault: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-fault-'));
  await cp(extension, folder, { recursive: true });
  const hook = await buildHook(new URL(`./faults/${fault}.ts`, import.meta.url));
  await writeFile(path.join(folder, 'hooks.js'), hook);
  return folder;
}
