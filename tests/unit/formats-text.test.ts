// vfstrace text, the Firefox profile, and the HTML report: line by line, column by column, and with
// the page's text contained.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeXml } from '../../src/formats/escape.ts';
import { PROCESSED_PROFILE_VERSION, firefoxProfile } from '../../src/formats/firefox-profile.ts';
import { htmlReport } from '../../src/formats/html.ts';
import { vfstrace, vfstraceLine } from '../../src/formats/vfstrace.ts';
import { Flag, type OpName } from '../../src/event/event.ts';
import { OPS, opName } from '../../src/event/operations.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { part } from '../full.ts';
import { ThreadBuilder, newStore, type CallFields } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticStore } from '../traces/synthetic.ts';

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

describe('vfstrace', () => {
  const line = (op: OpName, fields: CallFields, path = '/dir/app.db'): string => {
    const b = new ThreadBuilder(newStore());
    const object = b.file(path, 'main-db', 'unix');
    b.call(op, { object, ...fields });
    b.send();
    return vfstraceLine(b.thread, 0);
  };
  // as ext/misc/vfstrace.c prints them
  test.each<[string, OpName, CallFields]>([
    ['unix.xRead(app.db,n=16,ofst=24) -> SQLITE_OK', 'xRead', { offset: 24, length: 16 }],
    [
      'unix.xRead(app.db,n=100,ofst=0) -> SQLITE_IOERR_SHORT_READ',
      'xRead',
      { offset: 0, length: 100, result: 522 },
    ],
    [
      'unix.xWrite(app.db,n=4096,ofst=8589934592) -> SQLITE_FULL',
      'xWrite',
      { offset: 2 ** 33, length: 4096, result: 13 },
    ],
    ['unix.xTruncate(app.db,8192) -> 0', 'xTruncate', { offset: 8192 }],
    ['unix.xSync(app.db,NORMAL) -> 0', 'xSync', { aux: 2 }],
    ['unix.xSync(app.db,FULL|DATAONLY) -> 0', 'xSync', { aux: 19 }],
    ['unix.xSync(app.db,0) -> 0', 'xSync', {}],
    ['unix.xLock(app.db,SHARED) -> SQLITE_BUSY', 'xLock', { aux: 1, result: 5 }],
    ['unix.xUnlock(app.db,NONE) -> SQLITE_OK', 'xUnlock', {}],
    [
      'unix.xFileControl(app.db,COMMIT_PHASETWO) -> SQLITE_NOTFOUND',
      'xFileControl',
      { aux: 22, result: 12 },
    ],
    ['unix.xFileControl(app.db,4711) -> SQLITE_OK', 'xFileControl', { aux: 4711 }],
    ['unix.xSectorSize(app.db) -> 4096', 'xSectorSize', { result: 4096 }],
    [
      'unix.xDeviceCharacteristics(app.db) -> 0x00000800',
      'xDeviceCharacteristics',
      { result: 0x800 },
    ],
    ['unix.xOpen(app.db,flags=0x106) -> SQLITE_OK', 'xOpen', { aux: 0x106 }],
    [
      'unix.xDelete("/dir/app.db",1) -> SQLITE_IOERR_DELETE_NOENT',
      'xDelete',
      { aux: 1, result: 5898 },
    ],
    ['unix.xAccess("/dir/app.db",0) -> SQLITE_OK, out=?', 'xAccess', {}],
    ['unix.xClose(app.db) -> SQLITE_BUSY | 0xff00', 'xClose', { result: 0xff05 }],
    ['unix.xClose(app.db)', 'xClose', { open: true }],
    ['unix.xClose(app.db) -> threw', 'xClose', { flags: Flag.threw }],
  ])('%s', (expected, op, fields) => expect(line(op, fields)).toBe(expected));

  test("a file without a name is <temp>; a name can't begin a new line", () => {
    expect(line('xClose', {}, '')).toBe('unix.xClose(<temp>) -> SQLITE_OK');
    expect(line('xClose', {}, 'a\nunix.xWrite(x')).not.toContain('\n');
  });

  test('every VFS call of every thread once, by time, without the in-memory journal', async () => {
    const store = syntheticStore({ events: 4000, threads: 3 });
    const lines = (await textOf(vfstrace(store))).split('\n').slice(0, -1);
    const vfs = store.threads.reduce(
      (n, { events }) => n + events.op.subarray(0, events.count).filter((op) => op < 64).length,
      0,
    );
    expect(lines.length).toBe(vfs);
    for (const l of lines) expect(l).toMatch(/^synthetic\.x\w+\(app\.db(-wal)?[^)]*\) -> /);
    expect(
      (await textOf(vfstrace(sampleStore()))).split('\n').filter((l) => l.includes('n=4,')).length,
    ).toBe(0);
    expect(await textOf(vfstrace(newStore()))).toBe('');
  });
});

