/**
 * What a VFS reads over HTTP while SQLite waits: a synchronous XMLHttpRequest (sql.js-httpvfs), and fetch in a build that can suspend.
 * Requests outside SQLite's calls are the app's own and not recorded.
 */
import { Op } from '../event/event.ts';
import { ownerOf } from '../record/patches.ts';
import type { PromiseWatch } from '../record/promise-watch.ts';
import { NOTHING, type Token } from '../record/recorder.ts';
import { apply, getterOf, textOf } from '../record/reflect.ts';
import type { ProbeContext } from './context.ts';
import { endingWith } from './end-with.ts';
import { valueBytes } from './value-size.ts';

/** Record the HTTP requests that SQL and VFS calls of this thread make, until the context's patches are restored. length = bytes. */
export function installHttp(context: ProbeContext, watch: PromiseWatch): void {
  const { recorder, scope } = context;
  const endWith = endingWith(recorder, watch, 'HTTP');
  const begin = (op: number, url: string): Token =>
    // what follows ? and # may be a secret
    recorder.begin(op, context.textId('name', url.replace(/[?#].*/s, '')), NaN, 0);

  const xhr = context.prototypeOf('XMLHttpRequest');
  /** Address of each that is opened to be synchronous. */
  const synchronous = new WeakMap<object, string>();
  context.record<object>(xhr, 'open', {
    begin: () => NOTHING,
    end(_, __, self, args) {
      if (args.length > 2 && !args[2]) synchronous.set(self, textOf(args[1]));
      else synchronous.delete(self);
    },
  });
  const responseOf = xhr && getterOf(xhr, 'response');
  context.record<object>(xhr, 'send', {
    begin(self) {
      const url = recorder.current ? synchronous.get(self) : undefined;
      return url === undefined ? NOTHING : begin(Op.httpXhr, url);
    },
    end(token, _, self) {
      if (token === NOTHING) return;
      const response = apply(responseOf!, self, []);
      const bytes = typeof response === 'string' ? response.length : valueBytes(response);
      recorder.end(token, 0, 0, bytes);
    },
  });

  /** Responses of SQLite's requests. */
  const responses = new WeakSet<object>();
  context.record(ownerOf(scope, 'fetch'), 'fetch', {
    begin: (_, [input]) => (recorder.current ? begin(Op.httpFetch, textOf(input)) : NOTHING),
    end(token, promise) {
      if (token !== NOTHING)
        endWith(token, promise, (response) => responses.add(response as object));
    },
  });
  for (const name of ['arrayBuffer', 'bytes', 'blob', 'text'])
    context.record<object>(context.prototypeOf('Response'), name, {
      begin: (self) => (responses.has(self) ? recorder.begin(Op.httpBody, 0, NaN, 0) : NOTHING),
      end(token, promise) {
        if (token === NOTHING) return;
        watch.watch(promise, (ok, value) => recorder.end(token, 0, 0, ok ? valueBytes(value) : 0));
      },
    });
}
