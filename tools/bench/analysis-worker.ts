// The analyses in a browser's worker, one step at a time. analysis-browser.ts bundles and starts
// it.
import type { TraceStore } from '../../src/trace/store.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { stepsOf, type Step } from './analyses.ts';

/** Make a store with this many events; start a round; run its next step. */
export type Asked = { make: number } | 'round' | 'step';
/** Number of events in the store; the steps of the round; null = a step was run. */
export type Answered = number | string[] | null;

let store: TraceStore | null = null;
let steps: Step[] = [];
let next = 0;

addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  postMessage(answer(data)); // a worker's message has no origin
});

function answer(asked: Asked): Answered {
  if (asked === 'step') {
    steps[next++]!.work();
    return null;
  }
  if (asked === 'round') {
    [steps, next] = [stepsOf(store!), 0];
    return steps.map(({ name }) => name);
  }
  store = syntheticStore({ events: asked.make });
  return store.eventCount;
}
