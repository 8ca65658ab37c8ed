/**
 * A processed profile for the Firefox Profiler (profiler.firefox.com): every call is a marker, with
 * schemas that declare its columns and tooltips. Written as version 47 of the processed format; the
 * profiler upgrades older versions when it loads them.
 */
import { threadTitles } from '../analysis/core/thread-titles.ts';
import {
  detailText,
  lengthOf,
  objectName,
  offsetOf,
  resultText,
  servedStatement,
} from '../trace/describe.ts';
import { OPS, opName } from '../event/operations.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import { inPieces } from './pieces.ts';

export const PROCESSED_PROFILE_VERSION = 47;
/** The version of Firefox's own recorder whose marker schemas these are. */
const GECKO_PROFILE_VERSION = 27;
/** Phases of a marker. */
const [INSTANT, INTERVAL, INTERVAL_START] = [0, 1, 2];

const CATEGORIES = [
  { name: 'Other', color: 'grey', subcategories: ['Other'] },
  { name: 'SQL', color: 'blue', subcategories: ['Other'] },
  { name: 'VFS', color: 'orange', subcategories: ['Other'] },
  { name: 'Storage', color: 'green', subcategories: ['Other'] },
  { name: 'Host', color: 'purple', subcategories: ['Other'] },
];
const CATEGORY_OF_LAYER: Readonly<Record<string, number>> = { sql: 1, vfs: 2, web: 3, host: 4 };

const field = (key: string, label: string, format: string): object => ({
  key,
  label,
  format,
  searchable: format === 'string',
});
const SCHEMA = ['sql', 'vfs', 'web', 'host'].map((layer) => ({
  name: layer,
  display: ['marker-chart', 'marker-table', 'timeline-overview'],
  tooltipLabel: '{marker.name} {marker.data.object}',
  tableLabel: '{marker.name} {marker.data.object} {marker.data.detail} {marker.data.result}',
  chartLabel: '{marker.data.object}',
  data: [
    field('object', 'On', 'string'),
    field('offset', 'Offset', 'integer'),
    field('length', 'Length', 'bytes'),
    field('detail', 'Detail', 'string'),
    field('result', 'Result', 'string'),
    field('statement', 'Statement', 'string'),
  ],
}));

const emptyTable = (...columns: string[]): object => ({
  ...Object.fromEntries(columns.map((name) => [name, []])),
  length: 0,
});
/** The parts of a thread that hold stack samples, all empty. */
const NO_SAMPLES = {
  samples: { weightType: 'samples', weight: null, eventDelay: [], stack: [], time: [], length: 0 },
  stackTable: emptyTable('frame', 'prefix', 'category', 'subcategory'),
  frameTable: emptyTable(
    'address',
    'inlineDepth',
    'category',
    'subcategory',
    'func',
    'nativeSymbol',
    'innerWindowID',
    'implementation',
    'line',
    'column',
  ),
  funcTable: emptyTable(
    'isJS',
    'relevantForJS',
    'name',
    'resource',
    'fileName',
    'lineNumber',
    'columnNumber',
  ),
  resourceTable: emptyTable('lib', 'name', 'host', 'type'),
  nativeSymbols: emptyTable('libIndex', 'address', 'name', 'functionSize'),
};

/** The whole trace as text, in pieces; times in it are milliseconds. */
export const firefoxProfile = (store: TraceStore): AsyncGenerator<string> => inPieces(texts(store));

function* texts(store: TraceStore): Generator<string> {
  const titles = threadTitles(store);
  const page = store.threads.find((t) => t.info.kind === 'page') ?? store.threads[0];
  const meta = {
    interval: 1,
    startTime: store.originMs,
    processType: 0,
    product: 'vfscope',
    stackwalk: 0,
    symbolicated: true,
    debug: false,
    version: GECKO_PROFILE_VERSION,
    preprocessedProfileVersion: PROCESSED_PROFILE_VERSION,
    abi: '',
    misc: '',
    oscpu: '',
    platform: '',
    toolkit: '',
    appBuildID: '',
    sourceURL: '',
    physicalCPUs: 0,
    logicalCPUs: 0,
    extensions: emptyTable('id', 'name', 'baseURL'),
    categories: CATEGORIES,
    markerSchema: SCHEMA,
    importedFrom: 'vfscope',
  };
  yield `{"meta":${JSON.stringify(meta)},"libs":[],"pages":[],"threads":[`;
  for (const thread of store.threads) {
    yield thread.index ? ',\n' : '\n';
    yield* threadJson(thread, titles[thread.index]!, thread === page);
  }
  yield '\n]}\n';
}

function* threadJson(thread: ThreadStore, title: string, isMainThread: boolean): Generator<string> {
  const { events } = thread;
  const { count } = events;
  const strings: string[] = [];
  const indexOfOp = new Map<number, number>();
  for (let i = 0; i < count; i++)
    if (!indexOfOp.has(events.op[i]!))
      indexOfOp.set(events.op[i]!, strings.push(opName(events.op[i]!)) - 1);
  const about = {
    processType: 'default',
    processStartupTime: 0,
    processShutdownTime: null,
    registerTime: 0,
    unregisterTime: null,
    pausedRanges: [],
    name: title,
    isMainThread,
    processName: 'vfscope',
    pid: '1',
    tid: thread.index + 1,
    ...NO_SAMPLES,
    stringArray: strings,
  };
  yield `${JSON.stringify(about).slice(0, -1)},"markers":{"length":${count}`;
  const open = (i: number): boolean => events.endSeq[i] === 0;
  const instant = (i: number): boolean =>
    OPS[events.op[i]!]?.layer === 'host' && events.dur[i] === 0 && !open(i);
  yield* column('name', count, (i) => String(indexOfOp.get(events.op[i]!)));
  yield* column('category', count, (i) =>
    String(CATEGORY_OF_LAYER[OPS[events.op[i]!]?.layer ?? ''] ?? 0),
  );
  yield* column('phase', count, (i) =>
    String(open(i) ? INTERVAL_START : instant(i) ? INSTANT : INTERVAL),
  );
  yield* column('startTime', count, (i) => ms(events.t0[i]!));
  yield* column('endTime', count, (i) =>
    open(i) || instant(i) ? 'null' : ms(events.t0[i]! + events.dur[i]!),
  );
  yield* column('data', count, (i) => JSON.stringify(payload(thread, i)));
  yield '}}';
}

/** One column of the markers. */
function* column(name: string, count: number, cell: (row: number) => string): Generator<string> {
  yield `,"${name}":[`;
  for (let i = 0; i < count; i++) yield (i ? ',' : '') + cell(i);
  yield ']';
}

/** Milliseconds with the trace's nanoseconds. */
const ms = (us: number): string => String(Math.round(us * 1000) / 1e6);

function payload(thread: ThreadStore, row: number): Record<string, string | number> {
  const { events } = thread;
  const op = events.op[row]!;
  const data: Record<string, string | number> = { type: OPS[op]?.layer ?? 'host' };
  const object = objectName(thread, events.object[row]!);
  if (object) data.object = object;
  const offset = offsetOf(events, row);
  if (offset !== null) data.offset = offset;
  const length = lengthOf(events, row);
  if (length) data.length = length;
  const detail = detailText(thread, row);
  if (detail) data.detail = detail;
  const result =
    events.endSeq[row] === 0
      ? 'not ended'
      : resultText(op, events.result[row]!, events.flags[row]!);
  if (result) data.result = result;
  const statement = servedStatement(thread, row);
  if (statement) data.statement = statement;
  return data;
}
