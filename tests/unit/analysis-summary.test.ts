// What a summary says was recorded: a layer that the user left out is not said to have made no calls.
import { describe, expect, test } from 'vitest';
import { summaryOf } from '../../src/trace/analysis/summary.ts';
import { CAPTURE_DEFAULTS, type CapturedLayer } from '../../src/trace/capture.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

function layersOf(layers: CapturedLayer[]): unknown {
  const store = newStore();
  const { thread } = new ThreadBuilder(store);
  thread.environment = {
    ...{ url: 'https://app.example/', threadKind: 'worker', crossOriginIsolated: false, clockStepUs: 100, userAgent: '', hidden: null },
    capture: { ...CAPTURE_DEFAULTS, layers },
  };
  return summaryOf(store).threads[0]!.layers;
}

describe('the layers of a thread', () => {
  test('Web API calls are seen wherever they are hooked', () => expect(layersOf(['vfs', 'web'])).toEqual(['web']));
  test('and not where the user left them out', () => expect(layersOf(['vfs'])).toEqual([]));
});