describe('firefox profile', () => {
  interface Table {
    length: number;
    [column: string]: unknown;
  }
  interface Profile {
    meta: {
      preprocessedProfileVersion: number;
      categories: object[];
      markerSchema: { name: string; data: { key: string }[] }[];
      startTime: number;
    };
    libs: unknown[];
    threads: {
      name: string;
      isMainThread: boolean;
      pid: string;
      stringArray: string[];
      markers: {
        length: number;
        name: number[];
        startTime: number[];
        endTime: (number | null)[];
        phase: number[];
        category: number[];
        data: ({ type: string } | null)[];
      };
      [table: string]: unknown;
    }[];
  }
  const parse = async (store: TraceStore): Promise<Profile> =>
    JSON.parse(await textOf(firefoxProfile(store))) as Profile;
  const TABLES = [
    'samples',
    'markers',
    'stackTable',
    'frameTable',
    'funcTable',
    'resourceTable',
    'nativeSymbols',
  ];

  test.each([
    ['something of everything', sampleStore()],
    ['two threads', syntheticStore({ events: 3000, threads: 2 })],
    ['nothing', newStore()],
  ])('is whole after the processed format: %s', async (_, store) => {
    const profile = await parse(store);
    expect(profile.meta.preprocessedProfileVersion).toBe(PROCESSED_PROFILE_VERSION);
    expect(profile.threads.length).toBe(store.threads.length);
    expect(profile.threads.filter((t) => t.isMainThread).length).toBe(store.threads.length ? 1 : 0);
    const schemas = new Map(
      profile.meta.markerSchema.map((s) => [s.name, s.data.map((d) => d.key)]),
    );
    profile.threads.forEach((thread, t) => {
      expect(typeof thread.pid).toBe('string');
      for (const name of TABLES) {
        const table = thread[name] as Table;
        for (const [column, values] of Object.entries(table))
          if (Array.isArray(values)) expect(values.length, `${name}.${column}`).toBe(table.length);
      }
      const { markers, stringArray } = thread;
      const { events } = store.threads[t]!;
      expect(markers.length).toBe(events.count);
      for (let i = 0; i < markers.length; i++) {
        expect(stringArray[markers.name[i]!]).toBe(opName(events.op[i]!));
        expect(profile.meta.categories[markers.category[i]!]).toBeDefined();
        const { type, ...fields } = markers.data[i]!;
        expect(type).toBe(OPS[events.op[i]!]!.layer);
        for (const key of Object.keys(fields)) expect(schemas.get(type)).toContain(key);
        const phase = markers.phase[i]!;
        expect(markers.endTime[i] === null).toBe(phase !== 1);
        if (phase === 1)
          expect(Math.round((markers.endTime[i]! - markers.startTime[i]!) * 1e6)).toBe(
            Math.round(events.dur[i]! * 1000),
          );
        expect(phase === 2).toBe(events.endSeq[i] === 0);
      }
    });
  });
});

describe('html report', () => {
  /** Tags, attributes, and text. Throws if the markup doesn't nest. */
  function check(html: string): string[] {
    const open: string[] = [];
    const tags: string[] = [];
    for (const [, close, name, attributes, self] of html.matchAll(
      /<(\/?)([a-z!][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*(\/?)>/g,
    )) {
      tags.push(name!);
      if (attributes && /\son\w+=|javascript:/i.test(attributes))
        throw new Error(`an attribute runs script: ${attributes}`);
      if (name === '!doctype' || name === 'meta' || self) continue;
      if (!close) open.push(name!);
      else if (open.pop() !== name) throw new Error(`</${name}> ends nothing`);
    }
    if (open.length) throw new Error(`${open.join(', ')} not closed`);
    if ((html.match(/</g) ?? []).length !== tags.length) throw new Error('a < that begins no tag');
    return tags;
  }
  test('shows what the summary shows, without scripts', () => {
    const html = htmlReport(sampleStore(), 'app.vfst');
    expect(new Set(check(html))).not.toContain('script');
    for (const text of [
      '/app.db-journal',
      '<code>insert into note values(?, ?)</code>',
      'Events dropped: 3 events didn&#39;t fit in the buffer, or got lost. The real counts are higher.',
      'IDBBatchAtomicVFS',
      '<svg',
    ])
      expect(html).toContain(text);
    expect(html).toMatch(/<h2>Caveats<\/h2>[^]*3 events[^]*<h2>Findings<\/h2>/);
    expect(check(htmlReport(newStore())).length).toBeGreaterThan(10);
    expect(htmlReport(syntheticStore({ events: 50_000 })).length).toBeLessThan(500_000);
  });

  test('no text of the page becomes markup', () => {
    const nasty = fc.oneof(
      fc.constantFrom(
        '<script>alert(1)</script>',
        '"><img src=x onerror=alert(1)>',
        "'; --",
        ']]>',
        '</style><script>',
        '</svg>',
        '<!--',
        '&lt;',
        '\0',
      ),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(nasty, nasty, nasty, nasty, (path, sql, name, url) => {
        const b = new ThreadBuilder(newStore(), { name, url, kind: 'page' });
        b.say({ kind: 'note', id: 0, topic: 'engine', text: name, url });
        const [object, statement] = [b.file(path), b.define({ kind: 'sql', text: sql })];
        b.call('sqlStep', { object: statement, result: 101 }, () =>
          b.call('xRead', { object, length: 1 }),
        );
        b.send();
        const plain = new ThreadBuilder(newStore(), { name: 'n', url: 'u', kind: 'page' });
        plain.say({ kind: 'note', id: 0, topic: 'engine', text: 'n', url: 'u' });
        const [o, s] = [plain.file('p'), plain.define({ kind: 'sql', text: 's' })];
        plain.call('sqlStep', { object: s, result: 101 }, () =>
          plain.call('xRead', { object: o, length: 1 }),
        );
        plain.send();
        const tags = check(htmlReport(b.store, name));
        if (sql && path && name && url) expect(tags).toEqual(check(htmlReport(plain.store)));
      }),
      { numRuns: part(80) },
    );
    expect(escapeXml('<a b="c">\u0001')).toBe('&lt;a b=&quot;c&quot;&gt;\ufffd');
  });
});
