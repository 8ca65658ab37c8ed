// A sanitized trace has none of its app's texts, and the same counts and times. The report lists
// what a trace contains before it is shared.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { exportCommand } from '../../src/cli/export.ts';
import { privacyReport, privacyText } from '../../src/analysis/privacy/privacy-report.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import {
  ENGINE_NAMES,
  PRAGMA_WORDS,
  SQL_FUNCTIONS,
  SQL_WORDS,
  VFS_NAMES,
} from '../../src/analysis/privacy/allow-list.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { part } from '../full.ts';
import { ThreadBuilder, newStore } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticStore } from '../traces/synthetic.ts';

/** Every text of a trace file, as its reader gets them, and as the file stores them. */
async function textsOf(store: TraceStore): Promise<string> {
  const { store: back, header } = await readTrace(
    new Uint8Array(await (await saveTrace(store, { sanitized: true })).arrayBuffer()),
  );
  const threads = back.threads.map((t) => ({
    info: t.info,
    said: t.said,
    ended: t.ended,
    environment: t.environment,
    engines: t.engines,
    notes: t.notes,
  }));
  return JSON.stringify({ header: { ...header, writer: '' }, threads }).toLowerCase();
}

/** Words that may stay: SQL's, those of the event model, and those that replacements consist of. */
const MODEL = [
  ...[
    'kind',
    'file',
    'path',
    'fileKind',
    'main-db',
    'journal',
    'temp',
    'memory-journal',
    'other',
    'engine',
    'flags',
    'opfs-file',
    'idb-store',
  ],
  ...[
    'idb-database',
    'store',
    'lock',
    'storage-key',
    'name',
    'text',
    'message',
    'truncated',
    'true',
    'false',
    'null',
    'sqliteVersion',
    'sourceId',
  ],
  ...[
    'suspension',
    'asyncify',
    'jspi',
    'none',
    'unknown',
    'layers',
    'counters',
    'note',
    'topic',
    'worker-native',
    'tracer-error',
    'transport',
  ],
  ...[
    'environment',
    'threadKind',
    'crossOriginIsolated',
    'clockStepUs',
    'userAgent',
    'hidden',
    'cost',
    'nsPerJsEvent',
    'nsPerVfsEvent',
  ],
  ...[
    'nsPerClockPair',
    'info',
    'parent',
    'timeOrigin',
    'said',
    'ended',
    'engines',
    'notes',
    'threads',
    'header',
    'originMs',
    'writer',
    'savedAt',
  ],
  ...[
    'origin',
    'sanitized',
    'page',
    'frame',
    'worker',
    'shared-worker',
    'service-worker',
    'thread',
    'https',
    'site',
    'example',
    'statement',
  ],
  ...[
    '(text taken out)',
    'stopped',
    'pagehide',
    'closed',
    'terminated',
    'chrome',
    'firefox',
    'safari',
    'opaque',
  ],
];
const VOCABULARY = [
  ...SQL_WORDS,
  ...SQL_FUNCTIONS,
  ...PRAGMA_WORDS,
  ...ENGINE_NAMES,
  ...VFS_NAMES,
  ...MODEL,
]
  .join(' ')
  .toLowerCase();
/** Numbers, versions of SQLite, and what an original may share with a replacement by chance. */
const HARMLESS =
  /^(?:\d+|3\.53\.0|(?:file|site|path|idb|store|lock|key|name|message|worker|thread|vfs|engine|statement) ?\d+)$/;
