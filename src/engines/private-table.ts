/**
 * A SQLite build whose function table is neither exported nor imported: one more export entry in its bytes, before they are
 * compiled, shows it. Every known build shows its table, so this runs for unknown ones only. What is compiled while it streams is
 * left alone: streaming and the code cache are worth more, and the engine's note says that the table is private.
 */
import { leb, text } from '../vfs-instrumented/interpose/wasm-writer.ts';
import { findHeader } from './fingerprint.ts';

/** The entry's name; the app does not get to see it. */
export const TABLE_EXPORT = '__vfscope_table';

const Section = { import: 2, table: 4, export: 7, data: 11 } as const;
const Kind = { function: 0, table: 1, memory: 2, global: 3, tag: 4 } as const;
const FUNCREF = 0x70;

/** Reads on past the end as zeros: what is no module ends up as "nothing to do", and compiling it says what is wrong. */
class Reader {
  constructor(
    readonly bytes: Uint8Array,
    public at: number,
  ) {}
  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }
  leb(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const low = this.byte();
      value += (low & 127) * 2 ** shift;
      if (low < 128) break;
    }
    return value;
  }
  skipName(): void {
    const length = this.leb();
    this.at += length;
  }
  skipLimits(): void {
    const flags = this.byte();
    this.leb();
    if (flags & 1) this.leb();
  }
}

interface Span {
  /** Where the section's id stands, where its content begins, where it ends. */
  start: number;
  content: number;
  end: number;
}

function sectionsOf(bytes: Uint8Array): Map<number, Span> {
  const found = new Map<number, Span>();
  const r = new Reader(bytes, 8);
  while (r.at < bytes.length) {
    const start = r.at;
    const id = r.byte();
    const size = r.leb();
    const content = r.at;
    r.at += size;
    if (!found.has(id)) found.set(id, { start, content, end: r.at });
  }
  return found;
}

function importsTable(bytes: Uint8Array, span: Span): boolean {
  const r = new Reader(bytes, span.content);
  for (let n = r.leb(); n > 0 && r.at < span.end; n--) {
    r.skipName();
    r.skipName();
    const kind = r.byte();
    if (kind === Kind.function) r.leb();
    else if (kind === Kind.memory) r.skipLimits();
    else if (kind === Kind.global) r.at += 2;
    else if (kind === Kind.tag) {
      r.byte();
      r.leb();
    } else return true; // a table, or something that this does not know
  }
  return false;
}

function exportsTable(bytes: Uint8Array, span: Span): boolean {
  const r = new Reader(bytes, span.content);
  for (let n = r.leb(); n > 0 && r.at < span.end; n--) {
    r.skipName();
    if (r.byte() === Kind.table) return true;
    r.leb();
  }
  return false;
}

/**
 * @param source what the app hands to WebAssembly: bytes, or anything else
 * @returns a copy of the bytes that exports the table too; null where nothing has to be done
 */
export function withTableExport(source: unknown): Uint8Array<ArrayBuffer> | null {
  const bytes = bytesOf(source);
  if (!bytes || bytes.length < 16) return null;
  const sections = sectionsOf(bytes);
  const [table, shown, data, imported] = [Section.table, Section.export, Section.data, Section.import].map((id) => sections.get(id));
  if (!table || !shown || !data || exportsTable(bytes, shown) || (imported && importsTable(bytes, imported))) return null;
  const first = new Reader(bytes, table.content);
  if (first.leb() === 0 || first.byte() !== FUNCREF) return null;
  if (findHeader(bytes.subarray(data.content, data.end)) < 0) return null;
  const r = new Reader(bytes, shown.content);
  const count = leb(r.leb() + 1);
  const entry = [...text(TABLE_EXPORT), Kind.table, 0];
  const before = bytes.subarray(r.at, shown.end);
  const head = [Section.export, ...leb(count.length + before.length + entry.length), ...count];
  const parts = [bytes.subarray(0, shown.start), head, before, entry, bytes.subarray(shown.end)];
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function bytesOf(source: unknown): Uint8Array | null {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  return source instanceof ArrayBuffer ? new Uint8Array(source) : null;
}
