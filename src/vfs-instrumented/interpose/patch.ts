/**
 * The VFS layer of one engine: replaces function-table slots in place by trampolines and learns, while the engine runs, which
 * slots are VFS methods, which structs are io_methods and which pointers are files. The app's bytes stay as they are.
 */
import { Flag, Op } from '../../trace/event.ts';
import type { Recorder } from '../../trace/recorder.ts';
import { ENGINE_BLOCK_BYTES, Header } from '../../trace/ring-layout.ts';
import { bTreeReader } from './b-tree-reader.ts';
import { Block, HEADERS_SHIFT, HeadersOf, MAX_CELLS, PAGE_BITS_SHIFT, RECORD_FLAGS } from './engine-block.ts';
import { FileNames } from './file-names.ts';
import {
  EngineMemory,
  IO_METHODS,
  IO_METHODS_WORDS,
  READ_WRITE,
  VFS_METHODS,
  VFS_XOPEN_WORD,
  VFS_ZNAME_WORD,
  X_LOCK_WORD,
  X_OPEN,
  type Method,
} from './io-methods.ts';
import { hasType } from './link-probe.ts';
import { tableGet, tableSet, type WasmFunction } from './natives.ts';
import { OpenFiles } from './open-files.ts';
import { PathReader } from './paths.ts';
import { makePeek } from './peek.ts';
import { makeTrampolines, type Role, type Trampoline, type TrampolineHost } from './trampolines.ts';
import type { Signature } from './wasm-writer.ts';

export interface TracedTable {
  readonly memory: WebAssembly.Memory;
  readonly table: WebAssembly.Table;
  readonly asyncify: boolean;
  /** Say which pages belong to which table or index (b-tree-reader.ts): names of an app's own. Default false: database headers alone. */
  readonly structure?: boolean;
  /** Id of the engine's definition; asked for before the first file is defined. */
  readonly engine: () => number;
}

interface Patch extends Trampoline {
  readonly replacement: WasmFunction;
}
/** Contents of io_methods that are kept in mind; engines have two or three. */
const MAX_LEARNED = 32;

type Wanted = Omit<Trampoline, 'cell'>;

export class VfsTracer implements TrampolineHost {
  /** Byte address of the engine's block in the trace memory. */
  readonly block: number;
  readonly memory: EngineMemory;
  /** The thread's clock, as trampolines call it: performance.now itself, with nothing between. */
  readonly now: () => number;
  private readonly recorder: Recorder;
  private readonly target: TracedTable;
  private readonly files: OpenFiles;
  private readonly names: FileNames;
  private readonly paths: PathReader;
  readonly image: TrampolineHost['image'];
  private readonly peek: WasmFunction;
  private readonly patches = new Map<number, Patch>();
  private readonly cells: Wanted[] = [];
  /** io_methods by address: the words that were in it when last read. */
  private readonly structs = new Map<number, Uint32Array>();
  /** The contents of io_methods that are traced already: some engines allocate one a file. Good until `tableAge` goes up. */
  private learned: Uint32Array[] = [];
  /** sqlite3_vfs by address: its name. */
  private readonly vfsNames = new Map<number, string>();
  /** sqlite3_vfs by address: its own methods' slots when last looked at, and how the table was then. */
  private readonly vfsSlots = new Map<number, { readonly slots: readonly number[]; readonly tableAge: number }>();
  /** How often `tableChanged`. */
  private tableAge = 0;
  private readonly confirmedOpens = new Set<number>();
  private readonly saidAmbiguous = new Set<number>();

  /** @throws when there is no room for another engine, or its memory is not one of 32-bit pointers */
  constructor(recorder: Recorder, target: TracedTable) {
    this.recorder = recorder;
    this.now = recorder.now;
    this.target = target;
    this.memory = new EngineMemory(target.memory);
    this.paths = new PathReader(this.memory);
    this.peek = makePeek(target.memory);
    this.block = recorder.allocateEngineBlock(ENGINE_BLOCK_BYTES);
    if (!this.block) throw new RangeError(`more than ${recorder.layout.maxEngines} SQLite engines in one thread: this one is not traced`);
    this.files = new OpenFiles(recorder.memory, this.block);
    this.names = new FileNames(recorder, target.engine);
    this.image = bTreeReader(recorder, this.memory, (id) => this.names.databaseOf(id), this.block, target.structure === true);
    const clock = new Float64Array(recorder.memory.buffer, Header.lastClock, 1);
    clock[0] ||= recorder.now(); // a call that is not timed must not be dated 0
  }

  /** Trampolines into every slot that may be xRead, xWrite or xOpen. @returns how many of each; fewer than 2 transfers = no SQLite */
  install(): { transfers: number; opens: number } {
    const { table } = this.target;
    const wanted: Wanted[] = [];
    for (let slot = 1; slot < table.length; slot++) {
      const fn = tableGet(table, slot);
      const found = fn && this.candidate(slot, fn);
      if (found) wanted.push(found);
    }
    const transfers = wanted.filter((t) => t.role === 'transfer').length;
    if (transfers >= 2) this.patch(wanted);
    return { transfers, opens: wanted.length - transfers };
  }

