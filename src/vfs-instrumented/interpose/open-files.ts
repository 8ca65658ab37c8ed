/**
 * The table of open files that trampolines search: which sqlite3_file is which file. Written here
 * and read by wasm (open addressing, linear probing). A file is in it from its xOpen to its xClose,
 * so a pointer identifies a file only during that time.
 */
import { Block, FILE_ENTRIES, FileEntry, HASH, HASH_SHIFT } from './engine-block.ts';

interface Entry {
  file: number;
  pMethods: number;
  object: number;
  flags: number;
}

/**
 * Above this, probing gets slow. Pointers that aren't files are dropped first; then files go to
 * `spill`.
 */
const FULL = Math.floor(FILE_ENTRIES * 0.75);

export class OpenFiles {
  private readonly u32: Uint32Array;
  private readonly base: number;
  private readonly scratch: number;
  private count = 0;
  /** Files that didn't fit. `discover` finds them at each call, which is slower but correct. */
  private readonly spill = new Map<number, Entry>();

  /** @param blockAt byte address of the engine's block in `memory` */
  constructor(memory: WebAssembly.Memory, blockAt: number) {
    this.u32 = new Uint32Array(memory.buffer);
    this.base = blockAt + Block.files;
    this.scratch = blockAt + 16;
  }

  private at(index: number): number {
    return (this.base + index * FileEntry.bytes) >>> 2;
  }
  private static home(file: number): number {
    return Math.imul(file, HASH) >>> HASH_SHIFT;
  }

  private write(word: number, e: Entry): number {
    this.u32[word] = e.file;
    this.u32[word + 1] = e.pMethods;
    this.u32[word + 2] = e.object;
    this.u32[word + 3] = e.flags;
    return word << 2;
  }

  /** @returns the index of the file's entry, or of the free entry for it */
  private probe(file: number): number {
    let i = OpenFiles.home(file);
    for (;;) {
      const key = this.u32[this.at(i)]!;
      if (key === 0 || key === file) return i;
      i = (i + 1) % FILE_ENTRIES;
    }
  }

  /**
   * Sets what a sqlite3_file is from now on.
   * @param object id of its definition; 0 = not a file, don't ask again while its pMethods stay the
   * same
   * @param flags as in FileEntry
   * @returns byte address of the entry
   */
  insert(file: number, pMethods: number, object: number, flags: number): number {
    const entry = { file, pMethods, object, flags };
    if (this.count >= FULL && this.u32[this.at(this.probe(file))] !== file) this.forgetStrangers();
    const word = this.at(this.probe(file));
    if (this.u32[word] !== file) {
      if (this.count >= FULL) {
        this.spill.set(file, entry);
        return this.write(this.scratch >>> 2, entry);
      }
      this.count++;
    }
    this.spill.delete(file);
    return this.write(word, entry);
  }

  /** Change the flags of a known file. @param keep bits that don't change */
  setFlags(file: number, keep: number, bits: number): void {
    const spilled = this.spill.get(file);
    if (spilled) spilled.flags = (spilled.flags & keep) | bits;
    const word = this.at(this.probe(file));
    if (this.u32[word] === file) this.u32[word + 3] = (this.u32[word + 3]! & keep) | bits;
  }

  /** The entry of a file that didn't fit in the table: its byte address, or 0. */
  spilled(file: number, pMethods: number): number {
    const entry = this.spill.get(file);
    return entry && entry.pMethods === pMethods ? this.write(this.scratch >>> 2, entry) : 0;
  }

  remove(file: number): void {
    this.spill.delete(file);
    let hole = this.probe(file);
    if (this.u32[this.at(hole)] !== file) return;
    this.count--;
    // close the gap: move back every later entry of the run that may lie at the hole
    for (let i = (hole + 1) % FILE_ENTRIES; ; i = (i + 1) % FILE_ENTRIES) {
      const word = this.at(i);
      const key = this.u32[word]!;
      if (key === 0) break;
      const home = OpenFiles.home(key);
      if ((i - home + FILE_ENTRIES) % FILE_ENTRIES < (i - hole + FILE_ENTRIES) % FILE_ENTRIES)
        continue;
      this.u32.copyWithin(this.at(hole), word, word + FileEntry.bytes / 4);
      hole = i;
    }
    this.u32.fill(0, this.at(hole), this.at(hole) + FileEntry.bytes / 4);
  }

  private forgetStrangers(): void {
    const kept: Entry[] = [];
    for (let i = 0; i < FILE_ENTRIES; i++) {
      const [file, pMethods, object, flags] = this.u32.subarray(
        this.at(i),
        this.at(i) + 4,
      ) as unknown as [number, number, number, number];
      if (file && object) kept.push({ file, pMethods, object, flags });
    }
    this.u32.fill(0, this.at(0), this.at(FILE_ENTRIES));
    this.count = kept.length;
    for (const e of kept) this.write(this.at(this.probe(e.file)), e);
  }
}
