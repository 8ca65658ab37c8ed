/**
 * What this recording captures: a page gets it from scripts in front of the hook
 * (protocol/capture.ts), a worker from its environment.
 */
import { CAPTURE_KEY } from '../protocol/capture.ts';
import { CAPTURED_LAYERS, captureOptionsOf, type CaptureOptions } from '../event/capture.ts';
import { environment, type CarriedScripts } from './source.ts';

type Said = Partial<
  Record<'capture' | 'buffer' | 'stacks' | 'without' | 'wait' | 'now' | 'shared', unknown>
> & { scripts?: CarriedScripts };

function take(): [CaptureOptions, scripts?: CarriedScripts, waits?: boolean, shares?: boolean] {
  const key = Symbol.for(CAPTURE_KEY);
  try {
    if (environment.role !== 'page')
      return [captureOptionsOf(environment.capture), environment.scripts];
    const said = ((globalThis as Record<symbol, unknown>)[key] ?? {}) as Said;
    const without: unknown[] = Array.isArray(said.without) ? said.without : [];
    return [
      captureOptionsOf({
        ...said,
        layers: CAPTURED_LAYERS.filter((layer) => !without.includes(layer)),
      }),
      said.scripts,
      said.wait === true && said.now !== true,
      said.shared === true,
    ];
  } catch {
    // a page that was already running can store any value there; the defaults are safe
    return [captureOptionsOf({})];
  } finally {
    Reflect.deleteProperty(globalThis, key);
  }
}

/**
 * For this thread: what to capture, scripts for optional captures, whether it isn't known yet that
 * the tab is recorded, and whether SharedWorkers of its origin run with our script.
 */
export const [capture, scripts = {}, waits = false, shares = false] = take();
