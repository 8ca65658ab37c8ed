/** The environment of a result, as data: how it reads is in environment.ts. */

/** The place of a run. Absent: the result was saved without it. null: it can't be known in that place. */
export interface Environment {
  /** `Chrome 156`, `Node 20.19.2`. */
  readonly runtime?: string;
  /** Of a browser, in full. */
  readonly userAgent?: string;
  readonly platform?: string | null;
  readonly cores?: number | null;
  readonly processor?: string | null;
  /** `SSD, as Linux reports it`: a virtual machine may report another kind than there is. */
  readonly disk?: string | null;
  /** Smallest step of the clock, microseconds. */
  readonly clockStepUs?: number | null;
  readonly crossOriginIsolated?: boolean | null;
  /** Whether WebAssembly can await promises by itself. */
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
  /** Of the wasm file as it is published. */
  readonly wasmBytes: number;
}
