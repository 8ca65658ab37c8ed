/**
 * What a recording may reveal about its app, level by level. Unique words are placed wherever an
 * app has words, and the unpacked bytes of the saved file are searched for them. Checks the
 * promises of docs/privacy.md and docs/exports.md.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { FULL } from '../full.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { record } from '../../src/cli/record.ts';
import type { CaptureLevel } from '../../src/event/capture.ts';
import { EXTENSION } from './extension-harness.ts';
import { recordHarness } from './record-harness.ts';

/** Where an app has words. Each test word begins with "zq" and continues with its place's name. */
const PLACES = [
  ...[
    'literal',
    'number',
    'comment',
    'table',
    'column',
    'alias',
    'parameter',
    'bound',
    'quoted',
    'quotedname',
    'pragma',
  ],
  ...[
    'syntax',
    'constraint',
    'thrown',
    'rejected',
    'path',
    'query',
    'fragment',
    'origin',
    'function',
    'worker',
  ],
  ...[
    'file',
    'idbname',
    'idbstore',
    'idbkey',
    'idbvalue',
    'idbindex',
    'storagekey',
    'storagevalue',
    'lock',
    'mark',
    'measure',
  ],
  ...['opfsname', 'opfsbytes', 'console', 'detail', 'message', 'channel'],
] as const;
type Place = (typeof PLACES)[number];
/** A number can't spell its place. */
const word = (place: Place): string => (place === 'number' ? '7313177' : `zq${place}zq`);

/**
 * Never in a file: what the app stores, including string keys, and what it sends to others. Each
 * further level adds to the previous one.
 */
const NEVER: readonly Place[] = [
  'idbkey',
  'idbvalue',
  'idbindex',
  'storagevalue',
  'opfsbytes',
  'console',
  'detail',
  'message',
];
const ADDED: Readonly<Record<CaptureLevel, readonly Place[]>> = {
  0: [
    ...(['path', 'query', 'fragment', 'origin', 'worker', 'file', 'opfsname'] as const),
    ...(['idbname', 'idbstore', 'storagekey', 'lock', 'mark', 'measure', 'channel'] as const),
  ],
  1: [
    'comment',
    'table',
    'column',
    'alias',
    'parameter',
    'quoted',
    'quotedname',
    'thrown',
    'rejected',
    'function',
  ],
  2: ['literal', 'number', 'pragma', 'syntax', 'constraint'],
  3: ['bound'],
};
/** Formats without the app's words. Parquet is compressed. */
const FORMATS = [
  'vfst',
  'chrome',
  'perfetto',
  'firefox',
  'csv',
  'arrow',
  'sqlite',
  'vfstrace',
  'html',
];

const command = recordHarness();

/** Runs in the page: sql.js on the page's own thread, and every storage that the probes cover. */
async function leak(w: Record<Place, string>): Promise<void> {
  const script = document.createElement('script');
  script.src = '/node_modules/sql.js/dist/sql-wasm.js';
  await new Promise((done) => {
    script.onload = done;
    document.head.append(script);
  });
  interface Database {
    exec(sql: string, parameters?: unknown[]): unknown;
  }
  const page = globalThis as unknown as {
    initSqlJs(o: object): Promise<{ Database: new () => Database }>;
  };
  const SQL = await page.initSqlJs({
    locateFile: (file: string) => `/node_modules/sql.js/dist/${file}`,
  });
  const db = new SQL.Database();
  const trial = (sql: string): string => {
    try {
      db.exec(sql);
      return '';
    } catch (e) {
      return String(e);
    }
  };
  const zq: Record<string, () => void> = {
    [w.function]() {
      db.exec(`ATTACH '${w.file}.db' AS attached; CREATE TABLE attached.x(a)`);
      db.exec(
        `CREATE TABLE ${w.table}(id INTEGER PRIMARY KEY, ${w.column} TEXT UNIQUE) -- ${w.comment}`,
      );
      db.exec(
        `INSERT INTO ${w.table}(${w.column}) VALUES('${w.literal}'), (${w.number}), ('${w.constraint}') /* ${w.comment} */`,
      );
      db.exec(
        `SELECT ${w.column} AS ${w.alias} FROM ${w.table} WHERE ${w.column} = "${w.quoted}" OR ${w.column} = :${w.parameter}`,
        [w.bound],
      );
      db.exec(`CREATE TABLE '${w.quotedname}'(a)`);
      db.exec(`PRAGMA application_id = 1; PRAGMA journal_mode = '${w.pragma}'`);
    },
  };
  zq[w.function]!();
  const messages = [
    trial(`SELECT * FROM x WHERE '${w.syntax}' nonsense here`),
    trial(`INSERT INTO ${w.table}(${w.column}) VALUES('${w.constraint}')`),
  ];
  // resolves once the page has the event, because the hook listens before us
  const uncaught = ['error', 'unhandledrejection'].map(
    (type) => new Promise((done) => addEventListener(type, done, { once: true })),
  );
  // from a script of the page, because errors of a script that is evaluated from outside aren't
  // reported
  const failing = document.createElement('script');
  const text = JSON.stringify([w.thrown, ...messages].join(' '));
  failing.textContent = `Promise.reject(new Error('${w.rejected}')); setTimeout(() => { throw new Error(${text}); });`;
  document.head.append(failing);
  console.error(w.console);

  const open = indexedDB.open(w.idbname);
  open.onupgradeneeded = () =>
    open.result.createObjectStore(w.idbstore).createIndex(w.idbindex, w.idbindex);
  await new Promise((done) => (open.onsuccess = done));
  const change = open.result.transaction(w.idbstore, 'readwrite');
  change.objectStore(w.idbstore).put({ a: w.idbvalue }, w.idbkey);
  change.objectStore(w.idbstore).get(w.idbkey);
  await new Promise((done) => (change.oncomplete = done));
  localStorage.setItem(w.storagekey, w.storagevalue);
  await navigator.locks.request(w.lock, () => {});
  performance.mark(w.mark, { detail: w.detail });
  performance.measure(w.measure, { start: 0, detail: w.detail });
  const opfs = await (
    await navigator.storage.getDirectory()
  ).getFileHandle(w.opfsname, { create: true });
  const writable = await opfs.createWritable();
  await writable.write(w.opfsbytes);
  await writable.close();
  const worker = new Worker(
    URL.createObjectURL(new Blob([`localStorage; postMessage('${w.console}')`])),
    { name: w.worker },
  );
  await new Promise((done) => (worker.onmessage = worker.onerror = done));
  const { port1, port2 } = new MessageChannel();
  const [hears, says] = [new BroadcastChannel(w.channel), new BroadcastChannel(w.channel)];
  for (const [to, from] of [
    [port1, port2],
    [hears, says],
  ] as const) {
    const heard = new Promise((done) => (to.onmessage = done));
    from.postMessage(w.message);
    await heard;
    from.postMessage({ [w.message]: [w.message, new TextEncoder().encode(w.message)] });
  }
  worker.postMessage(w.message);
  await Promise.all(uncaught);
}

