/**
 * What a module was given to import, read without running any code: Emscripten's dynamic linking imports Proxies whose `get` makes an
 * entry for every name that is asked for, and then tries to resolve them all.
 */
import { dataProperty } from '../record/reflect.ts';

/** The values of all import modules, as far as they are plain data properties. */
export function importedValues(imports: unknown): unknown[] {
  return dataValues(imports).flatMap(dataValues);
}

function dataValues(object: unknown): unknown[] {
  if (typeof object !== 'object' || object === null) return [];
  return Reflect.ownKeys(object).map((key) => dataProperty(object, key));
}
