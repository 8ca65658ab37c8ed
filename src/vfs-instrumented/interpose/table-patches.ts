/** The function table of one engine: trampolines stand in some of its slots, and what the app had put there is kept. */
import { MAX_CELLS } from './engine-block.ts';
import { hasType } from './link-probe.ts';
import { tableGet, tableSet, type WasmFunction } from './natives.ts';
import type { Trampoline } from './trampolines.ts';
import type { Signature } from './wasm-writer.ts';

/** A slot that is to have a trampoline; its cell is where it stands in the list of all that there ever were. */
export type Wanted = Omit<Trampoline, 'cell'>;
interface Patch extends Trampoline {
  readonly replacement: WasmFunction;
}

export class TablePatches {
  private readonly patches = new Map<number, Patch>();
  private readonly cells: Wanted[] = [];

  /** @param make a function per trampoline, of its slot's own type, in order */
  constructor(
    private readonly table: WebAssembly.Table,
    private readonly make: (list: readonly Trampoline[]) => readonly WasmFunction[],
  ) {}

  /** What is wanted of the functions in the table, as they are now. */
  wanted(of: (slot: number, fn: WasmFunction) => Wanted | null): Wanted[] {
    const found: Wanted[] = [];
    for (let slot = 1; slot < this.table.length; slot++) {
      const fn = tableGet(this.table, slot);
      const one = fn && of(slot, fn);
      if (one) found.push(one);
    }
    return found;
  }

  /** @throws RangeError when there is no cell left; else whatever `make` throws: the table is as it was */
  add(wanted: readonly Wanted[]): void {
    if (!wanted.length) return;
    if (this.cells.length + wanted.length > MAX_CELLS)
      throw new RangeError(`more than ${MAX_CELLS} functions traced in one engine`);
    const list = wanted.map((t, i) => ({ ...t, cell: this.cells.length + i }));
    const made = this.make(list);
    list.forEach((t, i) => {
      this.cells.push(t);
      this.patches.set(t.slot, { ...t, replacement: made[i]! });
      tableSet(this.table, t.slot, made[i]!);
    });
  }

  at(slot: number): Patch | undefined {
    return this.patches.get(slot);
  }
  /** Slot of a trampoline, by its cell; its slot may have been given back since. */
  slotOf(cell: number): number {
    return this.cells[cell]!.slot;
  }

  /** The app's own function in a slot; null where none can be. */
  functionAt(slot: number): WasmFunction | null {
    if (slot === 0 || slot >= this.table.length) return null;
    return this.patches.get(slot)?.original ?? tableGet(this.table, slot);
  }
  has(slot: number, signature: Signature): boolean {
    const fn = this.functionAt(slot);
    return fn !== null && hasType(fn, signature);
  }

  /** The app has put something else there. */
  forget(slot: number): void {
    this.patches.delete(slot);
  }
  /** @returns whether the trampoline of that cell stood in its slot until now */
  giveBack(cell: number): boolean {
    const slot = this.slotOf(cell);
    const patch = this.patches.get(slot);
    if (patch?.cell !== cell) return false;
    tableSet(this.table, slot, patch.original);
    this.patches.delete(slot);
    return true;
  }
  /** Every slot as the app had it. Calls under way end in their trampolines, which go on to pass them through. */
  restore(): void {
    for (const patch of this.patches.values())
      if (tableGet(this.table, patch.slot) === patch.replacement)
        tableSet(this.table, patch.slot, patch.original);
    this.patches.clear();
  }
}
