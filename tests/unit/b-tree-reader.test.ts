// The hook's reader of pages that show a database's structure: what it reports, when, and its
// limits.
import { describe, expect, test } from 'vitest';
import { MOST_SAID, SAID_COST, type BTreeDefinition } from '../../src/event/b-tree-definitions.ts';
import { Recorder } from '../../src/record/recorder.ts';
import { bTreeReader } from '../../src/vfs-instrumented/interpose/b-tree-reader.ts';
import { EngineMemory } from '../../src/vfs-instrumented/interpose/io-methods.ts';
import { interior, SIZE } from '../traces/interior-page.ts';

describe('the reader in the hook', () => {
  const AT = 4096;
  /** A reader of database 7, whose WAL is 8. */
  function reader() {
    const recorder = new Recorder({ capacity: 64, maxEngines: 1 });
    const memory = new WebAssembly.Memory({ initial: 2 });
    const block = recorder.engineBlocks.allocate();
    const image = bTreeReader(
      recorder,
      new EngineMemory(memory),
      (id) => (id === 8 ? 7 : id),
      block,
      true,
    );
    const put = (bytes: Uint8Array): void => new Uint8Array(memory.buffer).set(bytes, AT);
    const said = (): BTreeDefinition[] => recorder.takeDefinitions() as BTreeDefinition[];
    const see = (page: number, bytes: Uint8Array, write = false): BTreeDefinition[] => {
      put(bytes);
      image(7, 0, AT, bytes.length, write ? 1 : 0, (page - 1) * bytes.length);
      return said();
    };
    const header = (frame: number, page: number): void =>
      image(8, page, AT, 24, 1, 32 + frame * (24 + SIZE));
    const body = (frame: number, bytes: Uint8Array, write = true): BTreeDefinition[] => {
      put(bytes);
      image(8, 0, AT, SIZE, write ? 1 : 0, 32 + frame * (24 + SIZE) + 24);
      return said();
    };
    const faults = (): number => recorder.faults;
    return { see, header, body, faults };
  }
  const database = (kids: readonly number[], cookie = 1): Uint8Array => {
    const bytes = interior(kids, 1);
    bytes.set(new TextEncoder().encode('SQLite format 3\0'));
    new DataView(bytes.buffer).setUint16(16, SIZE);
    new DataView(bytes.buffer).setUint32(40, cookie);
    return bytes;
  };

  test('reports a page once, and again when its children have changed', () => {
    const { see, faults } = reader();
    expect(see(3, interior([10, 11, 12], 3))).toEqual([
      { kind: 'b-tree-pages', id: 1, file: 7, at: 0, page: 3, children: [10, 11, 12] },
    ]);
    expect(see(3, interior([10, 11, 12], 3))).toEqual([]);
    expect(see(3, interior([10, 11, 12], 3), true)).toEqual([]);
    expect(see(3, interior([10, 11, 13, 12], 3))).toMatchObject([{ children: [10, 11, 13, 12] }]); // another thread wrote it
    expect(see(3, interior([10, 14, 13, 12], 3), true)).toMatchObject([
      { children: [10, 14, 13, 12] },
    ]); // its first words are unchanged
    expect(see(4, new Uint8Array(SIZE).fill(5))).toEqual([]);
    expect(faults()).toBe(0);
  });

  test('reports a page of a log, also if its image is written alone', () => {
    const { see, header, body } = reader();
    see(1, database([3, 4]));
    header(5, 9);
    expect(body(5, interior([20, 21], 9))).toMatchObject([
      { file: 7, page: 9, children: [20, 21] },
    ]);
    header(6, 10);
    expect(body(5, interior([20, 22, 21], 9))).toMatchObject([{ page: 9, children: [20, 22, 21] }]);
    expect(body(99, interior([5, 6], 9))).toEqual([]); // the header of this frame wasn't seen
    header(5, 3); // a leaf of the schema, then another page at its offset
    expect(body(5, interior([30, 31], 3))).toMatchObject([{ page: 3, children: [30, 31] }]);
  });

  test('reads no rows of a page that left the schema', () => {
    const { see } = reader();
    const leaf = new Uint8Array(SIZE);
    const row = [4, ...[23, 15, 15, 1], ...new TextEncoder().encode('tableaa'), 7];
    leaf.set([13, 0, 0, 0, 1, 0x03, 0xe0]);
    leaf.set([0x03, 0xe0], 8);
    leaf.set([row.length, 1, row.length - 8 + 1 - 1, ...row.slice(1)], 0x3e0);
    leaf[0x3e2] = 5;
    see(1, database([3, 4]));
    expect(see(3, leaf)).toMatchObject([
      { kind: 'b-tree-names', page: 3, roots: [7], names: ['a'], tables: [''] },
    ]);
    see(1, database([5, 4], 2), true);
    expect(see(3, leaf, true)).toEqual([]);
  });

  test('is bounded, and reports once that it stopped', () => {
    const { see } = reader();
    let last: BTreeDefinition[] = [];
    let count = 0;
    for (let page = 10; last[0]?.kind !== 'b-tree-end' && count < 1e5; page++, count++)
      last = see(page, interior([100_000 + page, 200_000 + page], page));
    expect(count).toBe(Math.ceil(MOST_SAID / (SAID_COST + 2)));
    expect(see(9, interior([4, 5], 9))).toEqual([]);
  });
});
