// Stores that no recording would make: every operation on anything, calls that never end, missing
// parents, extreme numbers. Parts of real SQLite recordings are mixed in, so that analyses get past
// their first lines.
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import { Op, type OpName } from '../../src/event/event.ts';
import { OPS } from '../../src/event/operations.ts';
import type { Definition } from '../../src/event/definitions.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { batchOf, newStore } from '../traces/builder.ts';
import { randomOf, type Random } from './random.ts';

const CODES = OPS.flatMap((info) => (info && info.code > 0 ? [info.code] : []));
const TEXTS = [
  '',
  'app.db',
  '/app.db',
  'BEGIN',
  'COMMIT',
  'ROLLBACK TO x',
  'PRAGMA wal_checkpoint(TRUNCATE)',
  'SELECT ?',
  "'",
  '"',
  '\0',
  'é\ud800',
  '__proto__',
  'https://a.test/x?y',
];
const PATHS = ['/app.db', '/app.db-wal', '/app.db-journal', '', 'other.db', '-wal', 'constructor'];
const KINDS = ['main-db', 'journal', 'wal', 'temp', 'memory-journal', 'other'] as const;
const NUMBERS = [0, 1, 2, 3, 24, 28, 100, 512, 4096, 8192, 65535, 2 ** 31, 0xffffffff];
const OFFSETS = [
  NaN,
  0,
  24,
  32,
  512,
  4096,
  8192,
  12288,
  -1,
  0.5,
  -4096,
  2 ** 31,
  2 ** 40,
  Number.MAX_SAFE_INTEGER,
  1e300,
  -Infinity,
];
const RESULTS = [0, 0, 0, 0, 1, 5, 10, 12, 100, 101, 522, 4096, -1, 2 ** 31 - 1, -(2 ** 31)];

function definition(r: Random, id: number): Definition {
  const text = r.of(TEXTS);
  switch (r.below(9)) {
    case 0:
    case 1:
      return {
        kind: 'file',
        id,
        path: r.of(PATHS),
        fileKind: r.of(KINDS),
        vfs: r.of(['', 'memory', 'IDBBatchAtomicVFS']),
        engine: r.below(3),
        flags: r.of(NUMBERS),
      };
    case 2:
      return { kind: 'idb-store', id, db: r.of(TEXTS), store: text };
    case 3:
      return { kind: 'idb-database', id, db: text };
    case 4:
      return { kind: 'opfs-file', id, path: r.of(PATHS) };
    case 5:
      return { kind: r.of(['lock', 'storage-key', 'name', 'message'] as const), id, text };
    case 6:
      return {
        ...{
          kind: 'engine',
          id,
          name: text,
          sqliteVersion: r.chance(0.5) ? '3.53.0' : null,
          sourceId: null,
          suspension: 'none',
          note: null,
        },
        layers: { vfs: r.chance(0.5), sql: r.chance(0.5), counters: r.chance(0.5) },
      };
    default:
      return { kind: 'sql', id, text, ...(r.chance(0.1) ? { truncated: true } : {}) };
  }
}

/** What a write transaction or a checkpoint does, by operation and file: main 1, WAL 2, journal 3. */
const SCRIPTS: readonly (readonly [OpName, number, number, number, number])[][] = [
  [
    ['xLock', 1, NaN, 0, 1],
    ['xRead', 1, 24, 16, 0],
    ['xRead', 1, 4096, 4096, 0],
    ['xUnlock', 1, NaN, 0, 0],
  ],
  [
    ...([
      ['xLock', 1, NaN, 0, 1],
      ['xLock', 1, NaN, 0, 2],
      ['xOpen', 3, NaN, 0, 0x806],
      ['xWrite', 3, 0, 512, 0],
      ['xWrite', 3, 512, 4, 0],
    ] as const),
    ...([
      ['xWrite', 3, 516, 4096, 0],
      ['xSync', 3, NaN, 0, 2],
      ['xLock', 1, NaN, 0, 4],
      ['xWrite', 1, 4096, 4096, 0],
      ['xSync', 1, NaN, 0, 2],
    ] as const),
    ...([
      ['xDelete', 3, NaN, 0, 0],
      ['xFileControl', 1, NaN, 0, 22],
      ['xUnlock', 1, NaN, 0, 0],
    ] as const),
  ],
  [
    ['xWrite', 2, 0, 32, 0xffffffff],
    ['xWrite', 2, 32, 24, 7],
    ['xWrite', 2, 56, 4096, 0],
    ['xSync', 2, NaN, 0, 2],
    ['xFileControl', 1, NaN, 0, 22],
  ],
  [
    ['xShmLock', 1, NaN, 0, 0],
    ['xRead', 2, 56, 4096, 0],
    ['xWrite', 1, 24576, 4096, 0],
    ['xSync', 1, NaN, 0, 2],
    ['xTruncate', 2, 0, 0, 0],
  ],
];

