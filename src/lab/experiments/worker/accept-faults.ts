/** In a worker that a VFS stores in: the run's fault profile, where it has one, is the first message. */
import { FaultyStorage } from './faulty-storage.ts';
import { faultsOf } from './faulty-workers.ts';

self.addEventListener('message', (event: MessageEvent) => {
  const faults = faultsOf(event.data);
  if (!faults) return;
  event.stopImmediatePropagation();
  new FaultyStorage(faults.settings, faults.buffer);
});
