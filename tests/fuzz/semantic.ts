// Traces with changed contents: sections are unpacked, numbers in columns and JSON changed, and
// packed again with valid checksums.
import { gunzipSync, gzipSync } from 'node:zlib';
import { SECTION_HEADER_BYTES, Tag, TRAILER_BYTES } from '../../src/trace/file/format.ts';
import { readChunkHead, sectionBytes } from '../../src/trace/file/section.ts';
import { randomOf, type Random } from './random.ts';

const WORDS = [
  '',
  'x'.repeat(70_000),
  '__proto__',
  '<img src=x onerror=alert(1)>',
  '=1+1',
  '\x1b[31m',
  '\u202e\ud800',
  'NaN',
  '/app.db-wal',
  'BEGIN',
  'é\0',
];
const NUMBERS = [0, -1, 1, 0.5, 255, 4096, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 1e300, null];

/** The sections of an intact file, starting with its header. */
export function sectionsOf(file: Uint8Array): {
  header: Uint8Array;
  sections: { tag: string; payload: Uint8Array }[];
} {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const from = 20 + view.getUint32(12, true);
  const sections: { tag: string; payload: Uint8Array }[] = [];
  for (let at = from; at < file.length - TRAILER_BYTES;) {
    const end = at + SECTION_HEADER_BYTES + view.getUint32(at + 4, true);
    sections.push({
      tag: String.fromCharCode(...file.subarray(at, at + 4)),
      payload: file.subarray(at + SECTION_HEADER_BYTES, end),
    });
    at = end;
  }
  return { header: file.subarray(0, from), sections };
}

/** Changes, removes, or duplicates one value of a JSON tree. */
function changeJson(r: Random, root: unknown): unknown {
  const places: { of: Record<string, unknown>; key: string }[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      places.push({ of: value as Record<string, unknown>, key });
      walk((value as Record<string, unknown>)[key]);
    }
  };
  walk(root);
  for (let k = r.below(4); k >= 0 && places.length; k--) {
    const { of, key } = r.of(places);
    switch (r.below(6)) {
      case 0:
        if (!Array.isArray(of)) delete of[key];
        break;
      case 1:
        if (Array.isArray(of)) of.push(of[0]);
        else
          Object.defineProperty(of, r.of(['kind', 'id', 'text', '__proto__', 'toString']), {
            value: of[key],
            enumerable: true,
            configurable: true,
            writable: true,
          });
        break;
      case 2:
        of[key] = r.of(WORDS);
        break;
      case 3:
        of[key] = r.of<unknown>([{}, [], [[[]]], true, { toString: 1 }]);
        break;
      case 4:
        of[key] = r.of(places).of;
        break;
      default:
        of[key] = r.of(NUMBERS);
    }
  }
  try {
    return JSON.stringify(root) === undefined ? {} : root;
  } catch {
    return {}; // circular
  }
}

/** Bytes of columns: single ones, and runs of long numbers. */
function changeColumns(r: Random, columns: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  for (let k = r.below(6); k >= 0; k--) {
    const at = r.below(columns.length);
    if (r.chance(0.7)) columns[at] = r.of([0, 1, 127, 128, 255, r.below(256)]);
    else columns.fill(255, at, Math.min(columns.length, at + 1 + r.below(8)));
  }
  return columns;
}

const json = (payload: Uint8Array): unknown => JSON.parse(Buffer.from(payload).toString());
const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value) ?? '{}');

function changed(r: Random, tag: string, payload: Uint8Array): Uint8Array {
  switch (tag) {
    case Tag.definitions:
      return gzipSync(bytes(changeJson(r, json(gunzipSync(payload)))), { level: 1 });
    case Tag.events: {
      const { columns } = readChunkHead(payload);
      const head = new Uint8Array(payload.subarray(0, payload.length - columns.length));
      if (r.chance(0.2)) head[4 + r.below(20)] = r.below(256); // its event count and start time
      return Buffer.concat([
        head,
        gzipSync(changeColumns(r, new Uint8Array(gunzipSync(columns))), { level: 1 }),
      ]);
    }
    case Tag.ends:
      return Buffer.concat([
        payload.subarray(0, 8),
        gzipSync(changeColumns(r, new Uint8Array(gunzipSync(payload.subarray(8)))), { level: 1 }),
      ]);
    default:
      return bytes(changeJson(r, json(payload)));
  }
}

/** A file with valid checksums and untrusted content. */
export function semantically(original: Uint8Array, seed: number): Uint8Array<ArrayBuffer> {
  const r = randomOf(seed);
  const { header, sections } = sectionsOf(original);
  const out: Uint8Array[] = [header];
  const which = new Set(Array.from({ length: 1 + r.below(3) }, () => r.below(sections.length)));
  sections.forEach(({ tag, payload }, i) => {
    if (which.has(i) && r.chance(0.05)) return;
    const section = sectionBytes(tag, which.has(i) ? changed(r, tag, payload) : payload);
    out.push(section);
    if (which.has(i) && r.chance(0.05)) out.push(section);
  });
  return new Uint8Array(Buffer.concat(out));
}
