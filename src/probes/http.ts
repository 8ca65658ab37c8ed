/**
 * What a VFS reads over HTTP while SQLite waits: synchronous XMLHttpRequests (sql.js-httpvfs).
 * fetch isn't recorded: while a VFS that suspends awaits it, the app's own code also runs, and its
 * requests look the same.
 */
import { Op } from '../event/event.ts';
import { NOTHING } from '../record/recorder.ts';
import { apply, getterOf, textOf } from '../record/reflect.ts';
import type { ProbeContext } from './context.ts';
import { valueBytes } from './value-size.ts';

/**
 * Record the synchronous requests that SQL and VFS calls of this thread make, until the context's
 * patches are restored. length = bytes.
 */
export function installHttp(context: ProbeContext): void {
  const { recorder } = context;
  const xhr = context.proto('XMLHttpRequest');
  if (!xhr) return;
  /** Address of each request that is opened as synchronous. */
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
      // it may contain a secret
      const name = url.replace(/(^data:|[?#]).*/s, '').replace(/\/\/[^/]*@/, '//');
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
