/** The environment of runs in Node: the machine, and the disk below the folder for temporary files. */
import { readFileSync, statSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir } from 'node:os';
import type { Environment } from '../experiments/model/environment-types.ts';

/** Of performance.now() in Node, which counts nanoseconds; what a call of it takes isn't a step. */
const CLOCK_STEP_US = 0.001;

/** Everything stays in memory here: the disk is said because other processes may use it meanwhile. */
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

/** As Linux reports it of a block device; null elsewhere, and on file systems without one. */
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
      // a partition has no queue of its own, an overlay no device, and a container may hide both
      if (!['ENOENT', 'EACCES'].includes((e as NodeJS.ErrnoException).code ?? '')) throw e;
    }
  return null;
}
