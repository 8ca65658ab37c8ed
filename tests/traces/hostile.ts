// A trace whose page uses hostile text everywhere: markup, terminal escapes, formulas,
// text-direction overrides, and as many characters as fit.
import type { TraceStore } from '../../src/trace/store.ts';
import { ThreadBuilder, newStore } from './builder.ts';

/**
 * An unclosed override and isolate, NUL, terminal escapes, C1's CSI, line ends, markup, a formula,
 * Markdown.
 */
export const HOSTILE =
  "=cmd|' /C calc'!A0<img src=x onerror=\"window.hit=1\">\u202egnp.exe\u0000\u001b[2J\u001b]0;title\u0007\u009b2J\r\n\t`**x**`@name</script>--><!--\u2066end";
/**
 * What no trace may bring into a terminal or a line of our own text: controls except tab and line
 * end, and text-direction overrides.
 */
export const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const MANY = "x".repeat(65_536);

/** Names, SQL, errors, marks, engines, and notes of two threads. `rounds` statements on each. */
export function hostileStore(rounds = 60): TraceStore {
  const store = newStore();
  for (const [i, name] of [HOSTILE, `${HOSTILE}${MANY}`].entries()) {
    const t = new ThreadBuilder(store, { name, kind: i ? 'worker' : 'page', url: `https://evil.example/${name}` });
    t.say({
      ...{ kind: 'engine', id: 900, name: HOSTILE, sqliteVersion: HOSTILE, sourceId: HOSTILE, note: HOSTILE, suspension: 'none' },
      layers: { vfs: true, sql: true, counters: true },
    });
    t.say({ kind: 'note', id: 0, topic: 'engine', text: HOSTILE });
    const db = t.file(`/${HOSTILE}${i}`);
    const journal = t.file(`/${HOSTILE}${i}-journal`, 'journal', HOSTILE);
    const long = t.file(`/dir/${MANY}`);
    const insert = t.define({ kind: 'sql', text: `INSERT INTO "${HOSTILE}" VALUES (?)` });
    const select = t.define({ kind: 'sql', text: `SELECT 1 FROM "${MANY}"` });
    const blocks = t.define({ kind: 'idb-store', db: HOSTILE, store: HOSTILE });
    const lock = t.define({ kind: 'lock', text: HOSTILE });
    const mark = t.define({ kind: 'name', text: HOSTILE });
    const message = t.define({ kind: 'message', text: HOSTILE });
    t.say({ kind: 'stack', id: 901, of: insert, connection: 1, text: HOSTILE });
    for (let n = 0; n < rounds; n++) {
      const fields = { object: n % 20 === 7 ? select : insert, context: 1, aux: n + 1, result: n % 10 ? 101 : 5 };
      const seq = t.call('sqlStep', fields, () => {
        t.call('xLock', { object: db, context: 1, aux: 1 });
        t.call('xRead', { object: n % 9 ? db : long, context: 1, offset: 4096 * n, length: 4096, dur: 50, result: n % 7 ? 0 : 266 });
        t.call('idbGet', { object: blocks, offset: n, length: 4096, dur: 20 });
        t.call('xLock', { object: db, context: 1, aux: 2 });
        t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512, dur: 10 });
        t.call('xWrite', { object: db, context: 1, offset: 4096, length: 4096, dur: 10 });
        t.call('xSync', { object: db, context: 1, dur: 400 });
        t.call('xDelete', { object: journal, context: 1, dur: 10 });
        t.call('xUnlock', { object: db, context: 1, aux: 0 });
      });
      if (n === 0) t.say({ kind: 'values', id: 902, of: seq, values: [HOSTILE, MANY] });
      if (n % 20) continue;
      t.call('lockHeld', { object: lock, dur: 50 });
      t.call('mark', { object: mark });
      t.call('error', { object: message });
    }
    t.send();
  }
  return store;
}