/** @param events how many at most on each of up to three threads */
export function randomStore(seed: number, events = 120): TraceStore {
  const r = randomOf(seed);
  const store = newStore(r.chance(0.9) ? 1_700_000_000_000 : r.of([0, -1, 1e300]));
  for (let t = r.below(4); t > 0; t--) {
    const url = r.of(['', 'https://a.test/worker.js', 'blob:null/1', 'not a url']);
    const info = {
      id: `t${t}`,
      kind: r.of(['page', 'frame', 'worker', 'shared-worker', 'service-worker'] as const),
      url,
      name: r.of(TEXTS),
      parent: r.of([null, 't1', 'gone']),
      timeOrigin: store.originMs,
    };
    const definitions: Definition[] = [
      {
        kind: 'file',
        id: 1,
        path: '/app.db',
        fileKind: 'main-db',
        vfs: 'memory',
        engine: 0,
        flags: 0x106,
      },
      {
        kind: 'file',
        id: 2,
        path: '/app.db-wal',
        fileKind: 'wal',
        vfs: 'memory',
        engine: 0,
        flags: 0x80006,
      },
      {
        kind: 'file',
        id: 3,
        path: '/app.db-journal',
        fileKind: 'journal',
        vfs: 'memory',
        engine: 0,
        flags: 0x806,
      },
      ...Array.from({ length: r.below(10) }, (_, i) => definition(r, 4 + i)),
    ];
    if (r.chance(0.7)) {
      const environment = {
        url,
        threadKind: info.kind,
        crossOriginIsolated: r.chance(0.5),
        clockStepUs: r.of([5, 100, 0.001, NaN]),
        userAgent: '',
        hidden: null,
        capture: CAPTURE_DEFAULTS,
      };
      definitions.push({ kind: 'environment', id: 0, ...environment });
    }
    if (r.chance(0.3))
      definitions.push({ kind: 'note', id: 0, topic: 'engine', text: r.of(TEXTS) });
    if (r.chance(0.3))
      definitions.push({
        kind: 'cost',
        id: 0,
        nsPerJsEvent: r.of([0, 200, 1e9]),
        nsPerVfsEvent: r.of([null, 100]),
        nsPerClockPair: 50,
      });
    store
      .thread(info)
      .append(
        batchOf(info, 0, rowsOf(r, r.below(events), definitions.length), definitions, r.below(3)),
      );
  }
  return store;
}

function rowsOf(r: Random, n: number, objects: number): number[][] {
  const rows: number[][] = [];
  const running: number[][] = [];
  let [now, seq] = [r.below(1000), 0];
  const begin = (
    op: number,
    object: number,
    offset: number,
    length: number,
    aux: number,
  ): number[] => {
    if (r.chance(0.8)) now += r.of([0, 0, 1, 5, 100, 1e6]);
    const parent = r.chance(0.8) ? (running.at(-1)?.[2] ?? 0) : r.below(seq + 5);
    const flags = r.chance(0.8) ? 0 : r.below(16);
    const row = [
      now,
      now,
      ++seq,
      0,
      op | (flags << 8),
      0,
      offset,
      length,
      object,
      parent,
      r.below(3),
      aux,
      r.chance(0.7) ? 0 : r.of(NUMBERS),
    ];
    rows.push(row);
    running.push(row);
    return row;
  };
  const end = (row: number[], result: number): void => {
    running.splice(running.indexOf(row), 1);
    if (r.chance(0.03)) return; // its end was lost
    now += r.of([0, 1, 3, 40, 1000]);
    row[1] = r.chance(0.97) ? now : row[0]! - 5;
    row[3] = ++seq;
    row[5] = result;
  };
  while (rows.length < n) {
    if (r.chance(0.15)) {
      const sql = r.chance(0.5)
        ? begin(
            r.of([Op.sqlStep, Op.sqlExec, Op.sqlPrepare]),
            4 + r.below(objects),
            NaN,
            0,
            1 + r.below(3),
          )
        : null;
      for (const [name, file, offset, length, aux] of r.of(SCRIPTS))
        if (r.chance(0.95))
          end(begin(Op[name], file, offset, length, aux), r.chance(0.95) ? 0 : r.of(RESULTS));
      if (sql) end(sql, r.of([0, 100, 101, 5]));
    } else if (running.length && r.chance(0.4)) end(r.of(running), r.of(RESULTS));
    else if (running.length < 6)
      begin(
        r.of(CODES),
        r.chance(0.9) ? r.below(objects + 1) : r.of(NUMBERS),
        r.of(OFFSETS),
        r.of(NUMBERS),
        r.of(NUMBERS),
      );
  }
  return rows;
}
