// Files with valid checksums whose contents are much larger than the file: definitions, threads,
// and events that compress well.
import { gzipSync } from 'node:zlib';
import { Tag } from '../../src/trace/file/format.ts';
import { chunkBytes, headerBytes, jsonBytes, sectionBytes } from '../../src/trace/file/section.ts';

const header = (): Uint8Array => headerBytes({ originMs: 0, writer: '', savedAt: 0, origin: '', sanitized: false });
const thread = (index: number): Uint8Array =>
  sectionBytes(Tag.thread, jsonBytes({ index, id: `t${index}`, kind: 'worker', url: '', name: '', parent: null, timeOrigin: 0 }));
/** One list of definitions, `{...of(0)}` to `{...of(n - 1)}`. */
function definitions(n: number, of: (i: number) => object): Uint8Array {
  const list = Array.from({ length: n }, (_, i) => JSON.stringify(of(i)));
  const json = `{"thread":0,"definitions":[${list.join(',')}]}`;
  return sectionBytes(Tag.definitions, gzipSync(json, { level: 9 }));
}
const joined = (...parts: Uint8Array[]): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.concat(parts));
const repeated = (part: Uint8Array, times: number): Uint8Array[] => Array.from({ length: times }, () => part);

/**
 * Functions that create each file, by name. They run only when needed, because megabytes take
 * seconds to create.
 */
export const BOMBS: Readonly<Record<string, () => Uint8Array<ArrayBuffer>>> = {
  /** 60 lists of names that unpack to 60 MB each. */
  'lists of names': () => joined(header(), thread(0), ...repeated(definitions(950, (id) => ({ kind: 'name', id, text: 'a'.repeat(65_000) })), 60)),
  /** The same from many small definitions. */
  'small names': () => joined(header(), thread(0), ...repeated(definitions(1_000_000, () => ({ kind: 'name', id: 1, text: '' })), 24)),
  /** Invalid definitions. */
  'empty objects': () => joined(header(), thread(0), ...repeated(definitions(10_000_000, () => ({})), 4)),
  'SQLite engines': () =>
    joined(
      header(),
      thread(0),
      definitions(200_000, (id) => ({ kind: 'engine', id, name: 'x', sqliteVersion: null, sourceId: null, suspension: 'none', layers: {}, note: null })),
    ),
  /** 300 chunks whose columns are 10 MB of zeros. */
  'chunks of events': () => {
    const lanes = { thread: 0, count: 65_536, fromUs: 0, toUs: 1, lanes: [] };
    const chunk = sectionBytes(Tag.events, chunkBytes(lanes, gzipSync(new Uint8Array(10_000_000), { level: 9 })));
    return joined(header(), thread(0), ...repeated(chunk, 300));
  },
  /** Ends of calls that don't exist: 300 MB of zeros. */
  'late ends': () => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(0xffffffff, 4);
    return joined(header(), thread(0), sectionBytes(Tag.ends, Buffer.concat([head, gzipSync(new Uint8Array(300_000_000), { level: 9 })])));
  },
  /** Numbers where definitions should be. */
  numbers: () => joined(header(), thread(0), sectionBytes(Tag.definitions, gzipSync(`{"thread":0,"definitions":[${'0,'.repeat(20_000_000)}0]}`, { level: 9 }))),
  /** An object with many keys. */
  'object keys': () => {
    const keys = Array.from({ length: 4_000_000 }, (_, i) => `"${i.toString(36)}":0`).join(',');
    return joined(header(), thread(0), sectionBytes(Tag.definitions, gzipSync(`{"thread":0,"definitions":[{${keys}}]}`, { level: 1 })));
  },
  /** Statements that ran with empty values. */
  values: () =>
    joined(header(), thread(0), ...repeated(definitions(1000, (id) => ({ kind: 'values', id, of: 1, values: Array<string>(10_000).fill('') })), 3)),
  threads: () => joined(header(), ...Array.from({ length: 10_000 }, (_, i) => thread(i))),
};
