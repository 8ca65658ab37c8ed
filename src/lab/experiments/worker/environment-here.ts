/** The environment of runs in a browser's worker, as far as a worker can read it. */
import { measureClockStepUs } from '../../../event/clock.ts';
import { browserName } from '../../../text/browser.ts';
import type { Environment } from '../model/environment-types.ts';
import { hasJspi } from './builds-here.ts';

interface WithHints extends Navigator {
  readonly userAgentData?: { readonly platform?: string };
}

/** Measures a few ticks of the clock. Don't call it with a seeded clock. */
export function environmentHere(): Environment {
  const { userAgent, platform, hardwareConcurrency, userAgentData } = navigator as WithHints;
  const step = measureClockStepUs();
  return {
    runtime: browserName(userAgent),
    userAgent,
    platform: userAgentData?.platform || platform || null,
    cores: hardwareConcurrency,
    processor: null,
    disk: null,
    clockStepUs: Number.isNaN(step) ? null : step,
    crossOriginIsolated: globalThis.crossOriginIsolated === true,
    jspi: hasJspi(),
  };
}