  private candidate(slot: number, fn: WasmFunction): Wanted | null {
    if (hasType(fn, READ_WRITE)) return { slot, signature: READ_WRITE, role: 'transfer', op: 0, original: fn };
    if (hasType(fn, X_OPEN)) return { slot, signature: X_OPEN, role: 'open', op: Op.xOpen, original: fn };
    return null;
  }

  private patch(wanted: readonly Wanted[]): void {
    if (!wanted.length) return;
    if (this.cells.length + wanted.length > MAX_CELLS) throw new RangeError(`more than ${MAX_CELLS} functions traced in one engine`);
    const { recorder } = this;
    const list = wanted.map((t, i) => ({ ...t, cell: this.cells.length + i }));
    const pages = recorder.memory.buffer.byteLength / 65536;
    const made = makeTrampolines(list, {
      memory: recorder.memory,
      capacity: recorder.layout.capacity,
      shared: recorder.shared ? { initial: pages, maximum: pages } : null,
      block: this.block,
      asyncify: this.target.asyncify,
      peek: this.peek,
      host: this,
    });
    list.forEach((t, i) => {
      this.cells.push(t);
      this.patches.set(t.slot, { ...t, replacement: made[i]! });
      tableSet(this.target.table, t.slot, made[i]!);
    });
  }

  /** What the app put into a slot, if a trampoline stands there now. */
  originalAt(slot: number): WasmFunction | null {
    return this.patches.get(slot)?.original ?? null;
  }

  /** The app has set a slot: VFSs written in JavaScript add theirs late. */
  slotSet(slot: number, fn: WasmFunction | null): void {
    this.patches.delete(slot);
    this.tableChanged();
    if (!fn) return;
    const found = this.candidate(slot, fn);
    if (found) this.patch([found]);
  }

  /** Every slot as the app had it. Calls under way end in their trampolines, which go on to pass them through. */
  restore(): void {
    for (const patch of this.patches.values())
      if (tableGet(this.target.table, patch.slot) === patch.replacement) tableSet(this.target.table, patch.slot, patch.original);
    this.patches.clear();
  }

  // ---- learning ---------------------------------------------------------------------------------------------------------

  private functionAt(slot: number): WasmFunction | null {
    if (slot === 0 || slot >= this.target.table.length) return null;
    return this.patches.get(slot)?.original ?? tableGet(this.target.table, slot);
  }
  private slotHasType(slot: number, signature: Signature): boolean {
    const fn = this.functionAt(slot);
    return fn !== null && hasType(fn, signature);
  }

  /** Is this an sqlite3_io_methods? If so, trace what it names. Read anew at every xOpen: some VFSs change theirs in place. */
  private learn(pMethods: number): boolean {
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
    const slots = memory.words().slice(first, first + length);
    if (!slots[1] || !slots[5] || !slots[6] || !this.slotHasType(slots[2] ?? 0, READ_WRITE) || !this.slotHasType(slots[3] ?? 0, READ_WRITE))
      return false;
    this.structs.set(pMethods, slots);
    this.trace(
      IO_METHODS.filter((m) => slots[m.word]),
      (m) => slots[m.word]!,
      'io',
    );
    if (this.learned.length < MAX_LEARNED) this.learned.push(slots);
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

  /** A slot that may be a method's is not ours any more: nothing that was learned before holds. */
  private tableChanged(): void {
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
      const before = this.patches.get(slot) ?? wanted.find((t) => t.slot === slot);
      if (before && (before.role !== 'open' || m.op !== Op.xShmMap)) {
        if (!isTransfer && before.op !== m.op) this.ambiguous(slot, before.op, m.op);
        continue;
      }
      const original = this.functionAt(slot);
      if (!original || !hasType(original, m)) continue;
      wanted.push({ slot, signature: m, role: isTransfer ? 'transfer' : role, op: isTransfer ? 0 : m.op, original });
    }
    this.patch(wanted);
    const ops = new Uint8Array(this.recorder.memory.buffer, this.block + Block.ops, MAX_CELLS);
    for (const [slot, op] of transfers) {
      const patch = this.patches.get(slot);
      if (!patch) continue;
      if (ops[patch.cell] && ops[patch.cell] !== op) this.ambiguous(slot, ops[patch.cell]!, op);
      else ops[patch.cell] = op;
    }
  }

  /** Two methods behind one function: a call of it cannot be told apart. */
  private ambiguous(slot: number, a: number, b: number): void {
    if (this.saidAmbiguous.has(slot)) return;
    this.saidAmbiguous.add(slot);
    this.recorder.note('engine', `Two VFS methods share one function (operations ${a} and ${b}): its calls are counted as the first.`);
  }

