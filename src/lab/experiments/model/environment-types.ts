/** The environment of a result, as data. environment.ts formats it. */

/**
 * Where a run took place. Absent: the result was saved without it. null: it isn't available there.
 */
export interface Environment {
  /** `Chrome 156`, `Node 20.19.2`. */
  readonly runtime?: string;
  /** Of a browser, in full. */
  readonly userAgent?: string;
  readonly platform?: string | null;
  readonly cores?: number | null;
  readonly processor?: string | null;
  /**
   * `SSD, as Linux reports it`: a virtual machine may report a different kind than the real one.
   */
  readonly disk?: string | null;
  /** Resolution of the clock, microseconds. */
  readonly clockStepUs?: number | null;
  readonly crossOriginIsolated?: boolean | null;
  /** Whether WebAssembly can await promises itself. */
  readonly jspi?: boolean | null;
}

/** The SQLite that ran. */
export interface EngineFacts {
  /** npm package. */
  readonly package: string;
  readonly version: string;
  /** Build of the package: `sync`, `asyncify`, `jspi`. */
  readonly variant: string;
  /** sqlite3_libversion(). */
  readonly sqlite: string;
  /** Size of the published wasm file. */
  readonly wasmBytes: number;
}
