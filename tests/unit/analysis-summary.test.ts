// A summary's description of what was recorded: it doesn't report that a layer that the user
// excluded made no calls.
import { describe, expect, test } from 'vitest';
import { numbersOf } from '../../src/analysis/report/summary-numbers.ts';
import { engineCoverage } from '../../src/analysis/report/engine-coverage.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { CAPTURE_DEFAULTS, type CapturedLayer } from '../../src/event/capture.ts';
import type { ThreadEnvironment } from '../../src/event/definitions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { noFindings } from '../../src/analysis/findings/finding-facts.ts';
import { badges } from '../../src/analysis/findings/index.ts';
import { unrecordedWorkers } from '../../src/analysis/core/unrecorded-workers.ts';
import { numbersFrom } from '../../src/analysis/numbers/headline-numbers.ts';
import { reportOf } from '../../src/analysis/report/report.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { formatBound } from '../../src/text/numbers.ts';
import { numberTitle } from '../../src/viewer/ui/number-title.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const environment = (
  layers: CapturedLayer[],
  own: Partial<ThreadEnvironment> = {},
): ThreadEnvironment => ({
  ...{ url: 'https://app.example/', threadKind: 'worker', userAgent: '', hidden: null },
  ...{ crossOriginIsolated: false, clockStepUs: 100 },
  capture: { ...CAPTURE_DEFAULTS, layers },
  ...own,
});

function layersOf(layers: CapturedLayer[]): unknown {
  const store = newStore();
  const { thread } = new ThreadBuilder(store);
  thread.environment = environment(layers);
  return summaryOf(store).threads[0]!.layers;
}

describe('the layers of a thread', () => {
  test('Web API calls are visible wherever they are hooked', () =>
    expect(layersOf(['vfs', 'web'])).toEqual(['web']));
  test('but not if the user excluded them', () => expect(layersOf(['vfs'])).toEqual([]));
});

describe('what is recorded of an engine', () => {
  const coverage = (layers: CapturedLayer[], query: boolean | undefined): string => {
    const t = new ThreadBuilder(newStore());
    t.thread.environment = environment(layers);
    t.say({
      ...{ kind: 'engine', id: 9, name: 'sql.js', sqliteVersion: '3.49.0', sourceId: null },
      ...{ suspension: 'none', note: null },
      layers: { vfs: true, sql: true, counters: true, ...(query !== undefined && { query }) },
    });
    t.call('sqlStep', { result: 101 });
    t.send();
    return engineCoverage(summaryOf(t.store).engines[0]!).split('; all workers')[0]!;
  };
  const ALL: CapturedLayer[] = ['sql', 'vfs', 'web', 'query'];

  test('the query counters are a layer', () =>
    expect(coverage(ALL, true)).toBe(
      'recorded: storage calls, VFS calls, statements, counters, query',
    ));
  test('a build without their function says so', () =>
    expect(coverage(ALL, false)).toBe(
      'recorded: storage calls, VFS calls, statements, counters; not recorded: query (this build lacks sqlite3_stmt_status)',
    ));
  test('the user excluded them', () =>
    expect(coverage(['sql', 'vfs', 'web'], false)).toBe(
      'recorded: storage calls, VFS calls, statements, counters; not recorded: query (the recording leaves it out)',
    ));
  test('an older recording has no statement about them', () =>
    expect(coverage(['sql', 'vfs', 'web'], undefined)).toBe(
      'recorded: storage calls, VFS calls, statements, counters',
    ));
});

test('total flushes are those of the files, including closes of streams', () => {
  const t = new ThreadBuilder(newStore());
  const file = t.define({ kind: 'opfs-file', path: '/app.db' });
  for (const op of ['opfsFlush', 'opfsStreamWrite', 'opfsStreamClose'] as const)
    t.call(op, { object: file, offset: 0, length: 512 });
  t.send();
  const { web, files } = summaryOf(t.store);
  expect([web.opfs.flushes, web.opfs.writes, web.opfs.writeBytes]).toEqual([2, 1, 512]);
  expect(files).toMatchObject([{ web: { flushes: 2, writes: 1, writeBytes: 512 } }]);
});