  /** The name of a sqlite3_vfs, or null when the struct cannot be one. Traces its xDelete and xAccess. */
  private adoptVfs(pVfs: number): string | null {
    const { memory } = this;
    const at = (word: number): number => memory.word(pVfs + word * 4);
    const known = this.vfsNames.get(pVfs);
    if (known === undefined) {
      const [version, fileBytes, maxPath] = [at(0), at(1), at(2)];
      if (version < 1 || version > 4 || fileBytes < 4 || fileBytes > 1 << 20 || maxPath < 8 || maxPath > 1 << 20) return null;
      if (VFS_METHODS.some((m) => at(m.word) !== 0 && !this.slotHasType(at(m.word), m))) return null;
    }
    const name = known ?? memory.cString(at(VFS_ZNAME_WORD), 256) ?? '';
    this.vfsNames.set(pVfs, name);
    const { tableAge } = this;
    const before = this.vfsSlots.get(pVfs);
    if (before?.tableAge === tableAge && VFS_METHODS.every((m, i) => before.slots[i] === at(m.word))) return name;
    this.vfsSlots.set(pVfs, { slots: VFS_METHODS.map((m) => at(m.word)), tableAge });
    const fresh = VFS_METHODS.filter((m) => at(m.word) && !this.patches.has(at(m.word)));
    if (fresh.length) this.trace(fresh, (m) => at(m.word), 'name');
    return name;
  }

  // ---- called by trampolines --------------------------------------------------------------------------------------------

  pressure = (): void => {
    try {
      this.recorder.onPressure();
    } catch (error) {
      this.recorder.fault('drain', error);
    }
  };

  discover = (cell: number, file: number, pMethods: number): number => {
    try {
      const spilled = this.files.spilled(file, pMethods);
      if (spilled) return spilled;
      if (!this.learn(pMethods)) {
        this.files.insert(file, pMethods, 0, 0);
        return 0;
      }
      const named = this.structs.get(pMethods)!;
      if (!named.includes(this.cells[cell]!.slot)) return 0; // a function of the same type, on a pointer that happens to be a file
      if (named[X_LOCK_WORD] === 0) return this.files.insert(file, pMethods, this.names.memoryJournal(), Flag.memoryJournal << 8);
      return this.files.insert(file, pMethods, this.names.stranger(), 0);
    } catch (error) {
      this.recorder.fault('discover', error);
      return 0; // asked again at its next call
    }
  };

  opening = (cell: number, pVfs: number, zName: number, flags: number): number => {
    try {
      const vfs = this.memory.word(pVfs + VFS_XOPEN_WORD * 4) === this.cells[cell]!.slot ? this.adoptVfs(pVfs) : null;
      if (vfs === null) return 0;
      this.confirmedOpens.add(cell);
      return this.names.opened(this.paths.at(zName), vfs, flags);
    } catch (error) {
      this.recorder.fault('xOpen', error);
      return 0;
    }
  };

  opened = (file: number, _pVfs: number, object: number, _rc: number): void => {
    try {
      const pMethods = this.memory.word(file);
      if (pMethods && this.learn(pMethods)) this.files.insert(file, pMethods, object, this.names.headersOf(object) << HEADERS_SHIFT);
      else this.files.remove(file); // not opened: SQLite calls xClose only where pMethods is set
    } catch (error) {
      this.recorder.fault('xOpen', error);
    }
  };

  closed = (file: number): void => {
    try {
      this.files.remove(file);
    } catch (error) {
      this.recorder.fault('xClose', error);
    }
  };

  walHeader = (file: number, at: number): void => {
    try {
      const size = new DataView(this.memory.memory.buffer).getUint32(at + 8); // big-endian, as all of SQLite's formats
      const bits = 31 - Math.clz32(size);
      if (bits >= 9 && bits <= 16 && size === 1 << bits)
        this.files.setFlags(file, RECORD_FLAGS, (HeadersOf.wal | (bits << PAGE_BITS_SHIFT)) << HEADERS_SHIFT);
    } catch (error) {
      this.recorder.fault('WAL header', error);
    }
  };

  named = (_cell: number, pVfs: number, zName: number): number => {
    try {
      const vfs = this.vfsNames.get(pVfs);
      const path = vfs === undefined ? null : this.paths.at(zName);
      return path === null ? 0 : this.names.named(path, vfs!);
    } catch (error) {
      this.recorder.fault('xDelete or xAccess', error);
      return 0;
    }
  };

  giveBack = (cell: number): void => {
    try {
      const { slot } = this.cells[cell]!;
      const patch = this.patches.get(slot);
      if (!patch || patch.cell !== cell || this.confirmedOpens.has(cell)) return;
      tableSet(this.target.table, slot, patch.original);
      this.patches.delete(slot);
      this.tableChanged();
    } catch (error) {
      this.recorder.fault('giving a slot back', error);
    }
  };
}
