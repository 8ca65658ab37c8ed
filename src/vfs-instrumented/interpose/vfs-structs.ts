/**
 * Finds the VFSs in one engine's memory: which structs are sqlite3_io_methods and sqlite3_vfs, and
 * so which slots of the function table hold their methods. Newly found methods get their
 * trampolines here.
 */
import { Op } from '../../event/event.ts';
import type { Recorder } from '../../record/recorder.ts';
import { Block, MAX_CELLS } from './engine-block.ts';
import {
  IO_METHODS,
  IO_METHODS_WORDS,
  READ_WRITE,
  VFS_METHODS,
  VFS_ZNAME_WORD,
  type EngineMemory,
  type Method,
} from './io-methods.ts';
import { hasType } from './link-probe.ts';
import type { TablePatches, Wanted } from './table-patches.ts';
import type { Role } from './trampolines.ts';

/** Maximum cached io_methods contents. Engines have two or three. */
const MAX_LEARNED = 32;

export class VfsStructs {
  /** io_methods by address: its words when last read. */
  private readonly structs = new Map<number, Uint32Array>();
  /**
   * The io_methods contents that are already traced. Some engines allocate one per file. Valid
   * until `tableAge` goes up.
   */
  private learned: Uint32Array[] = [];
  /** sqlite3_vfs by address: its name. */
  private readonly vfsNames = new Map<number, string>();
  /**
   * sqlite3_vfs by address: the slots of its own methods when last read, and the table's age at
   * that time.
   */
  private readonly vfsSlots = new Map<
    number,
    { readonly slots: readonly number[]; readonly tableAge: number }
  >();
  /** Number of `tableChanged` calls. */
  private tableAge = 0;
  private readonly saidAmbiguous = new Set<number>();

  /** @param block byte address of the engine's block in the trace memory */
  constructor(
    private readonly recorder: Recorder,
    private readonly memory: EngineMemory,
    private readonly slots: TablePatches,
    private readonly block: number,
  ) {}

  /**
   * Is this an sqlite3_io_methods? If so, trace its methods. Read again at every xOpen, because
   * some VFSs change theirs in place.
   */
  learn(pMethods: number): boolean {
    const { memory } = this;
    const version = memory.word(pMethods);
    if (!pMethods || version < 1 || version > 3) return false;
    const first = pMethods >>> 2;
    const length = IO_METHODS_WORDS[version as 1 | 2 | 3];
    const known = this.alreadyLearned(memory.words(), first, length);
    if (known) {
      this.structs.set(pMethods, known);
      return true;
    }
    const words = memory.words().slice(first, first + length);
    if (
      !words[1] ||
      !words[5] ||
      !words[6] ||
      !this.slots.has(words[2] ?? 0, READ_WRITE) ||
      !this.slots.has(words[3] ?? 0, READ_WRITE)
    )
      return false;
    this.structs.set(pMethods, words);
    this.trace(
      IO_METHODS.filter((m) => words[m.word]),
      (m) => words[m.word]!,
      'io',
    );
    if (this.learned.length < MAX_LEARNED) this.learned.push(words);
    return true;
  }

  private alreadyLearned(words: Uint32Array, first: number, length: number): Uint32Array | null {
    for (const slots of this.learned) {
      if (slots.length !== length) continue;
      let same = 0;
      while (same < length && words[first + same] === slots[same]) same++;
      if (same === length) return slots;
    }
    return null;
  }

  /** A slot that may hold a method isn't ours any more, so everything learned before is invalid. */
  tableChanged(): void {
    this.tableAge++;
    this.learned = [];
  }

  private trace(methods: readonly Method[], slotOf: (m: Method) => number, role: Role): void {
    const wanted: Wanted[] = [];
    const transfers: [number, number][] = [];
    for (const m of methods) {
      const slot = slotOf(m);
      const isTransfer = m.params === READ_WRITE.params;
      if (isTransfer) transfers.push([slot, m.op]);
      const before = this.slots.at(slot) ?? wanted.find((t) => t.slot === slot);
      if (before && (before.role !== 'open' || m.op !== Op.xShmMap)) {
        if (!isTransfer && before.op !== m.op) this.ambiguous(slot, before.op, m.op);
        continue;
      }
      const original = this.slots.functionAt(slot);
      if (!original || !hasType(original, m)) continue;
      wanted.push({
        slot,
        signature: m,
        role: isTransfer ? 'transfer' : role,
        op: isTransfer ? 0 : m.op,
        original,
      });
    }
    this.slots.add(wanted);
    const ops = new Uint8Array(this.recorder.memory.buffer, this.block + Block.ops, MAX_CELLS);
    for (const [slot, op] of transfers) {
      const patch = this.slots.at(slot);
      if (!patch) continue;
      if (ops[patch.cell] && ops[patch.cell] !== op) this.ambiguous(slot, ops[patch.cell]!, op);
      else ops[patch.cell] = op;
    }
  }

  /** Two methods share a function, so a call of it can't be attributed. */
  private ambiguous(slot: number, a: number, b: number): void {
    if (this.saidAmbiguous.has(slot)) return;
    this.saidAmbiguous.add(slot);
    this.recorder.note(
      'engine',
      `Operations ${a} and ${b} share one function: its calls are counted as the first.`,
    );
  }

  /**
   * The name of a sqlite3_vfs, or null when the struct can't be one. Traces its xDelete and
   * xAccess.
   */
  adoptVfs(pVfs: number): string | null {
    const { memory } = this;
    const at = (word: number): number => memory.word(pVfs + word * 4);
    const known = this.vfsNames.get(pVfs);
    if (known === undefined) {
      const [version, fileBytes, maxPath] = [at(0), at(1), at(2)];
      if (
        version < 1 ||
        version > 4 ||
        fileBytes < 4 ||
        fileBytes > 1 << 20 ||
        maxPath < 8 ||
        maxPath > 1 << 20
      )
        return null;
      if (VFS_METHODS.some((m) => at(m.word) !== 0 && !this.slots.has(at(m.word), m))) return null;
    }
    const name = known ?? memory.cString(at(VFS_ZNAME_WORD), 256) ?? '';
    this.vfsNames.set(pVfs, name);
    const { tableAge } = this;
    const before = this.vfsSlots.get(pVfs);
    if (
      before?.tableAge === tableAge &&
      VFS_METHODS.every((m, i) => before.slots[i] === at(m.word))
    )
      return name;
    this.vfsSlots.set(pVfs, { slots: VFS_METHODS.map((m) => at(m.word)), tableAge });
    const fresh = VFS_METHODS.filter((m) => at(m.word) && !this.slots.at(at(m.word)));
    if (fresh.length) this.trace(fresh, (m) => at(m.word), 'name');
    return name;
  }

  /** Slots of a learned io_methods, from its version on. */
  methodsAt(pMethods: number): Uint32Array | undefined {
    return this.structs.get(pMethods);
  }
  /** Name of a known sqlite3_vfs. */
  nameOf(pVfs: number): string | undefined {
    return this.vfsNames.get(pVfs);
  }
}
