/**
 * Turns published builds into unpublished ones: other export names, a private table, a shared
 * memory, other strings.
 */
import {
  leb,
  section,
  text,
  vector,
  type Bytes,
} from '../../../src/vfs-instrumented/interpose/wasm-writer.ts';

interface ExportEntry {
  name: string;
  /** 0 function, 1 table, 2 memory, 3 global */
  kind: number;
  index: number;
}
type Sections = { id: number; content: Uint8Array }[];

class Reader {
  at = 0;
  constructor(readonly bytes: Uint8Array) {}
  leb(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const low = this.bytes[this.at++]!;
      value += (low & 127) * 2 ** shift;
      if (low < 128) return value;
    }
  }
  take(n: number): Uint8Array {
    return this.bytes.subarray(this.at, (this.at += n));
  }
}

function split(bytes: Uint8Array): Sections {
  const r = new Reader(bytes);
  r.at = 8;
  const sections: Sections = [];
  while (r.at < bytes.length) {
    const id = r.take(1)[0]!;
    sections.push({ id, content: r.take(r.leb()) });
  }
  return sections;
}
const join = (sections: Sections): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    Buffer.concat([
      Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
      ...sections.map((s) =>
        Buffer.concat([Buffer.from([s.id, ...leb(s.content.length)]), s.content]),
      ),
    ]),
  );

const change = (
  bytes: Uint8Array,
  id: number,
  make: (content: Uint8Array) => Uint8Array,
): Uint8Array<ArrayBuffer> =>
  join(split(bytes).map((s) => (s.id === id ? { id, content: make(s.content) } : s)));

function entriesOf(content: Uint8Array): ExportEntry[] {
  const r = new Reader(content);
  return Array.from({ length: r.leb() }, () => {
    const name = Buffer.from(r.take(r.leb())).toString();
    return { name, kind: r.take(1)[0]!, index: r.leb() };
  });
}

export const exportsOf = (bytes: Uint8Array): ExportEntry[] =>
  entriesOf(split(bytes).find((s) => s.id === 7)!.content);

/** @param rename the new name of an export; null drops it */
export const renameExports = (
  bytes: Uint8Array,
  rename: (e: ExportEntry) => string | null,
): Uint8Array<ArrayBuffer> =>
  change(bytes, 7, (content) => {
    const kept = entriesOf(content).flatMap((e): Bytes[] => {
      const name = rename(e);
      return name === null ? [] : [[...text(name), e.kind, ...leb(e.index)]];
    });
    return Uint8Array.from(vector(kept));
  });

/** The build's own memory, shared between threads. @param maximum pages */
export const shareMemory = (bytes: Uint8Array, maximum: number): Uint8Array<ArrayBuffer> =>
  change(bytes, 5, (content) => {
    const r = new Reader(content);
    r.at = 2; // one memory, its flags
    return Uint8Array.from([1, 3, ...leb(r.leb()), ...leb(maximum)]);
  });

/** @param to as long as `from` @throws if `from` doesn't occur */
export function replaceText(bytes: Uint8Array, from: string, to: string): Uint8Array<ArrayBuffer> {
  const out = Buffer.from(bytes);
  if (out.indexOf(from) < 0 || from.length !== to.length)
    throw new Error(`cannot replace "${from}" by "${to}"`);
  for (let at = out.indexOf(from); at >= 0; at = out.indexOf(from, at + 1))
    out.write(to, at, 'latin1');
  return new Uint8Array(out);
}

/** A module with a 64-bit memory, exported as `m`, that holds SQLite's header, and an exported empty table `t`. */
export const memory64Module = (): Uint8Array<ArrayBuffer> => {
  const header = [...Buffer.from('..SQLite format 3\0')];
  return join([
    { id: 4, content: Uint8Array.from([1, 0x70, 0, 4]) },
    { id: 5, content: Uint8Array.from([1, 4, 1]) },
    {
      id: 7,
      content: Uint8Array.from(
        vector([
          [...text('m'), 2, 0],
          [...text('t'), 1, 0],
        ]),
      ),
    },
    { id: 11, content: Uint8Array.from([1, 0, 0x42, 8, 0x0b, ...vector(header.map((b) => [b]))]) },
  ]);
};

/** A module that exports functions of these names, and does nothing. */
export const moduleWith = (names: readonly string[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector([[0x60, 0, 0]])),
    ...section(3, vector([[0]])),
    ...section(7, vector(names.map((name) => [...text(name), 0, 0]))),
    ...section(10, vector([[2, 0, 0x0b]])),
  ]);

/** A module with a memory that exports functions of these names, all of which never return. */
export const hangingModule = (names: readonly string[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector([[0x60, 0, 0]])),
    ...section(3, vector([[0]])),
    ...section(5, vector([[0, 1]])),
    ...section(
      7,
      vector([[...text('memory'), 2, 0], ...names.map((name) => [...text(name), 0, 0])]),
    ),
    ...section(10, vector([[7, 0, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b]])), // loop br 0 end end
  ]);