/** Numbers of storage calls, in total and of the one file, and why they are unknown. */
function storageNumbers(layers: CapturedLayer[]): {
  numbers: (number | null)[];
  cause: string | undefined;
} {
  const store = newStore();
  const t = new ThreadBuilder(store);
  t.thread.environment = environment(layers);
  t.call('xWrite', { object: t.file('/app.db'), offset: 0, length: 4096 });
  t.send();
  const summary = summaryOf(store);
  expect(summary.files[0]!.vfs.xWrite).toBe(1);
  const numbers = [...numbersOf(summary)]
    .filter(([path]) => /^web\.|^files\[.*\]\.web\./.test(path))
    .map(([, value]) => value);
  return { numbers, cause: summary.unknown['web'] };
}

describe('storage calls', () => {
  test('none if they were recorded', () =>
    expect(storageNumbers(['vfs', 'web'])).toEqual({
      numbers: new Array(31).fill(0),
      cause: undefined,
    }));
  test('unknown if they were excluded, with the cause', () =>
    expect(storageNumbers(['vfs'])).toEqual({
      numbers: new Array(31).fill(null),
      cause: 'no storage call was recorded: the recording leaves that layer out',
    }));
});

test('clock and isolation are those of the threads that run SQLite', () => {
  const store = newStore();
  const sqlite = new ThreadBuilder(store);
  const page = new ThreadBuilder(store);
  const beside = new ThreadBuilder(store);
  sqlite.thread.environment = environment(['vfs'], { crossOriginIsolated: true, clockStepUs: 20 });
  for (const { thread } of [page, beside])
    thread.environment = environment(['vfs'], { clockStepUs: 1000 });
  const known = (): unknown[] => {
    const { clockStepUs, crossOriginIsolated } = summaryOf(store).environment;
    return [clockStepUs, crossOriginIsolated];
  };
  expect(known()).toEqual([1000, null]);
  page.call('idbGet', {});
  page.send();
  expect(known()).toEqual([1000, false]);
  sqlite.call('xWrite', { object: sqlite.file('/app.db'), offset: 0, length: 4096 });
  sqlite.send();
  expect(known()).toEqual([20, true]);
});

