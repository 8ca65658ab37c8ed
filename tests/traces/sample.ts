// A small trace with some of everything. tests/traces/v1-sample.vfst is the file that version 1
// wrote for it.
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import { Flag } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { ThreadBuilder, newStore } from './builder.ts';

export function sampleStore(): TraceStore {
  const store = newStore();
  const page = new ThreadBuilder(store, { id: 'page', kind: 'page', url: 'https://app.example/' });
  page.say({
    ...{ kind: 'environment', id: 0, url: 'https://app.example/', threadKind: 'page', crossOriginIsolated: true },
    ...{ clockStepUs: 5, userAgent: 'Sample/1.0', hidden: false, capture: { ...CAPTURE_DEFAULTS, layers: ['sql', 'vfs', 'web'] } },
  });
  page.say({ kind: 'note', id: 0, topic: 'worker-native', text: 'a worker was started before recording', url: 'https://app.example/old.js' });
  const key = page.define({ kind: 'storage-key', text: 'settings' });
  page.call('localStorageSet', { object: key, length: 12 });
  page.call('visibility', { aux: 1, dur: 0 });
  page.send();

  const db = new ThreadBuilder(store, { id: 'db', name: 'db', parent: 'page' });
  db.say({ kind: 'cost', id: 0, nsPerJsEvent: 210, nsPerVfsEvent: 95.5, nsPerClockPair: 60 });
  db.define({
    ...{ kind: 'engine', name: 'wa-sqlite', sqliteVersion: '3.53.0', sourceId: null, suspension: 'asyncify' },
    ...{ layers: { vfs: true, sql: true, counters: true }, note: null },
  });
  const main = db.file('/app.db', 'main-db', 'IDBBatchAtomicVFS');
  const journal = db.file('/app.db-journal', 'journal', 'IDBBatchAtomicVFS');
  const memory = db.file('', 'memory-journal', '');
  const blocks = db.define({ kind: 'idb-store', db: 'app', store: 'blocks' });
  const idb = db.define({ kind: 'idb-database', db: 'app' });
  const insert = db.define({ kind: 'sql', text: 'INSERT INTO note VALUES(?, ?)' });
  const lock = db.define({ kind: 'lock', text: 'app.db' });
  for (let i = 1; i <= 3; i++) {
    db.call('sqlPrepare', { object: insert, aux: i, context: 1 });
    db.call('sqlStep', { object: insert, aux: i, context: 1, result: 101, dur: 3 }, () => {
      db.call('xLock', { object: main, aux: 1, context: 1 });
      db.call('xRead', { object: main, offset: 24, length: 16, context: 1 }, () => {
        db.call('idbTransaction', { object: idb, context: i, aux: 1 | (2 << 2), flags: Flag.async, dur: 9 }, () =>
          db.call('idbGet', { object: blocks, offset: 0, length: 4096, context: i, flags: Flag.async, dur: 40.005 }),
        );
      });
      db.call('xLock', { object: main, aux: 2, context: 1 });
      db.call('xWrite', { object: memory, offset: 0, length: 4, context: 1, flags: Flag.memoryJournal });
      db.call('xOpen', { object: journal, aux: 0x806, context: 1 });
      db.call('xWrite', { object: journal, offset: 0, length: 512, context: 1 });
      db.call('xWrite', { object: main, offset: 4096 * i, length: 4096, context: 1 });
      db.call('xSync', { object: main, aux: 2, context: 1, dur: 80 });
      db.call('xDelete', { object: journal, context: 1 });
      db.call('xFileControl', { object: main, aux: 22, result: 12, context: 1 });
      db.call('xUnlock', { object: main, aux: 0, context: 1 });
    });
    db.call('sqlCounters', { context: 1, offset: 10 * i, length: 2 * i, aux: i, aux2: i, dur: 0 });
    db.call('sqlFinalize', { object: insert, aux: i, context: 1 });
    db.idle(250.5);
  }
  db.call('lockRequest', { object: lock, aux: 2, flags: Flag.async, dur: 30 });
  db.call('opfsWrite', { offset: 1.5, length: 100, result: 100 });
  db.call('idbPut', { object: blocks, offset: -4096, length: 5000, result: 1, flags: Flag.async | Flag.threw });
  db.call('lockHeld', { object: lock, flags: Flag.async, open: true });
  db.send(3);
  db.thread.ended = 'terminated';
  return store;
}