/** The parts of an original text that would reveal it. */
const pieces = (text: string): string[] =>
  [text, ...text.split(/[^\p{L}\p{N}]+/u)]
    .map((p) => p.toLowerCase())
    .filter((p) => p.trim().length > 3 && !VOCABULARY.includes(p) && !HARMLESS.test(p));

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{4,12}$/),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{3,20}$/),
  fc.string({ unit: 'grapheme', minLength: 4, maxLength: 20 }),
);
const sql = fc
  .tuple(word, word, word, word, word)
  .chain(([a, b, c, d, e]) =>
    fc.constantFrom(
      `SELECT ${a}, count(${b}) FROM ${c} WHERE ${d} = '${e}'`,
      `INSERT INTO "${a}"(${b}, [${c}]) VALUES(:${d}, @${e}, 12345)`,
      `INSERT INTO '${a}'(${b}) SELECT '${c}' FROM '${d}'.'${e}'`,
      `CREATE TABLE \`${a}\`(${b} TEXT PRIMARY KEY) -- ${c}\n/* ${d} */`,
      `PRAGMA ${a}.journal_mode = ${b}; ATTACH '${c}' AS ${d}; ${e}`,
      `${a} ${b}('${c}" ${d} ${e}`,
      a,
    ),
  );
const url = fc
  .tuple(word, word, word)
  .map(([a, b, c]) => `https://${a}.test:8080/${b}?q=${c}#frag`);
const definitions = fc.record({
  path: fc.tuple(word, fc.constantFrom('', '-journal', '-wal', '.db')).map(([p, s]) => `/${p}${s}`),
  ...{
    vfs: word,
    opfs: word,
    db: word,
    store: word,
    lock: word,
    key: word,
    mark: fc.oneof(word, url),
    message: word,
    sql,
    note: word,
    url,
    page: url,
  },
  ...{
    engine: word,
    engineNote: word,
    version: fc.oneof(word, fc.constant('3.53.0')),
    source: word,
    agent: word,
    worker: word,
    id: word,
    ended: word,
  },
});
type Words = typeof definitions extends fc.Arbitrary<infer T> ? T : never;

function storeOf(w: Words): TraceStore {
  const store = newStore();
  const page = new ThreadBuilder(store, { id: w.id, kind: 'page', url: w.page });
  const b = new ThreadBuilder(store, { id: `${w.id}2`, name: w.worker, url: w.url, parent: w.id });
  const environment = {
    url: w.page,
    threadKind: 'page',
    crossOriginIsolated: true,
    clockStepUs: 5,
    userAgent: w.agent,
    hidden: null,
  };
  page.say({ kind: 'environment', id: 0, ...environment } as Definition);
  page.say({ kind: 'note', id: 0, topic: 'engine', text: w.note, url: w.url });
  const about = {
    sqliteVersion: w.version,
    sourceId: w.source,
    suspension: 'none',
    layers: { vfs: true, sql: true, counters: false },
  };
  b.define({ kind: 'engine', name: w.engine, note: w.engineNote, ...about } as Parameters<
    ThreadBuilder['define']
  >[0]);
  const file = b.file(w.path, 'main-db', w.vfs);
  const ids = [
    ...[
      b.define({ kind: 'opfs-file', path: w.opfs }),
      b.define({ kind: 'idb-store', db: w.db, store: w.store }),
      b.define({ kind: 'idb-database', db: w.db }),
    ],
    ...[
      b.define({ kind: 'lock', text: w.lock }),
      b.define({ kind: 'storage-key', text: w.key }),
      b.define({ kind: 'name', text: w.mark }),
    ],
    b.define({ kind: 'message', text: w.message }),
  ];
  const statement = b.define({ kind: 'sql', text: w.sql });
  b.call('sqlStep', { object: statement, result: 101 }, () =>
    b.call('xRead', { object: file, offset: 0, length: 4096 }),
  );
  for (const object of ids) b.call('idbGet', { object });
  page.send();
  b.send();
  b.thread.ended = w.ended;
  return store;
}

