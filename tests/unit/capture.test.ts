// Capture options of a recording: untrusted values, their scripts, and how traces, files, and
// reports use what was captured.
import { describe, expect, test } from 'vitest';
import { captureScripts } from '../../src/protocol/capture.ts';
import { isThreadMessage } from '../../src/protocol/messages.ts';
import { cutTo, markedRanges } from '../../src/analysis/report/cut.ts';
import { privacyReport } from '../../src/analysis/privacy/privacy-report.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import {
  BUFFER_KIB,
  CAPTURE_DEFAULTS,
  captureOptionsOf,
  captureText,
  CAPTURED_LAYERS,
  type CaptureLevel,
} from '../../src/event/capture.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { boundText } from '../../src/viewer/ui/views/statements/statement-columns.ts';
import { statementTable } from '../traces/analyses.ts';

describe('options', () => {
  test.each([
    [undefined, {}],
    [null, {}],
    ['3', {}],
    [{ capture: '3', layers: 'sql', buffer: '256', stacks: 1 }, {}],
    [{ capture: 4, layers: [], buffer: 1000, stacks: 'yes', messages: 1, instructions: 1 }, {}],
    [
      { capture: 0, layers: ['web', 'sql', 'evil'], buffer: 256, stacks: true },
      { capture: 0, layers: ['sql', 'web'], buffer: 256, stacks: true },
    ],
    [{ buffer: 8192 }, { buffer: 4096 }],
    [{ capture: 3, buffer: NaN }, { capture: 3 }],
  ])('%j', (said, expected) =>
    expect(captureOptionsOf(said)).toEqual({ ...CAPTURE_DEFAULTS, ...expected }),
  );

  test('every option set except the default has its own script', () => {
    expect(captureScripts(captureOptionsOf({}))).toEqual([]);
    const all = new Set<string>();
    for (const capture of [0, 1, 2, 3] as CaptureLevel[])
      for (const buffer of BUFFER_KIB)
        for (const script of captureScripts({
          ...{ capture, buffer, layers: [] },
          ...{ stacks: true, messages: true, instructions: true },
        }))
          all.add(script);
    expect([...all].sort()).toEqual(
      [
        ...[
          'level-0',
          'level-2',
          'level-3',
          'buffer-256',
          'buffer-512',
          'buffer-2048',
          'buffer-4096',
          'stacks',
          'messages',
          'instructions',
        ],
        ...CAPTURED_LAYERS.map((layer) => `no-${layer}`),
      ]
        .map((name) => `capture/${name}.js`)
        .sort(),
    );
  });

  test('as text', () => {
    expect(
      captureText({
        capture: 2,
        layers: ['sql', 'vfs'],
        buffer: 256,
        stacks: true,
        messages: true,
        instructions: true,
      }),
    ).toBe(
      'level 2 (statements with their literals), layers sql, vfs, stacks, messages, instructions, buffer 256 KiB',
    );
  });
});

/** A run with its values, and its stack. */
function captured(): TraceStore {
  const t = new ThreadBuilder(newStore());
  const sql = t.define({ kind: 'sql', text: "INSERT INTO patient VALUES(?, 'Ann')" });
  t.define({
    kind: 'stack',
    of: sql,
    connection: 9,
    text: 'at savePatient (https://clinic.test/app.js?u=ann:10:3)\nat wasm://wasm/ann:wasm-function[1]:0x45',
  });
  t.define({
    kind: 'stack',
    of: sql,
    connection: 10,
    text: 'at other (https://clinic.test/app.js:1:1)',
  });
  const seq = t.call('sqlStep', { object: sql, aux: 3, context: 9, result: 101 });
  t.define({ kind: 'values', of: seq, values: ["'Ann'", 'NULL'] });
  t.send();
  return t.store;
}

