/** How a recording was made, as far as it changes how long things take. */

/** What code in the recorded page takes longer than outside of it, measured when the recording stopped. */
export interface Slowdown {
  /** How many times as long WebAssembly takes; null = not measured. */
  wasmFactor: number | null;
  /** What each `await` takes more, nanoseconds; null = not measured. */
  awaitExtraNs: number | null;
}

/** Said by the panel when the recording begins, and again with what was measured when it ends. */
export interface ConditionsDefinition extends Slowdown {
  kind: 'conditions';
  id: 0;
  /** DevTools were open on the page; null = not known. */
  devtools: boolean | null;
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
