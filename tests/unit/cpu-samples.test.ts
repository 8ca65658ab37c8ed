// CPU samples: from the browser's trace events to threads, statements, and transactions of a
// recording, through its file, and without the app's names.
import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { cpuFlames } from '../../src/analysis/cpu/cpu-flames.ts';
import { functionTitles, sampleSums } from '../../src/analysis/cpu/hot-functions.ts';
import { cpuTables } from '../../src/analysis/cpu/table.ts';
import { privacyReport } from '../../src/analysis/privacy/privacy-report.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { answerOf, answerReport } from '../../src/analysis/report/answer-report.ts';
import { cutTo } from '../../src/analysis/report/cut.ts';
import type { BrowserEvent, Traced } from '../../src/drive/browser-trace.ts';
import { sampled } from '../../src/drive/cpu-samples.ts';
import { functionNames } from '../../src/lab/meter/function-names.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { checkedSamples, MAX_SAMPLES, packedSamples } from '../../src/trace/cpu-samples.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import { nameFunctions } from '../../src/trace/name-functions.ts';
import type { ThreadStore, TraceStore } from '../../src/trace/store.ts';
import { ThreadBuilder, newStore } from '../traces/builder.ts';

const ORIGIN = 1_700_000_000_000;
/** How far the browser's clock is behind the epoch's, microseconds. */
const BOOTED = ORIGIN * 1000 - 5_000_000;
const event = (name: string, fields: Partial<BrowserEvent>): BrowserEvent => ({
  ...{ name, cat: '', ph: 'I', pid: 7, tid: 1, ts: 0, args: {} },
  ...fields,
});
/** @param late between the reading and the event, microseconds */
const mark = (
  tid: number,
  timeOrigin: number,
  nowMs: number,
  late: number,
  script = 'blob:https://app.example/1',
): BrowserEvent =>
  event('TimeStamp', {
    tid,
    ts: (timeOrigin + nowMs) * 1000 - BOOTED + late,
    args: {
      data: { message: `vfscope ${timeOrigin} ${nowMs} 9 Error\n    at f (${script}:2:30)` },
    },
  });
const whole = (events: BrowserEvent[]): Traced => ({ events, isWhole: true });
const WASM = 'wasm://wasm/00c0ffee';
const APP = 'https://app.example/worker.js';
const node = (id: number, parent: number, functionName: string, more: object = {}): object => ({
  id,
  parent,
  callFrame: { functionName, scriptId: 3, ...more },
});
const NODES = [
  { id: 1, callFrame: { functionName: '(root)', scriptId: 0 } },
  node(2, 1, '(idle)', { scriptId: 0 }),
  node(3, 1, 'run', { url: APP, lineNumber: 9 }),
  node(4, 3, 'wasm-function[5]', { url: WASM }),
  node(5, 4, 'slowScalar', { url: APP, lineNumber: 19 }),
  node(6, 4, 'read', { scriptId: 0 }),
  node(7, 1, '(garbage collector)', { scriptId: 0 }),
];
/** Samples every 100 us from the thread's start. */
const profile = (tid: number, samples: number[]): BrowserEvent[] => [
  event('Profile', { tid, id: `0x${tid}`, args: { data: { startTime: ORIGIN * 1000 - BOOTED } } }),
  event('ProfileChunk', {
    tid: 99,
    id: `0x${tid}`,
    args: { data: { cpuProfile: { nodes: NODES, samples }, timeDeltas: samples.map(() => 100) } },
  }),
];