describe("what the recording didn't see", () => {
  const engine = { name: 'sqlite3', sqliteVersion: null, sourceId: null, suspension: 'none' };
  const layers = { vfs: true, sql: true, counters: false };
  /** A page that loads an engine, calls its VFS, and starts a native worker twice. */
  const trace = (): TraceStore => {
    const t = new ThreadBuilder(newStore(), { kind: 'page', url: 'https://app.example/' });
    t.say({ kind: 'engine', id: 90, ...engine, note: null, layers } as never);
    const text = 'Not recorded: a data: URL has no origin, so no storage to record.';
    for (const url of ['data:text/javascript,0', 'data:text/javascript,0'])
      t.say({ kind: 'note', id: 0, topic: 'worker-native', text, url });
    t.call('xRead', { object: t.file('/app.db'), offset: 0, length: 4096 });
    t.send();
    return t.store;
  };

  test('an engine whose SQL functions were never called has unknown statements, not 0', () => {
    const said = summaryOf(trace());
    expect(said.engines.map((e) => e.layers)).toEqual([
      { web: false, vfs: true, sql: false, counters: false },
    ]);
    expect(said.statements).toEqual({ count: null, distinct: null });
    expect(said.unknown['statements']).toContain('called from inside its own module');
  });

  test('a worker without storage is named, and counts stay exact: in JSON, in the report, and in the badges', () => {
    const store = trace();
    const cause = 'a data: URL has no origin, so no storage to record.';
    expect(summaryOf(store).unrecordedWorkers).toEqual([
      { url: 'data:text/javascript,0', cause, kind: 'data', pages: [store.threads[0]!.info.id] },
    ]);
    const say = `1 worker isn't recorded: no storage can be reached from there, so counts are exact. a data: URL: ${cause}`;
    const facts = new Facts(store);
    expect(facts.get(badges)[0]).toEqual({ badge: 'Workers not recorded', say });
    const caveats = reportOf(facts).blocks.find(({ heading }) => heading === 'Caveats');
    expect(caveats?.lines).toContain(`Workers not recorded: ${say}`);
    expect(numbersFrom(facts).get('reads')).toMatchObject({ value: 1, unseen: null });
  });

  /** Unrecorded workers of these topics and scripts next to what `run` records. */
  const beside = (run: (t: ThreadBuilder) => void, ...notes: [string, string][]): Facts => {
    const t = new ThreadBuilder(newStore(), { kind: 'page', url: 'https://app.example/' });
    for (const [topic, url] of notes)
      t.say({ kind: 'note', id: 0, topic, text: 'Not recorded: a cause.', url } as never);
    run(t);
    t.send();
    return new Facts(t.store);
  };
  const reads = (t: ThreadBuilder): unknown =>
    t.call('xRead', { object: t.file('/app.db'), offset: 0, length: 4096 });
  const WORKER: [string, string] = ['worker-native', 'https://app.example/db.js'];
  const SERVICE: [string, string] = ['service-worker-native', 'https://app.example/sw.js'];

  test('an engine reports which of its layers are recorded, and which workers of its page are not', () => {
    const store = newStore();
    const page = (id: string, ...notes: [string, string][]): ThreadBuilder => {
      const t = new ThreadBuilder(store, { id, kind: 'page', url: 'https://app.example/' });
      for (const [topic, url] of notes)
        t.say({ kind: 'note', id: 0, topic, text: 'Not recorded: a cause.', url } as never);
      t.say({ kind: 'engine', id: 90, ...engine, note: null, layers } as never);
      reads(t);
      return t;
    };
    const other: [string, string] = ['worker-native', 'https://app.example/other.js'];
    const late: [string, string] = ['late-start', 'https://app.example/'];
    for (const t of [
      page('a'),
      page('b', SERVICE, WORKER),
      page('c', WORKER, other),
      page('d', late),
    ])
      t.send();
    const lines = reportOf(new Facts(store)).blocks[0]!.facts!;
    expect(lines.flatMap(([name, text]) => (name === 'engine' ? [text] : []))).toEqual([
      'sqlite3, VFS test; recorded: VFS calls; not recorded: storage calls, statements, counters; all workers that may use storage for it are recorded',
      "sqlite3, VFS test; recorded: VFS calls; not recorded: storage calls, statements, counters; db.js of its page isn't recorded, so the storage calls that it makes for the engine are missing",
      "sqlite3, VFS test; recorded: VFS calls; not recorded: storage calls, statements, counters; db.js and 1 other worker of its page aren't recorded, so the storage calls that they make for it are missing",
      "sqlite3, VFS test; recorded: VFS calls; not recorded: storage calls, statements, counters; workers that ran before the recording began aren't recorded, and may use storage for it",
    ]);
  });

  test('workers that may own a database come first, make counts, bytes, and times lower bounds, and ratios partial', () => {
    const facts = beside(reads, SERVICE, WORKER);
    expect(facts.get(unrecordedWorkers).map(({ kind }) => kind)).toEqual(['any', 'service']);
    const numbers = numbersFrom(facts);
    const text = "db.js isn't recorded";
    expect(numbers.get('readBytes')).toMatchObject({ value: 4096, unseen: text });
    expect(formatBound(numbers.get('reads'))).toBe('≥ 1');
    expect(formatBound(numbers.get('rereads'))).toBe('1 (partial)');
    expect(numberTitle(numbers.get('rereads'))).toMatch(/\n\nPartial: db\.js isn't recorded\.$/);
    expect(formatBound(numbers.get('hitRate'))).toBe('n/a');
    for (const id of ['duration', 'events', 'dropped'] as const)
      expect(numbers.get(id)).toMatchObject({ unseen: null });
    expect(reportText(reportOf(facts))).toContain('≥ 4 KiB');
  });

  test('where no other thread ran SQLite, what it did is unknown, never 0', () => {
    const facts = beside((t) => t.call('opfsRead'), WORKER);
    const numbers = numbersFrom(facts);
    const cause = "db.js isn't recorded, and SQLite was seen nowhere else";
    for (const id of ['writes', 'syncs', 'commits', 'writtenBytes', 'lockWaits'] as const)
      expect(numbers.get(id)).toMatchObject({ value: null, cause, unseen: null });
    expect(numbers.get('reads')).toMatchObject({ value: 1, unseen: cause });
    expect(summaryOf(facts.store).unknown['commits']).toBe(cause);
  });

  test('a service worker alone changes no number', () => {
    const facts = beside(reads, SERVICE);
    expect(numbersFrom(facts).get('reads')).toMatchObject({ value: 1, unseen: null });
  });

  test('without SQLite the summary promises no findings', () => {
    const page = new ThreadBuilder(newStore(), { kind: 'page' });
    page.call('opfsRead');
    page.send();
    expect(new Facts(page.store).get(noFindings)).toMatch(/^vfscope saw no SQLite engine/);
    expect(new Facts(trace()).get(noFindings)).toMatch(/^No known mistake found/);
    expect(summaryOf(page.store).unknown['statements']).toMatch(/no SQLite engine was seen$/);
  });
});