describe('values and stacks', () => {
  test('are in the file, in the table, and in the report before sharing', async () => {
    const { store, warnings } = await readTrace(
      new Uint8Array(await (await saveTrace(captured())).arrayBuffer()),
    );
    expect(warnings).toEqual([]);
    expect(store.threads[0]!.said).toEqual(captured().threads[0]!.said);
    expect(statementTable(store)!.rows[0]!.stack).toMatch(
      /^at savePatient \(https:\/\/clinic\.test\/app\.js\?u=ann:10:3\)/,
    );
    expect(privacyReport(store)).toMatchObject({
      level: 3,
      runsWithValues: 1,
      stacks: 2,
      sqlWithLiterals: 1,
    });
  });

  test('examples by statement: the first distinct ones, few and cut; made-up values are not shown', () => {
    const t = new ThreadBuilder(newStore());
    const sql = t.define({ kind: 'sql', text: 'SELECT * FROM t WHERE a = ? AND b = ?' });
    const other = t.define({ kind: 'sql', text: 'SELECT 1' });
    const bound = (values: unknown): void => {
      const of = t.call('sqlStep', { object: sql, aux: 3, result: 101 });
      t.define({ kind: 'values', of, values: values as string[] });
    };
    bound(['1', "'<b>one</b>'"]);
    bound(['1', "'<b>one</b>'"]);
    for (let i = 2; i < 10; i++) bound([String(i)]);
    bound('no list');
    t.call('sqlStep', { object: other, aux: 4, result: 101 });
    t.define({ kind: 'values', of: 4_000_000, values: ['of no run'] });
    t.send();
    const [first, second] = statementTable(t.store)!.rows.sort(
      (a, b) => b.executions - a.executions,
    );
    expect(first!.bound).toEqual({
      runs: 10,
      examples: [['1', "'<b>one</b>'"], ['2'], ['3'], ['4'], ['5']].map((values) => ({
        values,
        left: 0,
      })),
    });
    expect(second!.bound).toBeNull();
    expect(first!.bound!.examples.map(boundText)[0]).toBe("1, '<b>one</b>'");

    const u = new ThreadBuilder(newStore());
    const of = u.call('sqlStep', {
      object: u.define({ kind: 'sql', text: 'INSERT' }),
      aux: 3,
      result: 101,
    });
    u.define({
      kind: 'values',
      of,
      values: ['x'.repeat(5000), 7 as never, ...Array.from({ length: 40 }, String)],
    });
    u.send();
    const [example] = statementTable(u.store)!.rows[0]!.bound!.examples;
    expect([
      example!.values.length,
      example!.left,
      example!.values[0]!.length,
      example!.values[1],
    ]).toEqual([20, 22, 120, '?']);
    expect(boundText(example!)).toMatch(/, … 22 more$/);
  });

  test('sanitized: no values, functions, or URLs; lines stay', () => {
    const clean = sanitizeStore(captured());
    const { said } = clean.threads[0]!;
    expect(said.map((d) => d.kind)).toEqual(['sql', 'stack', 'stack']);
    expect(JSON.stringify(said)).not.toMatch(/ann|patient|clinic|app\.js|other/i);
    expect(statementTable(clean)!.rows[0]!.stack).toBe(
      'at function1 (https://site2.example/path2:10:3)\n(frame taken out)',
    );
    expect(privacyReport(clean).level).toBe(1);
  });

  test.each<[string, object, boolean]>([
    ['values', { of: 1, values: ['1', 'NULL'] }, true],
    ['values that are no texts', { of: 1, values: [{}] }, false],
    ['too many', { of: 1, values: Array<string>(1001).fill('1') }, false],
    ['a text too long', { of: 1, values: ['x'.repeat(65_537)] }, false],
    ['no list', { of: 1, values: 'NULL' }, false],
    ['of nothing', { values: [] }, false],
  ])('a page that sends %s', (_what, rest, taken) => {
    const batch = {
      thread: 't',
      first: 0,
      count: 0,
      timeOrigin: 0,
      dropped: 0,
      faults: 0,
      records: new ArrayBuffer(0),
    };
    expect(
      isThreadMessage({
        k: 'batch',
        batch: { ...batch, definitions: [{ kind: 'values', id: 1, ...rest }] },
      }),
    ).toBe(taken);
  });
});

describe('a trace cut to its marks', () => {
  /**
   * Marks `[` and `]` of the page, `(` and `)` of the worker; `.` is a call of the worker. They are
   * a millisecond apart.
   */
  function marked(script: string): TraceStore {
    const store = newStore();
    const page = new ThreadBuilder(store, { kind: 'page' });
    const worker = new ThreadBuilder(store);
    const ids = [page, worker].map((t) => ({
      start: t.define({ kind: 'name', text: 'vfscope:start' }),
      stop: t.define({ kind: 'name', text: 'vfscope:stop' }),
    }));
    const file = worker.file('a.db');
    Array.from(script).forEach((c, i) => {
      page.now = worker.now = (i + 1) * 1000;
      if (c === '.') worker.call('xRead', { object: file, offset: i * 512, length: 512 });
      else {
        const t = '[]'.includes(c) ? page : worker;
        t.call('mark', {
          object: ids[t === page ? 0 : 1]!['[('.includes(c) ? 'start' : 'stop'],
          dur: 0,
        });
      }
    });
    page.send();
    worker.send();
    return store;
  }
  const kept = (script: string): number[] => {
    const store = marked(script);
    const { events } = cutTo(store, markedRanges(store)).store.threads[1]!;
    return Array.from(events.offset.subarray(0, events.count))
      .filter((offset) => !Number.isNaN(offset))
      .map((offset) => offset / 512);
  };

  test.each([
    ['.[..].', [2, 3]],
    ['.[.].[.].', [2, 6]],
    ['.[.[.].', [2, 4]],
    ['..].', [0, 1]],
    ['.[..', [2, 3]],
    ['.].].', [0]],
    ['[.(.].).', [1, 3, 5]],
    ['.(.).', [2]],
  ])('%s', (script, places) => expect(kept(script)).toEqual(places));

  test('without marks there is no range', () => expect(markedRanges(marked('...'))).toEqual([]));

  test('reports what it left out, keeps names and losses, and is a complete file', async () => {
    const store = marked('..[.]..');
    store.threads[1]!.dropped = 4;
    const cut = cutTo(store, markedRanges(store));
    expect([cut.left, cut.store.eventCount, cut.store.dropped]).toEqual([4, 3, 4]);
    const [note] = cut.store.threads[0]!.notes;
    expect(note!.text).toMatch(/1 range, 2 ms of 6 ms\. 4 events outside are left out\.$/);
    const { store: back, warnings } = await readTrace(
      new Uint8Array(await (await saveTrace(cut.store)).arrayBuffer()),
    );
    expect(warnings).toEqual([]);
    expect(back.eventCount).toBe(3);
    expect(back.threads[1]!.definitions.get(3)).toMatchObject({ kind: 'file', path: 'a.db' });
  });
});