/** A worker: SELECT from 0 to 1000 us, 500 us of nothing, UPDATE from 1500 to 1700. Sampled at 100, 200, ... */
function sampledStore(): { store: TraceStore; said: string } {
  const store = newStore(ORIGIN);
  const b = new ThreadBuilder(store);
  const db = b.file('/app.db');
  const [select, update] = ['SELECT slow(x) FROM t', 'UPDATE t SET x=?'].map((text) =>
    b.define({ kind: 'sql', text }),
  ) as [number, number];
  b.call('sqlStep', { object: select, aux: 1, result: 101, dur: 700 }, () =>
    b.call('xRead', { object: db, dur: 0 }, () => b.call('opfsRead', { dur: 300 })),
  );
  b.idle(500);
  b.call('sqlStep', { object: update, aux: 2, result: 101, dur: 200 });
  b.send();
  const samples = [6, 6, 4, 5, 5, 5, 5, 7, 4, 2, 2, 2, 3, 2, 2, 4, 2];
  const events = [
    mark(3, ORIGIN, 0.1, 40),
    mark(3, ORIGIN, 0.2, 2),
    ...profile(3, samples),
    ...profile(4, [3, 3]), // a thread that reported nothing
  ];
  return { store, said: sampled(store, whole(events)) };
}

const sumsOf = (store: TraceStore) => new Facts(store).get(sampleSums)!;

describe("from the browser's trace events", () => {
  test('samples are assigned to their thread, in its time', () => {
    const { store, said } = sampledStore();
    expect(said).toBe('took 17 CPU samples of 1 thread');
    const cpu = store.threads[0]!.cpu!;
    expect([cpu.intervalUs, cpu.clockErrorUs]).toEqual([100, 0]);
    // the better of the two clock pairs was 2 us late
    expect([...cpu.us.subarray(0, 3)]).toEqual([98, 198, 298]);
    expect(cpu.functions).toEqual([
      { name: '', url: '', line: 0, column: 0, kind: 'idle' },
      { name: 'run', url: APP, line: 10, column: 0, kind: 'js' },
      { name: 'wasm-function[5]', url: WASM, line: 0, column: 0, kind: 'wasm' },
      { name: 'slowScalar', url: APP, line: 20, column: 0, kind: 'js' },
      { name: 'read', url: '', line: 0, column: 0, kind: 'native' },
      { name: '', url: '', line: 0, column: 0, kind: 'gc' },
    ]);
  });

  test('our own script is one frame, and counts as no computing; a storage call that it forwards counts there', () => {
    const store = newStore(ORIGIN);
    new ThreadBuilder(store);
    const own = 'blob:https://app.example/1';
    const [begun, chunk] = profile(3, [9, 10]);
    const nodes = [...NODES, node(8, 3, 'Mt', { url: own }), node(9, 8, 'b', { url: own })];
    nodes.push(node(10, 6, 'c', { url: own, lineNumber: 3 }));
    const data = { cpuProfile: { nodes, samples: [9, 10, 11] }, timeDeltas: [100, 100, 100] };
    nodes.push(node(11, 9, 'app', { url: own, lineNumber: 9 })); // in the same Blob
    sampled(store, whole([mark(3, ORIGIN, 0.1, 0), begun!, { ...chunk!, args: { data } }]));
    const { functions, called, frames, parents } = store.threads[0]!.cpu!;
    expect([...frames].map((frame) => functions[called[frame]!]!.kind)).toEqual([
      'vfscope',
      'vfscope',
      'js',
    ]);
    expect(functions[called[parents[frames[0]!]!]!]!.name).toBe('run');
  });

  test('all scripts of the extension are ours', () => {
    const store = newStore(ORIGIN);
    new ThreadBuilder(store);
    const [begun, chunk] = profile(3, []);
    const nodes = [...NODES, node(8, 3, 'post', { url: 'chrome-extension://abc/messages.js' })];
    const data = { cpuProfile: { nodes, samples: [8] }, timeDeltas: [100] };
    const said = mark(3, ORIGIN, 0.1, 0, 'chrome-extension://abc/hooks.js');
    sampled(store, whole([said, begun!, { ...chunk!, args: { data } }]));
    const { functions, called, frames } = store.threads[0]!.cpu!;
    expect(functions[called[frames[0]!]!]!.kind).toBe('vfscope');
  });

  test('a page that reloads on the same thread leaves the earlier samples to the previous page', () => {
    const store = newStore(ORIGIN);
    const [before, after] = [ORIGIN, ORIGIN + 1].map((timeOrigin) => {
      const b = new ThreadBuilder(store, { timeOrigin });
      b.call('sqlStep', { object: b.define({ kind: 'sql', text: 'SELECT 1' }), dur: 500 });
      b.send();
      return b.thread;
    }) as [ThreadStore, ThreadStore];
    before.ended = 'unload';
    const samples = Array<number>(15).fill(5);
    sampled(
      store,
      whole([mark(3, ORIGIN, 0.1, 0), mark(3, ORIGIN + 1, 0.1, 0), ...profile(3, samples)]),
    );
    expect([...before.cpu!.us]).toEqual([100, 200, 300, 400, 500]);
    expect([...after.cpu!.us]).toEqual([1000, 1100, 1200, 1300, 1400, 1500]);
  });

  test('if there are too many, every second one is kept, and counts twice', () => {
    const store = newStore(ORIGIN);
    new ThreadBuilder(store);
    const events = [mark(3, ORIGIN, 0.1, 0), ...profile(3, Array<number>(MAX_SAMPLES + 2).fill(5))];
    expect(sampled(store, { events, isWhole: false })).toBe(
      'took 250,001 CPU samples of 1 thread; saved 1 of 2, because a recording holds at most 500,000 samples; the browser lost some: record for a shorter time',
    );
    expect(store.threads[0]!.cpu!.intervalUs).toBe(200);
  });

  test('a browser that sent none is reported', () => {
    expect(sampled(newStore(), whole([]))).toBe('took 0 CPU samples of 0 threads');
  });

  test('the difference between two threads is the uncertainty of the clock', () => {
    const store = newStore(ORIGIN);
    new ThreadBuilder(store);
    new ThreadBuilder(store, { timeOrigin: ORIGIN + 5 });
    sampled(
      store,
      whole([
        mark(3, ORIGIN, 1, 3),
        mark(4, ORIGIN + 5, 1, 10),
        ...profile(3, [4]),
        ...profile(4, Array<number>(60).fill(4)),
      ]),
    );
    expect(store.threads.map(({ cpu }) => cpu?.clockErrorUs)).toEqual([7, 7]);
  });
});

