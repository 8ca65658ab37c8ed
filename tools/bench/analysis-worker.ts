// The analyses in a worker of a browser, a step at a time: bundled and started by analysis-browser.ts.
import type { TraceStore } from '../../src/trace/store.ts';
import { syntheticStore } from '../../tests/traces/synthetic.ts';
import { stepsOf, type Step } from './analyses.ts';

/** Make a store of so many events; begin a round; run its next step. */
export type Asked = { make: number } | 'round' | 'step';
/** Events of the store; the steps of the round; null = a step was run. */
export type Answered = number | string[] | null;

let store: TraceStore | null = null;
let steps: Step[] = [];
let next = 0;

addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  postMessage(answer(data)); // a worker's own: it names no origin
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
