// The table of open files, as JavaScript fills it and trampolines look it up.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recorder } from '../../src/record/recorder.ts';
import {
  Block,
  FILE_ENTRIES,
  FileEntry,
  HASH,
  HASH_SHIFT,
} from '../../src/vfs-instrumented/interpose/engine-block.ts';
import { OpenFiles } from '../../src/vfs-instrumented/interpose/open-files.ts';

describe('the table of open files', () => {
  const setUp = (): { files: OpenFiles; find: (file: number, pMethods: number) => number } => {
    const recorder = new Recorder({ capacity: 2, maxEngines: 1 });
    const block = recorder.engineBlocks.allocate();
    const files = new OpenFiles(recorder.memory, block);
    const u32 = new Uint32Array(recorder.memory.buffer);
    /** Looks it up as the trampolines do. */
    const find = (file: number, pMethods: number): number => {
      for (
        let i = Math.imul(file, HASH) >>> HASH_SHIFT, n = 0;
        n <= FILE_ENTRIES;
        i = (i + 1) % FILE_ENTRIES, n++
      ) {
        const at = (block + Block.files + i * FileEntry.bytes) >>> 2;
        if (u32[at] === 0) break;
        if (u32[at] === file) {
          if (u32[at + 1] === pMethods) return u32[at + 2]!;
          break;
        }
        if (n === FILE_ENTRIES) throw new Error('no free entry is left: a look-up would never end');
      }
      const spilled = files.spilled(file, pMethods);
      return spilled ? u32[(spilled >>> 2) + 2]! : 0;
    };
    return { files, find };
  };

  it('is a map from file to id, whatever is opened and closed', () => {
    const step = fc.record({
      file: fc.integer({ min: 1, max: 700 }).map((n) => n * 8),
      id: fc.nat(5),
      close: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1500 }), (steps) => {
        const { files, find } = setUp();
        const model = new Map<number, number>();
        for (const { file, id, close } of steps) {
          if (close) {
            files.remove(file);
            model.delete(file);
          } else {
            files.insert(file, file + 4, id, 0);
            model.set(file, id);
          }
        }
        // id 0: no file, as for an unknown one
        for (const [file, id] of model) expect(find(file, file + 4)).toBe(id);
        for (let file = 8; file <= 5600; file += 8)
          if (!model.has(file)) expect(find(file, file + 4)).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('holds more files than its initial size', () => {
    const { files, find } = setUp();
    for (let i = 1; i <= 1000; i++) files.insert(i * 64, 4, i, 0);
    for (let i = 1; i <= 1000; i++) expect(find(i * 64, 4)).toBe(i);
    for (let i = 1; i <= 1000; i += 2) files.remove(i * 64);
    for (let i = 1; i <= 1000; i++) expect(find(i * 64, 4)).toBe(i % 2 ? 0 : i);
  });
});