describe('a sanitized trace', () => {
  test.each(['shape', 'fingerprint'] as const)(
    'holds no word of the original: %s',
    async (statements) => {
      let checked = 0;
      await fc.assert(
        fc.asyncProperty(definitions, async (words) => {
          const store = storeOf(words);
          const texts = await textsOf(sanitizeStore(store, { statements }));
          for (const piece of Object.values(words).flatMap(pieces)) {
            checked++;
            const json = JSON.stringify(piece).slice(1, -1);
            expect(
              texts.includes(json),
              `"${piece}" is in ${texts.slice(Math.max(0, texts.indexOf(json) - 40), texts.indexOf(json) + 60)}`,
            ).toBe(false);
          }
        }),
        { numRuns: part(300) },
      );
      expect(checked).toBeGreaterThan(part(5000));
    },
  );

  test('the check itself finds a word that stayed', async () => {
    const store = storeOf({ ...(fc.sample(definitions, 1)[0] as Words), lock: 'patientrecords' });
    expect(await textsOf(store)).toContain('patientrecords');
    expect(pieces('/data/patientrecords.db')).toContain('patientrecords');
  });

  test('has the same counts and times, and one name for each thing', () => {
    for (const store of [sampleStore(), syntheticStore({ events: 3000, threads: 2 })]) {
      const clean = sanitizeStore(store);
      const [a, b] = [summaryOf(store), summaryOf(clean)];
      const numbers = (s: typeof a): unknown => ({
        ...{
          events: s.events,
          dropped: s.dropped,
          durationUs: s.durationUs,
          web: s.web,
          statements: s.statements,
          transactions: s.transactions,
        },
        ...{
          commits: s.commits,
          time: s.time,
          pageCache: s.pageCache,
          files: s.files.map((f) => [f.kind, f.vfs, f.web]),
        },
      });
      expect(numbers(b)).toEqual(numbers(a));
      store.threads.forEach((t, i) => {
        expect(clean.threads[i]!.events.count).toBe(t.events.count);
        for (let row = 0; row < t.events.count; row += 7)
          expect(clean.threads[i]!.events.row(row)).toEqual(t.events.row(row));
      });
      expect(clean.dropped).toBe(store.dropped);
    }
    expect(summaryOf(sanitizeStore(sampleStore())).files.map((f) => f.path)).toEqual([
      '/file1',
      '',
      '/file1-journal',
      'localStorage',
      'idb1/store1',
    ]);
  });

  test("a statement's form stays readable, and its identifiers are the same everywhere", () => {
    const b = new ThreadBuilder(newStore());
    const texts = [
      "SELECT name, count(*) FROM patient AS p WHERE p.name LIKE 'A%' ORDER BY 1",
      'UPDATE "patient" SET name = :newName WHERE id IN (1, 2, 3) -- for Ann',
      'PRAGMA journal_mode=WAL',
      'SAVEPOINT kysely_1',
    ];
    for (const text of texts) b.define({ kind: 'sql', text });
    b.send();
    const shapes = (statements: 'shape' | 'fingerprint'): string[] =>
      sanitizeStore(b.store, { statements }).threads[0]!.said.map((d) =>
        d.kind === 'sql' ? d.text : '',
      );
    expect(shapes('shape')).toEqual([
      'SELECT n1, count(*) FROM n2 AS n3 WHERE n3.n1 LIKE ? ORDER BY ?',
      'UPDATE n2 SET n1 = :p1 WHERE n4 IN (?, ...)  ',
      'PRAGMA journal_mode=WAL',
      'SAVEPOINT n5',
    ]);
    expect(shapes('fingerprint')).toEqual([
      'statement 1',
      'statement 2',
      'statement 3',
      'statement 4',
    ]);
  });

  test('common engines, VFSs, and browsers keep their names', () => {
    const b = new ThreadBuilder(newStore());
    const agent =
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.8078.79 Safari/537.36';
    b.say({
      ...{
        kind: 'environment',
        id: 0,
        url: 'https://a.test/',
        threadKind: 'worker',
        crossOriginIsolated: false,
      },
      clockStepUs: 5,
      userAgent: agent,
      hidden: null,
      capture: CAPTURE_DEFAULTS,
    });
    b.file('x.db', 'main-db', 'IDBBatchAtomicVFS');
    b.file('y.db', 'main-db', 'AcmeSecretVFS');
    b.send();
    const said = sanitizeStore(b.store).threads[0]!.said;
    expect(said).toMatchObject([
      { userAgent: 'Chrome/156' },
      { vfs: 'IDBBatchAtomicVFS', path: 'file1' },
      { vfs: 'vfs1', path: 'file2' },
    ]);
  });
});

