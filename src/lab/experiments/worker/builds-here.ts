/** Which build of an engine a VFS uses in this browser. */
import { isBundled } from '../model/engine-names.ts';
import { needsAsync } from '../model/vfs-facts.ts';
import type { Config, VfsName } from '../model/types.ts';

/** JSPI is there where `WebAssembly.Suspending` is. */
export const hasJspi = (): boolean => 'Suspending' in WebAssembly;

/**
 * The build for a VFS: sync if that is enough, else JSPI, and Asyncify where this browser has no
 * JSPI or the engine has no JSPI build.
 */
export function buildFor(
  vfs: VfsName,
  engine: Config['engine'],
  jspi = hasJspi(),
): Config['build'] {
  if (!needsAsync(vfs)) return 'sync';
  return jspi && engine === 'wa-sqlite-2.0.6' ? 'jspi' : 'asyncify';
}

/** Whether the VFS can run on this build here. */
export const isBuildFor = (
  build: Config['build'],
  { vfs, engine }: Pick<Config, 'vfs' | 'engine'>,
  jspi = hasJspi(),
): boolean =>
  build === 'sync'
    ? !needsAsync(vfs)
    : isBundled(engine) && (build === 'asyncify' || (jspi && engine === 'wa-sqlite-2.0.6'));

/** For JavaScriptCore, which counts a few extra instructions in one of seventy runs. */
const APPLE = 'Apple Computer, Inc.';
const STRAYING_PASSES = 3;
/**
 * Passes of a counted run here: one is enough, except in JavaScriptCore, where the minimum of three
 * counts.
 */
export const countPasses = (
  vendor = (globalThis as { navigator?: { vendor?: string } }).navigator?.vendor,
): number => (vendor === APPLE ? STRAYING_PASSES : 1);
