/**
 * Undo steps for what a recording has changed in a realm, run last first. Each step is independent,
 * because the app can freeze an object meanwhile, and everything else must still be restored.
 */
import { dataProperty } from './reflect.ts';

/** `Storage.getItem`, from plain data properties: no code of the app runs. */
function nameOf(owner: object, key: PropertyKey): string {
  const tag: unknown = dataProperty(owner, Symbol.toStringTag) ?? dataProperty(owner, 'name');
  return typeof tag === 'string' && tag ? `${tag}.${String(key)}` : String(key);
}

export class Undo {
  private readonly steps: { owner: object; key: PropertyKey; step: () => void }[] = [];

  /** `step` undoes what was done to `owner[key]`. It throws if that isn't possible any more. */
  add(owner: object, key: PropertyKey, step: () => void): void {
    this.steps.push({ owner, key, step });
  }

  /** @returns names of the properties that couldn't be restored */
  run(): string[] {
    const left: string[] = [];
    for (let last = this.steps.pop(); last; last = this.steps.pop())
      try {
        last.step();
      } catch {
        left.push(nameOf(last.owner, last.key)); // reported in a note, by name
      }
    return left;
  }
}
