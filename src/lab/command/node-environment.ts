/** The environment of runs in Node: the machine, and the disk of the folder for temporary files. */
import { readFileSync, statSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir } from 'node:os';
import type { Environment } from '../experiments/model/environment-types.ts';

/** performance.now() in Node counts nanoseconds. The duration of a call isn't its resolution. */
const CLOCK_STEP_US = 0.001;

/**
 * Everything is in memory here. The disk is listed because other processes may use it during the
 * run.
 */
export const nodeEnvironment = (): Environment => ({
  runtime: `Node ${process.versions.node} (V8 ${process.versions.v8})`,
  platform: `${process.platform} ${process.arch}, ${release()}`,
  cores: availableParallelism(),
  processor: cpus()[0]?.model.trim() || null,
  disk: diskKind(),
  clockStepUs: CLOCK_STEP_US,
  crossOriginIsolated: null,
  jspi: 'Suspending' in WebAssembly,
});

/** From Linux, for a block device; null on other platforms, and on file systems without one. */
function diskKind(): string | null {
  if (process.platform !== 'linux') return null;
  const { dev } = statSync(tmpdir());
  // glibc's makedev
  const major = (dev >>> 8) & 0xfff;
  const minor = (dev & 0xff) | ((dev >>> 12) & 0xfff00);
  for (const folder of ['queue', '../queue'])
    try {
      const kind = readFileSync(`/sys/dev/block/${major}:${minor}/${folder}/rotational`, 'utf8');
      return `${kind.trim() === '0' ? 'SSD' : 'hard disk'}, as Linux reports it`;
    } catch (e) {
      // a partition has no own queue, an overlay no device, and a container may hide both
      if (!['ENOENT', 'EACCES'].includes((e as NodeJS.ErrnoException).code ?? '')) throw e;
    }
  return null;
}
