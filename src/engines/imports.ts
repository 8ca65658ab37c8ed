/**
 * The imports of a module, read without running any code: Emscripten's dynamic linking imports
 * Proxies whose `get` adds an entry for every requested name, and then tries to resolve them all.
 */
import { dataProperty } from '../record/reflect.ts';

/** The values of all import modules that are plain data properties. */
export function importedValues(imports: unknown): unknown[] {
  return dataValues(imports).flatMap(dataValues);
}

function dataValues(object: unknown): unknown[] {
  if (typeof object !== 'object' || object === null) return [];
  return Reflect.ownKeys(object).map((key) => dataProperty(object, key));
}
