/**
 * The VFS layer of one engine: replaces function-table slots in place by trampolines. It learns,
 * while the engine runs, which slots are VFS methods, which structs are io_methods, and which
 * pointers are files. The app's bytes don't change.
 */
import { Flag, Op } from '../../event/event.ts';
import type { Recorder } from '../../record/recorder.ts';
import { Header } from '../../record/ring-layout.ts';
import { bTreeReader } from './b-tree-reader.ts';
import { HEADERS_SHIFT, HeadersOf, PAGE_BITS_SHIFT, RECORD_FLAGS } from './engine-block.ts';
import { FileNames } from './file-names.ts';
import { EngineMemory, READ_WRITE, VFS_XOPEN_WORD, X_LOCK_WORD, X_OPEN } from './io-methods.ts';
import { hasType } from './link-probe.ts';
import type { WasmFunction } from './natives.ts';
import { OpenFiles } from './open-files.ts';
import { PathReader } from './paths.ts';
import { makePeek } from './peek.ts';
import { TablePatches, type Wanted } from './table-patches.ts';
import { makeTrampolines, type Trampoline, type TrampolineHost } from './trampolines.ts';
import { VfsStructs } from './vfs-structs.ts';

interface TracedTable {
  readonly memory: WebAssembly.Memory;
  readonly table: WebAssembly.Table;
  readonly asyncify: boolean;
  /**
   * Record which pages belong to which table or index (b-tree-reader.ts), with the app's names for
   * these. Default false: only database headers.
   */
  readonly structure?: boolean;
  /** Id of the engine's definition, requested before the first file is defined. */
  readonly engine: () => number;
  /** As TrampolineHost.grew; absent: growth isn't watched. */
  readonly grew?: TrampolineHost['grew'];
}

export class VfsTracer implements TrampolineHost {
  /** Byte address of the engine's block in the trace memory. */
  readonly block: number;
  readonly memory: EngineMemory;
  /** The thread's clock, as trampolines call it: performance.now itself, without a wrapper. */
  readonly now: TrampolineHost['now'];
  private readonly recorder: Recorder;
  private readonly target: TracedTable;
  private readonly files: OpenFiles;
  private readonly names: FileNames;
  private readonly paths: PathReader;
  readonly image: TrampolineHost['image'];
  readonly grew: TrampolineHost['grew'];
  private readonly peek: WasmFunction;
  private readonly slots: TablePatches;
  private readonly structs: VfsStructs;
  private readonly asOpens = new Set<number>();

  /**
   * @throws when there is no space for another engine, or its memory doesn't use 32-bit pointers
   */
  constructor(recorder: Recorder, target: TracedTable) {
    this.recorder = recorder;
    this.now = recorder.now;
    this.target = target;
    this.memory = new EngineMemory(target.memory);
    this.paths = new PathReader(this.memory);
    this.peek = makePeek(target.memory);
    this.grew = target.grew;
    this.block = recorder.engineBlocks.allocate();
    if (!this.block)
      throw new RangeError(
        `more than ${recorder.layout.maxEngines} SQLite engines in one thread: this one is not traced`,
      );
    this.slots = new TablePatches(target.table, (list) => this.trampolines(list));
    this.structs = new VfsStructs(recorder, this.memory, this.slots, this.block);
    this.files = new OpenFiles(recorder.memory, this.block);
    this.names = new FileNames(recorder, target.engine);
    this.image = bTreeReader(
      recorder,
      this.memory,
      (id) => this.names.databaseOf(id),
      this.block,
      target.structure === true,
    );
    const clock = new Float64Array(recorder.memory.buffer, Header.lastClock, 1);
    clock[0] ||= recorder.now(); // an untimed call must not have the time 0
  }

  /**
   * Trampolines into every slot that may be xRead, xWrite or xOpen.
   * @returns how many of each; fewer than 2 transfers = no SQLite
   */
  install(): { transfers: number; opens: number } {
    const wanted = this.slots.wanted((slot, fn) => this.candidate(slot, fn));
    const transfers = wanted.filter((t) => t.role === 'transfer').length;
    if (transfers >= 2) this.slots.add(wanted);
    return { transfers, opens: wanted.length - transfers };
  }

