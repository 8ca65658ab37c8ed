/** The conditions of a recording that affect how long things take. */

/**
 * How much slower code runs in the recorded page than outside of it, measured when the recording
 * stopped.
 */
export interface Slowdown {
  /** How many times as long WebAssembly takes; null = not measured. */
  wasmFactor: number | null;
  /** Extra time of each `await`, nanoseconds; null = not measured. */
  awaitExtraNs: number | null;
}

/** Emitted by the panel when the recording begins, and again with the measurements when it ends. */
export interface ConditionsDefinition extends Slowdown {
  kind: 'conditions';
  id: 0;
  /** DevTools were open on the page; null = not known. */
  devtools: boolean | null;
}

/**
 * Open DevTools slow a page down in this browser: in Chromium, and in no other that was measured.
 */
export const slowsUnderDevtools = (userAgent: string): boolean => /Chrom(e|ium)\//.test(userAgent);

/**
 * Under DevTools a page exceeds both: WebAssembly takes 2 times as long or more, and each await 1
 * µs more.
 */
const OPEN = { wasmFactor: 1.5, awaitExtraNs: 300 };

/** Were DevTools open on this page in Chromium, according to the measurements? null = not known. */
export function devtoolsBy({ wasmFactor, awaitExtraNs }: Slowdown): boolean | null {
  if (wasmFactor === null || awaitExtraNs === null) return null;
  const signs = [wasmFactor > OPEN.wasmFactor, awaitExtraNs > OPEN.awaitExtraNs];
  return signs[0] === signs[1] ? signs[0]! : null;
}

const isFactor = (v: unknown): boolean =>
  v === null || (typeof v === 'number' && Number.isFinite(v) && v >= 0);

export const isSlowdown = (v: unknown): v is Slowdown => {
  if (typeof v !== 'object' || v === null) return false;
  const { wasmFactor, awaitExtraNs } = v as Record<keyof Slowdown, unknown>;
  return isFactor(wasmFactor) && isFactor(awaitExtraNs);
};

export const isConditionsDefinition = (v: Record<string, unknown>): boolean =>
  (v.devtools === null || typeof v.devtools === 'boolean') && isSlowdown(v);
