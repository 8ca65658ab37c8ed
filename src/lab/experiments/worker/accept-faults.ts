/**
 * In a worker that a VFS stores in: the first message is the run's fault profile, if it has one.
 */
import { FaultyStorage } from './faulty-storage.ts';
import { faultsOf } from './faulty-workers.ts';

self.addEventListener('message', (event: MessageEvent) => {
  const faults = faultsOf(event.data);
  if (!faults) return;
  event.stopImmediatePropagation();
  new FaultyStorage(faults.settings, faults.buffer);
});
