/**
 * What a flight recorder froze. Each part is a separate file next to the recording's copy, so it
 * survives a crash and the rest of the recording. If the disk is full, the part stays in memory.
 */
import { saveTrace } from '../../trace/file/write.ts';
import type { TraceStore } from '../../trace/store.ts';
import type { Frozen, FrozenPart } from '../../protocol/session.ts';
import { markSaved } from './spool-marks.ts';
import { DiskSpool, discardSpool, FROZEN, readSpool, type LanesOf } from './spool.ts';

/** Maximum parts of a recording, so that an app that fails all the time can't fill the disk. */
const MOST_PARTS = 8;
export class FrozenParts {
  /** In the order they were frozen. The last may still be being written. */
  readonly list: FrozenPart[] = [];
  private readonly inMemory = new Map<string, Blob>();

  get isFull(): boolean {
    return this.list.length >= MOST_PARTS;
  }

  /**
   * Store what the trace holds.
   * @param key, origin as for the recording's own copy
   * @param onProblem called if it is only in memory
   */
  async keep(
    frozen: Frozen,
    store: TraceStore,
    { key, origin, lanesOf }: { key: string; origin: string; lanesOf: LanesOf },
    onProblem: (text: string) => void,
  ): Promise<void> {
    const part: FrozenPart = { ...frozen, name: null, bytes: 0 };
    const number = this.list.push(part);
    try {
      const spool = await DiskSpool.create(store, key, origin, lanesOf, `${FROZEN}${number}`);
      try {
        await spool.finish();
        [part.name, part.bytes] = [spool.name, spool.bytes];
      } finally {
        await spool.close();
      }
    } catch (error) {
      const blob = await saveTrace(store, { origin });
      [part.name, part.bytes] = [`${FROZEN}${number}`, blob.size];
      this.inMemory.set(part.name, blob);
      onProblem(
        `A frozen part is only in memory: ${error instanceof Error ? error.message : String(error)}. Save it before you close the panel.`,
      );
    }
  }

  /** It is on disk. */
  onDisk(name: string): boolean {
    return this.list.some((part) => part.name === name) && !this.inMemory.has(name);
  }

  /** A part's file. @throws if it was deleted */
  async file(name: string): Promise<Blob> {
    return this.inMemory.get(name) ?? readSpool(name);
  }

  /** The file was offered to the user to save. */
  async saved(name: string): Promise<void> {
    if (!this.inMemory.has(name)) await markSaved(name);
  }

  /** Another recording starts: parts on disk stay there. */
  letGo(): void {
    this.list.length = 0;
    this.inMemory.clear();
  }
  /** One was deleted. */
  forget(name: string): void {
    const at = this.list.findIndex((part) => part.name === name);
    if (at >= 0) this.list.splice(at, 1);
  }

  /** Their recording was discarded: delete them. */
  async drop(): Promise<void> {
    for (const { name } of this.list.splice(0))
      if (name !== null && !this.inMemory.delete(name)) await discardSpool(name);
  }
}