  private candidate(slot: number, fn: WasmFunction): Wanted | null {
    if (hasType(fn, READ_WRITE))
      return { slot, signature: READ_WRITE, role: 'transfer', op: 0, original: fn };
    if (hasType(fn, X_OPEN))
      return { slot, signature: X_OPEN, role: 'open', op: Op.xOpen, original: fn };
    return null;
  }

  private trampolines(list: readonly Trampoline[]): WasmFunction[] {
    const { recorder } = this;
    const pages = recorder.memory.buffer.byteLength / 65536;
    return makeTrampolines(list, {
      memory: recorder.memory,
      capacity: recorder.layout.capacity,
      shared: recorder.shared ? { initial: pages, maximum: pages } : null,
      block: this.block,
      asyncify: this.target.asyncify,
      peek: this.peek,
      host: this,
    });
  }

  /** The app's function in a slot, if a trampoline is there now. */
  originalAt(slot: number): WasmFunction | null {
    return this.slots.at(slot)?.original ?? null;
  }

  /** The app has set a slot. VFSs written in JavaScript add theirs late. */
  slotSet(slot: number, fn: WasmFunction | null): void {
    this.slots.forget(slot);
    this.structs.tableChanged();
    const found = fn && this.candidate(slot, fn);
    if (found) this.slots.add([found]);
  }

  /** Restores every slot. Pending calls end in their trampolines, which still pass them through. */
  restore(): void {
    this.slots.restore();
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
      if (!this.structs.learn(pMethods)) {
        this.files.insert(file, pMethods, 0, 0);
        return 0;
      }
      const named = this.structs.methodsAt(pMethods)!;
      // another function with a file pointer
      if (!named.includes(this.slots.slotOf(cell))) return 0;
      if (named[X_LOCK_WORD] === 0)
        return this.files.insert(
          file,
          pMethods,
          this.names.memoryJournal(),
          Flag.memoryJournal << 8,
        );
      return this.files.insert(file, pMethods, this.names.stranger(), 0);
    } catch (error) {
      this.recorder.fault('discover', error);
      return 0; // checked again at its next call
    }
  };

  opening = (cell: number, pVfs: number, zName: number, flags: number): number => {
    try {
      const vfs =
        this.memory.word(pVfs + VFS_XOPEN_WORD * 4) === this.slots.slotOf(cell)
          ? this.structs.adoptVfs(pVfs)
          : null;
      if (vfs === null) return 0;
      this.asOpens.add(cell);
      return this.names.opened(this.paths.at(zName), vfs, flags);
    } catch (error) {
      this.recorder.fault('xOpen', error);
      return 0;
    }
  };

  opened = (file: number, _pVfs: number, object: number, _rc: number): void => {
    try {
      const pMethods = this.memory.word(file);
      if (pMethods && this.structs.learn(pMethods))
        this.files.insert(file, pMethods, object, this.names.headersOf(object) << HEADERS_SHIFT);
      else this.files.remove(file); // not opened: SQLite only calls xClose where pMethods is set
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
      // big-endian, as all of SQLite's formats
      const size = new DataView(this.memory.memory.buffer).getUint32(at + 8);
      const bits = 31 - Math.clz32(size);
      if (bits >= 9 && bits <= 16 && size === 1 << bits)
        this.files.setFlags(
          file,
          RECORD_FLAGS,
          (HeadersOf.wal | (bits << PAGE_BITS_SHIFT)) << HEADERS_SHIFT,
        );
    } catch (error) {
      this.recorder.fault('WAL header', error);
    }
  };

  named = (_cell: number, pVfs: number, zName: number): number => {
    try {
      const vfs = this.structs.nameOf(pVfs);
      const path = vfs === undefined ? null : this.paths.at(zName);
      return path === null ? 0 : this.names.named(path, vfs!);
    } catch (error) {
      this.recorder.fault('xDelete or xAccess', error);
      return 0;
    }
  };

  giveBack = (cell: number): void => {
    try {
      if (!this.asOpens.has(cell) && this.slots.giveBack(cell)) this.structs.tableChanged();
    } catch (error) {
      this.recorder.fault('giving a slot back', error);
    }
  };
}