describe('of statements', () => {
  test('the hottest functions, and the share of time in which the thread computed', () => {
    const { statements, outside } = sumsOf(sampledStore().store);
    expect(
      statements.map(({ sql, samples, onCpu, functions }) => [
        sql,
        samples,
        onCpu,
        ...functions.map(({ name, self }) => `${name} ${self}`),
      ]),
    ).toEqual([
      [
        'SELECT slow(x) FROM t',
        10,
        7,
        'slowScalar 4',
        'wasm-function[5] 2',
        '(garbage collection) 1',
      ],
      ['UPDATE t SET x=?', 2, 1, 'wasm-function[5] 1'],
    ]);
    expect(outside).toBe(1);
  });

  test('as a flame graph, in both directions', () => {
    const facts = new Facts(sampledStore().store);
    const lines = (inverted: boolean): string[] =>
      cpuFlames(facts, {}, inverted)!.frames.map(
        (f) => `${'.'.repeat(f.depth)}${f.sql ?? f.name} ${f.calls} ${f.totalUs}/${f.selfUs}`,
      );
    expect(lines(false)).toEqual([
      'SELECT slow(x) FROM t 10 1000/0',
      '.run 8 800/0',
      '..wasm-function[5] 8 800/200',
      '...slowScalar 4 400/400',
      '...read 2 200/200',
      '.(garbage collection) 1 100/100',
      '.(idle) 1 100/100',
      'UPDATE t SET x=? 2 200/0',
      '.run 1 100/0',
      '..wasm-function[5] 1 100/100',
      '.(idle) 1 100/100',
    ]);
    expect(lines(true).filter((line) => !line.startsWith('.'))).toEqual([
      'slowScalar 4 400/0',
      'wasm-function[5] 3 300/0',
      'read 2 200/0',
      '(idle) 2 200/0',
      '(garbage collection) 1 100/0',
    ]);
    expect(cpuFlames(facts, { fromUs: 1500, part: 'cpu' })!.totalUs).toBe(100);
    expect(cpuFlames(new Facts(newStore()), {})).toBeNull();
  });

  test("a statement's width is its time, however often it was sampled", () => {
    const { store } = sampledStore();
    const { cpu } = store.threads[0]!;
    const every = (list: Iterable<number>): number[] => [...list].filter((_, i) => i % 3 === 0);
    store.threads[0]!.cpu = {
      ...cpu!,
      us: Float64Array.from(every(cpu!.us)),
      frames: Int32Array.from(every(cpu!.frames)),
    };
    const tops = cpuFlames(new Facts(store), {})!.frames.filter(({ depth }) => depth === 0);
    expect(tops.map(({ sql, totalUs }) => [sql, totalUs])).toEqual([
      ['SELECT slow(x) FROM t', 1000],
      ['UPDATE t SET x=?', 200],
    ]);
  });

  test('functions with the same name are distinguished by their location', () => {
    const { store } = sampledStore();
    const { functions } = store.threads[0]!.cpu!;
    functions.push({
      name: 'run',
      url: 'https://app.example/lib.js',
      line: 1,
      column: 90,
      kind: 'js',
    });
    const title = new Facts(store).get(functionTitles);
    expect(functions.map(title)).toEqual([
      '(idle)',
      'run worker.js:10',
      'wasm-function[5]',
      'slowScalar',
      'read',
      '(garbage collection)',
      'run lib.js:1:90',
    ]);
  });

  test('in a table, and in the answer', () => {
    const { store } = sampledStore();
    const facts = new Facts(store);
    const [{ rows, columns }] = cpuTables as [(typeof cpuTables)[number]];
    const all = facts.get(rows);
    const line = (i: number) => Object.values(columns).map(({ value }) => value(all.at(i)));
    expect(all.count).toBe(17);
    expect(line(3)).toEqual([0, 398, 1, 'select slow(x) from t', null, 'slowScalar', APP, 'js', 1]);
    expect(line(12)).toEqual([0, 1298, 0, null, null, 'run', APP, 'js', 1]);
    const text = reportText(answerReport(answerOf(facts), 'a.vfst'));
    expect(text).toContain('CPU: 12 samples while SQL ran, one every 100 µs');
    expect(text).toMatch(/SELECT slow\(x\) FROM t +10 +70 %\n +slowScalar 57\.1 %/);
  });
});

