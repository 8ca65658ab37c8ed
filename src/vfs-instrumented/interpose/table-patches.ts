/**
 * The function table of one engine: puts trampolines into some of its slots and saves the app's
 * functions.
 */
import { MAX_CELLS } from './engine-block.ts';
import { hasType } from './link-probe.ts';
import { tableGet, tableSet, type WasmFunction } from './natives.ts';
import type { Trampoline } from './trampolines.ts';
import type { Signature } from './wasm-writer.ts';

/**
 * A slot to put a trampoline into. Its cell is its index in the list of all trampolines ever made.
 */
export type Wanted = Omit<Trampoline, 'cell'>;
interface Patch extends Trampoline {
  readonly replacement: WasmFunction;
}

export class TablePatches {
  private readonly patches = new Map<number, Patch>();
  private readonly cells: Wanted[] = [];

  /** @param make returns a function per trampoline, of its slot's own type, in order */
  constructor(
    private readonly table: WebAssembly.Table,
    private readonly make: (list: readonly Trampoline[]) => readonly WasmFunction[],
  ) {}

  /** The trampolines that functions in the table need now. */
  wanted(of: (slot: number, fn: WasmFunction) => Wanted | null): Wanted[] {
    const found: Wanted[] = [];
    for (let slot = 1; slot < this.table.length; slot++) {
      const fn = tableGet(this.table, slot);
      const one = fn && of(slot, fn);
      if (one) found.push(one);
    }
    return found;
  }

  /** @throws RangeError when no cell is left, and errors of `make`. The table is unchanged then */
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
  /** Slot of a trampoline, by its cell. The slot may have been given back since. */
  slotOf(cell: number): number {
    return this.cells[cell]!.slot;
  }

  /** The app's function in a slot; null where there can't be one. */
  functionAt(slot: number): WasmFunction | null {
    if (slot === 0 || slot >= this.table.length) return null;
    return this.patches.get(slot)?.original ?? tableGet(this.table, slot);
  }
  has(slot: number, signature: Signature): boolean {
    const fn = this.functionAt(slot);
    return fn !== null && hasType(fn, signature);
  }

  /** The app has stored another function there. */
  forget(slot: number): void {
    this.patches.delete(slot);
  }
  /** @returns whether the trampoline of that cell was in its slot until now */
  giveBack(cell: number): boolean {
    const slot = this.slotOf(cell);
    const patch = this.patches.get(slot);
    if (patch?.cell !== cell) return false;
    tableSet(this.table, slot, patch.original);
    this.patches.delete(slot);
    return true;
  }
  /** Restores every slot. Pending calls end in their trampolines, which still pass them through. */
  restore(): void {
    for (const patch of this.patches.values())
      if (tableGet(this.table, patch.slot) === patch.replacement)
        tableSet(this.table, patch.slot, patch.original);
    this.patches.clear();
  }
}
