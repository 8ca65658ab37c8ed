/** Layers that a recording was told not to look at: no call of such a layer is not the same as a layer without calls. */
import { captureOptionsOf, type CapturedLayer } from '../capture.ts';
import type { TraceStore } from '../store.ts';

/** On every thread. false where a thread does not say what it was told. */
export const leavesOut = ({ threads }: TraceStore, layer: CapturedLayer): boolean =>
  threads.length > 0 &&
  threads.every(({ environment }) => environment !== null && !captureOptionsOf(environment.capture).layers.includes(layer));
