/**
 * Measures how much slower code runs in the inspected page than here. In Chromium, open DevTools
 * slow down WebAssembly and promises in the page only. The same work is timed in our isolated world
 * of the page and in the background, which DevTools don't inspect.
 */
import { runInPage } from '../platform/in-page.ts';
import { isSlowdown, slowsUnderDevtools, type Slowdown } from '../protocol/slowdown.ts';

/** A recording that should stop waits no longer than this. */
const WAIT_MS = 500;

interface Pace {
  /** One pass of the loop in WebAssembly, ms. */
  wasmMs: number;
  /** One await, ms. */
  awaitMs: number;
}

/**
 * Injected as text, so it uses nothing from outside its own braces. Takes about 30 ms where the
 * page is slow.
 */
async function pace(): Promise<Pace> {
  // (func (export "r") (param $n i32) (result i32) (local $sum i32) loop: $sum = ($sum + mem[$n]) * 31; mem[$n] = $sum; while --$n)
  const body = [
    ...[3, 64, 32, 1, 32, 0, 65, 252, 255, 3, 113, 40, 2, 0, 106, 65, 31, 108, 33, 1],
    ...[
      32, 0, 65, 252, 255, 3, 113, 32, 1, 54, 2, 0, 32, 0, 65, 1, 107, 34, 0, 13, 0, 11, 32, 1, 11,
    ],
  ];
  const head = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1,
  ];
  const code = [10, body.length + 5, 1, body.length + 3, 1, 1, 127, ...body];
  const bytes = new Uint8Array([...head, 7, 5, 1, 1, 114, 0, 0, ...code]);
  const { r } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as {
    r(n: number): number;
  };
  // enough iterations for the browser to optimize the loop, where it does
  const [loops, passes, awaits] = [12, 3, 2000];
  let [wasmMs, awaitMs] = [Infinity, Infinity];
  for (let i = 0; i < loops; i++) {
    const began = performance.now();
    r(400_000);
    wasmMs = Math.min(wasmMs, performance.now() - began);
  }
  const next = async (n: number): Promise<number> => n + 1;
  for (let i = 0; i < passes; i++) {
    const began = performance.now();
    for (let n = 0; n < awaits;) n = await next(n);
    awaitMs = Math.min(awaitMs, (performance.now() - began) / awaits);
  }
  return { wasmMs, awaitMs };
}

/**
 * @returns null if DevTools don't slow down pages here, or the page doesn't answer in time, or
 * can't be asked
 */
export async function slowdownOf(tabId: number): Promise<Slowdown | null> {
  if (!slowsUnderDevtools(navigator.userAgent)) return null;
  const late = new Promise<null>((done) => setTimeout(done, WAIT_MS, null));
  try {
    const there = (await Promise.race([runInPage(tabId, pace, []), late])) as Pace | null;
    if (!there) return null;
    const here = await pace();
    const slowdown = {
      wasmFactor: here.wasmMs > 0 ? there.wasmMs / here.wasmMs : null,
      awaitExtraNs: Math.max(0, (there.awaitMs - here.awaitMs) * 1e6),
    };
    return isSlowdown(slowdown) ? slowdown : null;
  } catch (e) {
    console.warn('vfscope: the page could not be timed:', e); // a browser page, or closed
    return null;
  }
}
