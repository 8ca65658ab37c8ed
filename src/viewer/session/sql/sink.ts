/**
 * Writes values of virtual tables directly into SQLite, cell by cell: no boxed values, and no text
 * is encoded twice. A text that occurs in many rows is written into the module's memory once, and
 * SQLite gets its address.
 */

import type { Cell } from '../../../analysis/core/table.ts';

/** The parts of wa-sqlite's Emscripten module that are used. */
export interface SqliteModule {
  _sqlite3_malloc(bytes: number): number;
  _sqlite3_free(at: number): void;
  _sqlite3_result_int(context: number, value: number): void;
  _sqlite3_result_int64(context: number, low: number, high: number): void;
  _sqlite3_result_double(context: number, value: number): void;
  _sqlite3_result_null(context: number): void;
  _sqlite3_result_text(context: number, at: number, bytes: number, destructor: number): void;
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, at: number, room: number): void;
}

/** SQLITE_STATIC: the text stays where it is. SQLITE_TRANSIENT: SQLite copies it. */
const [STATIC, TRANSIENT] = [0, -1];
/** Maximum bytes of texts stored in the module's memory. Later texts are written each time. */
const MOST_KEPT = 64 << 20;
const LONGEST_KEPT = 1 << 16;

export class Sink {
  private readonly kept = new Map<string, readonly [at: number, bytes: number]>();
  private keptBytes = 0;

  constructor(private readonly module: SqliteModule) {}

  /** A whole number as INTEGER, other numbers as REAL, NaN and infinities as NULL. */
  number(context: number, value: number): void {
    const { module } = this;
    if (value === (value | 0)) module._sqlite3_result_int(context, value);
    else if (Number.isSafeInteger(value)) {
      const high = Math.floor(value / 2 ** 32);
      module._sqlite3_result_int64(context, value - high * 2 ** 32, high);
    } else this.real(context, value);
  }
  /** For columns with times: 2.0 stays REAL, so that SQL division isn't integer division. */
  real(context: number, value: number): void {
    if (Number.isFinite(value)) this.module._sqlite3_result_double(context, value);
    else this.module._sqlite3_result_null(context);
  }
  null(context: number): void {
    this.module._sqlite3_result_null(context);
  }
  text(context: number, text: string): void {
    const { module } = this;
    let place = this.kept.get(text);
    if (!place) {
      const bytes = module.lengthBytesUTF8(text);
      const at = module._sqlite3_malloc(bytes + 1);
      if (at === 0) throw new Error('SQLite has no memory left for a text');
      module.stringToUTF8(text, at, bytes + 1);
      if (bytes > LONGEST_KEPT || this.keptBytes + bytes > MOST_KEPT) {
        module._sqlite3_result_text(context, at, bytes, TRANSIENT);
        module._sqlite3_free(at);
        return;
      }
      this.keptBytes += bytes;
      this.kept.set(text, (place = [at, bytes]));
    }
    module._sqlite3_result_text(context, place[0], place[1], STATIC);
  }
  cell(context: number, value: Cell): void {
    if (value === null) this.null(context);
    else if (typeof value === 'string') this.text(context, value);
    else this.number(context, value);
  }
}
