/** The panel as an ordinary page, built once per test run, by the first file that needs it. */
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { buildPanel } from '../../tools/dev/panel.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder for this run's panel. */
    panelFolder: string;
  }
}

/** Vitest's global setup: creates the folder, and deletes it at the end. */
export default async function folderOfRun(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'vfscope-panel-'));
  project.provide('panelFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}

/** @returns the folder of the built panel, for servePanel */
export async function builtPanel(): Promise<string> {
  const folder = inject('panelFolder');
  const built = join(folder, 'built');
  if (existsSync(built)) return built;
  const unfinished = await mkdtemp(join(folder, 'unfinished-'));
  await buildPanel(unfinished);
  // two files at once: the first to end counts
  await rename(unfinished, built).catch(() => rm(unfinished, { recursive: true }));
  return built;
}