describe('in a file', () => {
  test('come back unchanged; a cut keeps those in its range', async () => {
    const { store } = sampledStore();
    const { store: back, warnings } = await readTrace(
      new Uint8Array(await (await saveTrace(store)).arrayBuffer()),
    );
    expect(warnings).toEqual([]);
    expect(back.threads[0]!.cpu).toEqual(store.threads[0]!.cpu);
    expect(sumsOf(back)).toEqual(sumsOf(store));
    const cut = cutTo(store, [[0, 250]]).store.threads[0]!.cpu!;
    expect([...cut.us]).toEqual([98, 198]);
  });

  const packed = packedSamples(0, sampledStore().store.threads[0]!.cpu!);
  test.each<[string, object]>([
    ['a frame that calls itself', { parents: [0, -1, 1, 2, 2, -1] }],
    ['a function that is not there', { called: [0, 1, 2, 3, 4, 600] }],
    ['a frame that is not there', { frames: Array<number>(17).fill(6) }],
    ['a sample less', { frames: [0] }],
    ['time that goes back', { us: [100, ...Array<number>(16).fill(-1)] }],
    ['a time that no trace has', { us: [2 ** 60, ...Array<number>(16).fill(0)] }],
    ['half a function', { functions: ['run'] }],
    ['a function of no script', { functions: Array<unknown>(6).fill(['f', 'length', 0, 0, 0]) }],
    ['a function of no kind', { functions: Array<unknown>(6).fill(['f', 0, 0, 'map', 0]) }],
    [
      'a stack that no browser has',
      {
        parents: Array.from({ length: 257 }, (_, i) => i - 1),
        called: Array<number>(257).fill(0),
      },
    ],
    ['no list', { us: {} }],
  ])('%s is none', (_what, change) => {
    expect(checkedSamples({ ...packed } as Record<string, unknown>)).not.toBeNull();
    expect(checkedSamples({ ...packed, ...change })).toBeNull();
  });

  test("without the app's names, which a privacy report counts", () => {
    const { store } = sampledStore();
    expect(privacyReport(store)).toMatchObject({ functions: 4 });
    const clean = sanitizeStore(store);
    expect(clean.threads[0]!.cpu!.functions.map(({ name }) => name)).toEqual([
      '',
      'function1',
      'wasm-function[5]',
      'function2',
      'read',
      '',
    ]);
    expect(JSON.stringify(clean.threads[0]!.cpu)).not.toMatch(/app\.example|slowScalar|c0ffee/);
    expect(sumsOf(clean).statements.map(({ onCpu }) => onCpu)).toEqual([7, 1]);
  });
});