/** All text in the file, with gzip members unpacked in place. */
function contents(file: Buffer): string {
  let text = file.toString('latin1');
  for (
    let at = file.indexOf('\x1f\x8b\x08', 0, 'latin1');
    at >= 0;
    at = file.indexOf('\x1f\x8b\x08', at + 3, 'latin1')
  ) {
    for (const end of sectionEnds(file, at))
      text += gunzipSync(file.subarray(at, end)).toString('latin1');
  }
  return text;
}
/** A gzip member lasts until its section's end. docs/trace-format.md has the layout. */
function* sectionEnds(file: Buffer, at: number): Generator<number> {
  for (
    let from = 16 + 4 + file.readUInt32LE(12);
    from + 12 <= file.length && from < at;
    from += 12 + file.readUInt32LE(from + 4)
  ) {
    const end = from + 12 + file.readUInt32LE(from + 4);
    if (at < end && /^[A-Z]{4}$/.test(file.toString('latin1', from, from + 4))) yield end;
  }
}

const found = (text: string): Place[] =>
  PLACES.filter((place) => text.toLowerCase().includes(word(place)));

async function recorded(level: CaptureLevel): Promise<string> {
  const out = path.join(command.folder, `level-${level}.vfst`);
  const script = path.join(command.folder, `steps-${level}.mjs`);
  const words = Object.fromEntries(PLACES.map((place) => [place, word(place)]));
  await writeFile(
    script,
    `export default async (page) => { await page.evaluate(${leak.toString()}, ${JSON.stringify(words)}); };`,
  );
  const url = `${command.server.origin(word('origin'))}/sql-js/?${word('path')}=${word('query')}#${word('fragment')}`;
  expect(
    await record({
      url,
      out,
      script,
      extension: EXTENSION,
      capture: { capture: level, stacks: level > 0, messages: true },
    }),
    command.said,
  ).toBe(0);
  return out;
}

test('every place belongs to one level, or to none', () => {
  expect([...NEVER, ...Object.values(ADDED).flat()].sort()).toEqual([...PLACES].sort());
});

// level 2 in npm test: firefox-recording.test.ts
test.each<CaptureLevel>(FULL ? [0, 1, 2, 3] : [0, 1, 3])(
  'level %i tells what it says, and sanitized nothing',
  async (level) => {
    const file = await recorded(level);
    const allowed = ([0, 1, 2, 3] as const).filter((l) => l <= level).flatMap((l) => ADDED[l]);
    expect(found(contents(await readFile(file)))).toEqual(
      PLACES.filter((place) => allowed.includes(place)),
    );
    for (const format of FORMATS) {
      const out = path.join(command.folder, `clean-${level}.${format}`);
      expect(await exportCommand({ file, format, out, sanitize: true }), format).toBe(0);
      const bytes = await readFile(out);
      expect(found(format === 'vfst' ? contents(bytes) : bytes.toString('latin1')), format).toEqual(
        [],
      );
    }
  },
);
