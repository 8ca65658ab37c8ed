/**
 * What a VFS reads over HTTP while SQLite waits for it: synchronous XMLHttpRequests (sql.js-httpvfs). While a VFS that suspends awaits
 * fetch, the app's own code runs too, and makes requests that look the same: fetch is not recorded.
 */
import { Op } from '../event/event.ts';
import { NOTHING } from '../record/recorder.ts';
import { apply, getterOf, textOf } from '../record/reflect.ts';
import type { ProbeContext } from './context.ts';
import { valueBytes } from './value-size.ts';

/** Record the synchronous requests that SQL and VFS calls of this thread make, until the context's patches are restored. length = bytes. */
export function installHttp(context: ProbeContext): void {
  const { recorder } = context;
  const xhr = context.proto('XMLHttpRequest');
  if (!xhr) return;
  /** Address of each that is opened to be synchronous. */
  const synchronous = new WeakMap<object, string>();
  context.record<object>(xhr, 'open', {
    begin: () => NOTHING,
    end(_, __, self, args) {
      if (args.length > 2 && !args[2]) synchronous.set(self, textOf(args[1]));
      else synchronous.delete(self);
    },
  });
  const responseOf = getterOf(xhr, 'response');
  context.record<object>(xhr, 'send', {
    begin(self) {
      const url = recorder.current ? synchronous.get(self) : undefined;
      if (url === undefined) return NOTHING;
      const name = url.replace(/(^data:|[?#]).*/s, '').replace(/\/\/[^/]*@/, '//'); // a secret may stand there
      return recorder.begin(Op.httpXhr, context.textId('name', name), NaN, 0);
    },
    end(token, _, self) {
      if (token === NOTHING) return;
      const response = apply(responseOf, self, []);
      recorder.end(
        token,
        0,
        0,
        typeof response === 'string' ? response.length : valueBytes(response),
      );
    },
  });
}