describe('names of wasm functions', () => {
  test('come from a module with the same number of functions', () => {
    const { store } = sampledStore();
    const given = { names: new Map([[5, 'patternCompare']]), functions: 5, starts: new Map() };
    expect(nameFunctions(store, given)).toBe(0);
    expect(nameFunctions(store, { ...given, functions: 6 })).toBe(1);
    expect(sumsOf(store).statements[1]!.functions[0]!.name).toBe('patternCompare');
  });

  test("don't come from another build, whose functions begin at other bytes", () => {
    const sampledAt = (columns: number[], instructions = false): TraceStore => {
      const { store } = sampledStore();
      const [thread] = store.threads;
      const { functions } = thread!.cpu!;
      const wasm = functions.find(({ kind }) => kind === 'wasm')!;
      const [first, ...more] = columns.map((column, i) => ({
        ...wasm,
        ...{ name: `wasm-function[${5 + i}]`, column },
      }));
      Object.assign(wasm, first);
      functions.push(...more);
      if (instructions)
        thread!.environment = {
          ...{ url: '', threadKind: 'worker', crossOriginIsolated: false, clockStepUs: 5 },
          ...{ userAgent: '', hidden: false, capture: { ...CAPTURE_DEFAULTS, instructions } },
        };
      return store;
    };
    const given = {
      names: new Map([5, 6].map((i) => [i, `f${i}`])),
      functions: 8,
      starts: new Map([
        [5, 100],
        [6, 250],
      ]),
    };
    expect(nameFunctions(sampledAt([101, 251]), given)).toBe(2);
    expect(nameFunctions(sampledAt([141, 291]), given), 'a section in front of the code').toBe(2);
    expect(nameFunctions(sampledAt([101, 252]), given)).toBe(0);
    expect(nameFunctions(sampledAt([101, 251, 400]), given), 'an import').toBe(0);
    expect(nameFunctions(sampledAt([101, 252], true), given), 'its code was rewritten').toBe(2);
  });

  test('are read from a name section', () => {
    // one type, one function of that type, its code; then names: function 0 is "step"
    const module = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 4, 1, 2, 0, 11];
    const section = [0, 14, 4, 110, 97, 109, 101, 1, 7, 1, 0, 4, 115, 116, 101, 112];
    expect(functionNames(Uint8Array.from([...module, ...section]))).toEqual({
      names: new Map([[0, 'step']]),
      starts: new Map([[0, 22]]),
      functions: 1,
    });
  });
});
