/** Which build of an engine a VFS runs on in this browser. */
import { isBundled } from '../model/engine-names.ts';
import { needsAsync } from '../model/vfs-facts.ts';
import type { Config, VfsName } from '../model/types.ts';

/** JSPI is there where `WebAssembly.Suspending` is. */
export const hasJspi = (): boolean => 'Suspending' in WebAssembly;

/** The build for a VFS: sync where that is enough, else JSPI, and Asyncify where this browser has no JSPI or the engine no such build. */
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

/** Of JavaScriptCore, which counts a few instructions too many in one run of seventy. */
const APPLE = 'Apple Computer, Inc.';
const STRAYING_PASSES = 3;
/** Passes of a counted run here: one says it all, but in JavaScriptCore the least of three. */
export const countPasses = (
  vendor = (globalThis as { navigator?: { vendor?: string } }).navigator?.vendor,
): number => (vendor === APPLE ? STRAYING_PASSES : 1);
