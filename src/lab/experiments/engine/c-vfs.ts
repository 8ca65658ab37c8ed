/**
 * A VFS that an engine has registered itself, such as sqlite.org's, as an object with the x*
 * methods of wa-sqlite's VFSs. So the same code counts, records, and replays it. `attach` puts
 * these methods between SQLite and the VFS.
 */
import { opName } from '../../../event/operations.ts';
import {
  EngineMemory,
  IO_METHODS,
  IO_METHODS_WORDS,
  VFS_METHODS,
  VFS_XOPEN_WORD,
  X_OPEN,
  type Method,
} from '../../../vfs-instrumented/interpose/io-methods.ts';
import { Rc } from '../../../sqlite/constants.ts';
import type { RawModule } from './plain-loader.ts';
import { rawAllocate, type RawEngine } from './raw-engine.ts';
import { addToTable, asWords, fromWords, type WasmCall } from './table-functions.ts';

type Words = (...args: number[]) => number;
/** The methods that every VFS has. Shared memory and mapped pages bypass us. */
const COUNTED = IO_METHODS.filter(({ word }) => word < IO_METHODS_WORDS[1]);

export class CVfs {
  /** Looked up at each call, so that overrides are called. */
  readonly methods: Record<string, unknown> = {};
  private readonly memory: EngineMemory;
  private readonly table: WebAssembly.Table;
  private readonly open: WasmCall;
  /** By address of a sqlite3_io_methods: the struct that SQLite calls instead, and vice versa. */
  private readonly laidOver = new Map<number, number>();
  private readonly originals = new Map<number, number>();
  private attached = false;

  private readonly engine: RawEngine;

  /** @param pVfs address of its sqlite3_vfs */
  constructor(
    module: RawModule,
    private readonly pVfs: number,
  ) {
    const engine = (this.engine = module.raw);
    if (!engine.table) throw new Error('it shows no function table');
    this.table = engine.table;
    this.memory = new EngineMemory(engine.memory);
    // a recorder expects these from a wa-sqlite VFS
    this.methods._module = module;
    this.methods.hasAsyncMethod = () => false;
    this.open = this.functionAt(this.word(VFS_XOPEN_WORD));
    this.methods.xOpen = (_: number, ...rest: number[]) => this.opened(rest);
    for (const method of VFS_METHODS) {
      const call = this.functionAt(this.word(method.word));
      this.methods[opName(method.op)] = (_: number, ...rest: number[]) =>
        Number(call(this.pVfs, ...rest));
    }
    for (const method of COUNTED)
      this.methods[opName(method.op)] = (file: number, ...rest: number[]) =>
        this.onFile(method, file, rest);
  }

  /** From now on SQLite calls the methods. Call it before a database is opened. */
  attach(): void {
    this.attached = true;
    const put = (word: number, signature: Pick<Method, 'params' | 'results'>, name: string): void =>
      this.setWord(this.pVfs + 4 * word, this.slotFor(signature, name));
    put(VFS_XOPEN_WORD, X_OPEN, 'xOpen');
    for (const method of VFS_METHODS) put(method.word, method, opName(method.op));
  }

  private opened(rest: number[]): number {
    const rc = Number(this.open(this.pVfs, ...rest));
    const file = rest[1]!;
    const methods = this.memory.word(file);
    if (this.attached && methods) this.setWord(file, this.over(methods));
    return rc;
  }

  private onFile(method: Method, file: number, rest: number[]): number {
    const at = this.memory.word(file);
    const original = this.originals.get(at) ?? at;
    const slot = original ? this.memory.word(original + 4 * method.word) : 0;
    if (!slot) return Rc.notFound;
    return Number(this.functionAt(slot)(...fromWords(method, [file, ...rest])));
  }

  /**
   * A copy of a sqlite3_io_methods that leads through the methods. Made again if a VFS has changed
   * its struct.
   */
  private over(original: number): number {
    const version = Math.min(this.memory.word(original), IO_METHODS_WORDS.length - 1);
    const words = IO_METHODS_WORDS[version as 1 | 2 | 3];
    let made = this.laidOver.get(original);
    if (made === undefined) {
      made = rawAllocate(this.engine, 4 * words);
      this.laidOver.set(original, made);
      this.originals.set(made, original);
      for (let word = 0; word < words; word++)
        this.setWord(made + 4 * word, this.memory.word(original + 4 * word));
      for (const method of COUNTED)
        if (this.memory.word(original + 4 * method.word))
          this.setWord(made + 4 * method.word, this.slotFor(method, opName(method.op)));
    }
    return made;
  }

  private readonly slots = new Map<string, number>();
  private slotFor(signature: Pick<Method, 'params' | 'results'>, name: string): number {
    let slot = this.slots.get(name);
    if (slot === undefined) {
      slot = addToTable(this.table, signature, (...args) =>
        (this.methods[name] as Words)(...asWords(signature, args)),
      );
      this.slots.set(name, slot);
    }
    return slot;
  }

  private readonly functions = new Map<number, WasmCall>();
  private functionAt(slot: number): WasmCall {
    let found = this.functions.get(slot);
    if (!found) this.functions.set(slot, (found = this.table.get(slot) as WasmCall));
    return found;
  }
  private word(word: number): number {
    return this.memory.word(this.pVfs + 4 * word);
  }
  private setWord(at: number, value: number): void {
    this.memory.words()[at >>> 2] = value;
  }
}