describe('the report before sharing', () => {
  test('counts what a trace contains', () => {
    const b = new ThreadBuilder(newStore(), { url: 'https://a.test/w.js', name: 'db' });
    const store = b.define({ kind: 'idb-store', db: 'app', store: 'users' });
    for (const text of ['SELECT ?', 'SELECT 1', `SELECT "Ann"`, "SELECT 'Ann'"])
      b.define({ kind: 'sql', text });
    b.define({ kind: 'name', text: 'https://a.test/page' });
    b.define({ kind: 'message', text: 'boom' });
    b.file('/app.db');
    b.call('idbGet', { object: store, offset: 42 });
    b.call('idbGet', { object: store });
    b.send();
    expect(privacyReport(b.store)).toEqual({
      ...{
        level: 2,
        sqlTexts: 4,
        sqlWithLiterals: 2,
        sqlWithDoubleQuotes: 1,
        sqlWithComments: 0,
        fileNames: 1,
        urls: 2,
        names: 2,
        messages: 1,
      },
      ...{
        userAgents: 0,
        numericKeys: 1,
        capturedLevel: null,
        treeNames: 0,
        runsWithValues: 0,
        stacks: 0,
        functions: 0,
      },
    });
    expect(privacyReport(sampleStore()).level).toBe(1);
    expect(privacyReport(sanitizeStore(b.store)).level).toBe(1);
    expect(privacyText(privacyReport(newStore()))).toBe(
      'level 0: operations, sizes, and times only',
    );
    expect(privacyText(privacyReport(b.store))).toMatch(
      /^level 2: 4 SQL texts \(2 with literals, 1 with "words", which may be values\), 1 file name, 2 URLs/,
    );
    b.define({ kind: 'sql', text: 'SELECT ? -- for Ann' });
    b.send();
    expect(privacyText(privacyReport(b.store))).toContain(
      '5 SQL texts (2 with literals, 1 with "words", which may be values, 1 with comments)',
    );
  });
});

describe('export --sanitize', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-sanitize-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('no format contains a name; without it the command reports what the result contains', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const file = join(folder, 'secretclinic.vfst');
    const b = new ThreadBuilder(newStore(), {
      name: 'secretclinic worker',
      url: 'https://secretclinic.test/',
    });
    const object = b.file('/secretclinic.db', 'main-db', 'memory');
    const statement = b.define({ kind: 'sql', text: 'SELECT secretclinic FROM secretclinic' });
    b.call('sqlStep', { object: statement, result: 101 }, () =>
      b.call('xRead', { object, offset: 0, length: 4096 }),
    );
    b.send();
    writeFileSync(
      file,
      new Uint8Array(
        await (await saveTrace(b.store, { origin: 'https://secretclinic.test' })).arrayBuffer(),
      ),
    );
    for (const format of [
      'chrome',
      'perfetto',
      'firefox',
      'csv',
      'arrow',
      'sqlite',
      'vfstrace',
      'html',
      'vfst',
      'parquet',
    ]) {
      const out = join(folder, `out.${format}`);
      expect(await exportCommand({ file, format, out, sanitize: true }), format).toBe(0);
      const bytes = readFileSync(out);
      expect(bytes.length, format).toBeGreaterThan(30);
      expect(bytes.toString('latin1').toLowerCase(), format).not.toContain('secretclinic');
    }
    const { store, header } = await readTrace(readFileSync(join(folder, 'out.vfst')));
    expect(header).toMatchObject({ sanitized: true, origin: '' });
    expect(await textsOf(store)).not.toContain('secretclinic');
    expect(stderr.mock.calls.join('')).toBe('');
    expect(await exportCommand({ file, format: 'csv', out: join(folder, 'plain.csv') })).toBe(0);
    expect(readFileSync(join(folder, 'plain.csv'), 'utf8')).toContain('secretclinic');
    expect(stderr.mock.calls.join('')).toMatch(
      /The file contains level 1: 1 SQL text .*--sanitize/,
    );
    vi.restoreAllMocks();
  });
});
