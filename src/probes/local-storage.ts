/**
 * localStorage by its methods. Not seen: named property access (localStorage.key = value), which
 * scripts can't observe. sessionStorage shares the prototype and is skipped.
 */
import { Op } from '../event/event.ts';
import { NOTHING } from '../record/recorder.ts';
import type { ProbeContext } from './context.ts';
import { apply, getterOf, numberOf, textOf } from '../record/reflect.ts';

const METHODS = [
  ['getItem', Op.localStorageGet],
  ['setItem', Op.localStorageSet],
  ['removeItem', Op.localStorageRemove],
  ['key', Op.localStorageKey],
  ['clear', Op.localStorageClear],
] as const;

/**
 * Record localStorage calls of this page until the context's patches are restored. length = bytes,
 * as UTF-16.
 */
export function installLocalStorage(context: ProbeContext): void {
  const { recorder, scope } = context;
  const localStorageOf = getterOf(scope, 'localStorage'); // the app may replace it
  for (const [name, op] of METHODS)
    context.record<Storage>(context.proto('Storage'), name, {
      begin(self, args) {
        if (self !== apply(localStorageOf, scope, [])) return NOTHING;
        const key =
          name === 'getItem' || name === 'setItem' || name === 'removeItem' ? textOf(args[0]) : '';
        const bytes = name === 'setItem' ? textOf(args[1]).length * 2 : 0;
        return recorder.begin(
          op,
          key === '' ? 0 : context.textId('storage-key', key),
          name === 'key' ? numberOf(args[0]) : NaN,
          bytes,
        );
      },
      end: (token, result) =>
        recorder.end(token, 0, 0, typeof result === 'string' ? result.length * 2 : undefined),
    });
}
