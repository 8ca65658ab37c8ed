/**
 * The hook script: runs in every frame of a recorded tab at document_start and, by its own source,
 * in dedicated workers before their first line. Once per realm.
 */
import { environment, NATIVES_HOOKED, WORKERS_FILTERED } from './source.ts';
import { startPage } from './page-side.ts';
import { hookIn } from './thread.ts';
import { startShared, startWrappedShared } from './shared-side.ts';
import { startFiltered, startWorker } from './worker-side.ts';

if (hookIn(globalThis) === undefined) {
  if (environment.role === 'worker')
    if (!WORKERS_FILTERED && environment.shared)
      startWrappedShared(environment, environment.shared);
    else startWorker(environment);
  else if (NATIVES_HOOKED && environment.role === 'filtered') {
    if ('DedicatedWorkerGlobalScope' in globalThis) startFiltered();
    else startShared();
  } else
    try {
      startPage();
    } catch (e) {
      // nothing that could carry a note is installed
      console.warn('vfscope: this page cannot be recorded:', e);
    }
}
