/**
 * The ways back of what a recording has changed in a realm, taken last first. Each step stands alone: the app can freeze an object in
 * the meantime, and everything else has to be restored anyway.
 */
import { dataProperty } from './reflect.ts';

/** `Storage.getItem`, from plain data properties: no code of the app runs. */
function nameOf(owner: object, key: PropertyKey): string {
  const tag: unknown = dataProperty(owner, Symbol.toStringTag) ?? dataProperty(owner, 'name');
  return typeof tag === 'string' && tag ? `${tag}.${String(key)}` : String(key);
}

export class Undo {
  private readonly steps: { owner: object; key: PropertyKey; step: () => void }[] = [];

  /** `step` takes back what was done to `owner[key]`; it throws where that is not possible any more. */
  add(owner: object, key: PropertyKey, step: () => void): void {
    this.steps.push({ owner, key, step });
  }

  /** @returns names of the properties that could not be put back */
  run(): string[] {
    const left: string[] = [];
    for (let last = this.steps.pop(); last; last = this.steps.pop())
      try {
        last.step();
      } catch {
        left.push(nameOf(last.owner, last.key)); // said in a note, by name
      }
    return left;
  }
}
