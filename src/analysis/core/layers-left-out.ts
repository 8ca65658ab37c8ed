/** Layers that a recording was told not to look at: no call of such a layer is not the same as a layer without calls. */
import type { CapturedLayer } from '../../event/capture.ts';
import { layerOfCode } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';

/** On every thread. false where a thread does not say what it was told. */
export const leavesOut = ({ threads }: TraceStore, layer: CapturedLayer): boolean =>
  threads.length > 0 &&
  threads.every(
    ({ environment }) => environment !== null && !environment.capture.layers.includes(layer),
  );

/** On this thread no storage call was looked at: what lies beneath its VFS calls is not seen, so their time stands for it. */
export function storageIsUnseen({ environment, events: { op, count } }: ThreadStore): boolean {
  if (environment === null || environment.capture.layers.includes('web')) return false;
  for (let row = 0; row < count; row++) if (layerOfCode(op[row]!) === 'web') return false; // it says so, and yet there are some
  return true;
}
