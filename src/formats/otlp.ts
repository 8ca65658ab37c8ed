/**
 * OpenTelemetry's JSON lines, as the collector's file exporter writes and its otlpjsonfile receiver
 * reads them: lines with spans, and one with a histogram. Names are those of the stable conventions
 * for databases (opentelemetry.io/docs/specs/semconv/database); other names begin with `vfscope.`.
 *
 * Each execution of a statement is a trace of its own: a CLIENT span, and an INTERNAL span for each
 * VFS and storage call that served it. A call that served no statement is left out, because it
 * doesn't belong to a database operation.
 */
import { executions, ExecutionState, type Executions } from '../analysis/core/executions.ts';
import { Facts } from '../analysis/core/graph.ts';
import { fingerprintsOf } from '../analysis/core/fingerprints.ts';
import { threadTitles } from '../analysis/core/thread-titles.ts';
import { isSqlOp, OPS, opName } from '../event/operations.ts';
import { statementKind } from '../sqlite/statement-kind.ts';
import { isErrorResult, resultName } from '../sqlite/result-codes.ts';
import {
  detailText,
  lengthOf,
  objectName,
  offsetOf,
  isFailure,
  resultText,
} from '../trace/describe.ts';
import { ownersOf } from '../trace/owners.ts';
import type { ThreadStore, TraceStore } from '../trace/store.ts';
import { threadEndUs } from '../trace/thread-end.ts';
import { inPieces } from './pieces.ts';
import { toNs } from './tables.ts';

interface Value {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
}
type Attribute = { key: string; value: Value };
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code?: number };
}

const KIND = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
const DELTA = 1;
/** Spans of a line. */
const LINE_SPANS = 1000;
/** Buckets that the conventions recommend for `db.client.operation.duration`, in seconds. */
export const BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
const DURATION = 'db.client.operation.duration';

const text = (key: string, value: string | null | undefined): Attribute[] =>
  value ? [{ key, value: { stringValue: value } }] : [];
const whole = (key: string, value: number | null): Attribute[] =>
  value === null ? [] : [{ key, value: { intValue: String(value) } }];

/** The trace as lines of JSON. */
export const otlp = (store: TraceStore): AsyncGenerator<string> => inPieces(lines(store));

function* lines(store: TraceStore): Generator<string> {
  const facts = new Facts(store);
  const titles = threadTitles(store);
  const [, endUs] = store.extent();
  const clock = new Clock(store.originMs);
  for (const thread of store.threads) {
    const found = facts.get(executions).of(thread);
    const resource = resourceOf(store, thread, titles[thread.index]!);
    const durations = new Durations();
    const horizon = threadEndUs(thread, endUs);
    let spans: Span[] = [];
    for (const span of spansOf(thread, found, clock, horizon, durations)) {
      spans.push(span);
      if (spans.length < LINE_SPANS) continue;
      yield spanLine(resource, spans);
      spans = [];
    }
    if (spans.length) yield spanLine(resource, spans);
    if (durations.points.size)
      yield metricLine(resource, durations, clock.at(0), clock.at(horizon));
  }
}

/** Nanoseconds since the epoch, as text: they exceed what numbers can hold. */
class Clock {
  private readonly origin: bigint;
  constructor(originMs: number) {
    this.origin = BigInt(Math.round(originMs * 1000)) * 1000n;
  }
  at(us: number): string {
    return String(this.origin + BigInt(toNs(us)));
  }
}

const SCOPE = { name: 'vfscope' };
const spanLine = (resource: object, spans: readonly Span[]): string =>
  `${JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans }] }] })}\n`;

function resourceOf(store: TraceStore, thread: ThreadStore, title: string): object {
  const page = store.threads.find(({ info }) => info.kind === 'page') ?? thread;
  const host = /^\w+:\/\/([^/]+)/.exec(page.info.url)?.[1] ?? 'page';
  return {
    attributes: [
      ...text('service.name', host),
      ...text('user_agent.original', thread.environment?.userAgent),
      ...text('thread.name', title),
      ...whole('thread.id', thread.index),
    ],
  };
}

/** What spans and the histogram have of an operation. */
interface Operation {
  name: string;
  attributes: Attribute[];
}

function* spansOf(
  thread: ThreadStore,
  found: Executions,
  clock: Clock,
  horizon: number,
  durations: Durations,
): Generator<Span> {
  const { events } = thread;
  const ids = new Ids(thread);
  const prints = fingerprintsOf(thread);
  const owners = ownersOf(thread);
  const endOf = (row: number): number =>
    events.endSeq[row] ? events.t0[row]! + events.dur[row]! : Math.max(horizon, events.t0[row]!);
  const engine = thread.engines[0];
  for (let i = 0; i < found.count; i++) {
    const [first, last] = [found.firstRow[i]!, found.lastRow[i]!];
    const operation = operationOf(prints(found.text[i]!));
    const isFailed = found.state[i] === ExecutionState.failed;
    const result = events.result[last]!;
    const failure =
      isFailed && isErrorResult(result) ? resultName(result) : isFailed ? '_OTHER' : null;
    const error = [
      ...(isFailed ? text('error.type', failure) : []),
      ...(isFailed && failure !== '_OTHER' ? text('db.response.status_code', String(result)) : []),
    ];
    const common = [...text('db.system.name', 'sqlite'), ...operation.attributes, ...error];
    if (found.state[i] !== ExecutionState.running)
      durations.add(
        common.filter(({ key }) => key !== 'db.query.text'),
        found.us[i]! / 1e6,
      );
    yield {
      traceId: ids.trace(first),
      spanId: ids.span(first),
      name: operation.name,
      kind: KIND.client,
      startTimeUnixNano: clock.at(events.t0[first]!),
      endTimeUnixNano: clock.at(Math.max(endOf(last), events.t0[first]!)),
      attributes: [
        ...common,
        ...whole('db.response.returned_rows', found.rows[i]!),
        ...text('vfscope.engine', engine?.name),
        ...text('vfscope.sqlite.version', engine?.sqliteVersion),
        ...whole('vfscope.sql.duration_ns', toNs(found.us[i]!)),
      ],
      status: isFailed ? { code: STATUS_ERROR } : {},
    };
  }
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row]!;
    if (isSqlOp(op) || OPS[op]?.layer === 'host') continue;
    const call = owners.statement(row);
    const execution = call < 0 ? -1 : found.at(call);
    if (execution < 0) continue;
    const root = found.firstRow[execution]!;
    const failed =
      events.endSeq[row] !== 0 && isFailure(op, events.result[row]!, events.flags[row]!);
    yield {
      traceId: ids.trace(root),
      spanId: ids.span(row),
      parentSpanId: ids.span(root),
      name: opName(op),
      kind: KIND.internal,
      startTimeUnixNano: clock.at(events.t0[row]!),
      endTimeUnixNano: clock.at(endOf(row)),
      attributes: [
        ...text('vfscope.layer', OPS[op]?.layer),
        ...text('vfscope.object', objectName(thread, events.object[row]!)),
        ...whole('vfscope.length', lengthOf(events, row)),
        ...whole('vfscope.offset', wholeOr(offsetOf(events, row))),
        ...text('vfscope.detail', detailText(thread, row)),
        ...(failed
          ? text('error.type', resultText(op, events.result[row]!, events.flags[row]!) || '_OTHER')
          : []),
      ],
      status: failed ? { code: STATUS_ERROR } : {},
    };
  }
}

const wholeOr = (value: number | null): number | null =>
  value !== null && Number.isSafeInteger(value) ? value : null;

const known = new Map<string | null, Operation>();
function operationOf(sql: string | null): Operation {
  let found = known.get(sql);
  if (found) return found;
  if (sql === null) found = { name: 'sqlite', attributes: [] };
  else {
    // the first word of the text, or the kind of the statement after EXPLAIN and WITH
    const kind = statementKind(sql).toUpperCase();
    const verb = /^[a-z]+/i.exec(sql)?.[0].toUpperCase() ?? kind;
    const operation = verb === 'WITH' ? kind : verb;
    const target = TARGET.exec(sql)?.[1];
    const summary = target ? `${operation} ${target}` : operation;
    found = {
      name: summary,
      attributes: [
        ...text('db.operation.name', operation),
        ...text('db.query.summary', summary),
        ...text('db.query.text', sql),
      ],
    };
  }
  if (known.size < 10_000) known.set(sql, found);
  return found;
}
/** The first table of a statement that names one. */
const TARGET = /\b(?:from|into|update(?:\s+or\s+\w+)?|join)\s+["`[]?([\w.$]+)/i;

/** Trace and span ids, hex. They are the same in each export of a trace. */
class Ids {
  private readonly head: string;
  constructor(private readonly thread: ThreadStore) {
    let hash = 0x811c9dc5;
    for (const c of `${thread.info.id} ${thread.info.timeOrigin}`)
      hash = Math.imul(hash ^ c.codePointAt(0)!, 0x01000193) >>> 0;
    this.head = hash.toString(16).padStart(8, '0');
  }
  trace(row: number): string {
    return `${this.head}${this.seq(row).padStart(24, '0')}`;
  }
  span(row: number): string {
    return `${(this.thread.index + 1).toString(16).padStart(8, '0')}${this.seq(row)}`;
  }
  private seq(row: number): string {
    return this.thread.events.seq[row]!.toString(16).padStart(8, '0');
  }
}

interface Point {
  attributes: Attribute[];
  counts: number[];
  sum: number;
  min: number;
  max: number;
}
class Durations {
  /** By their attributes. */
  readonly points = new Map<string, Point>();

  add(attributes: Attribute[], seconds: number): void {
    const key = JSON.stringify(attributes);
    let point = this.points.get(key);
    if (!point) {
      const counts = new Array<number>(BOUNDS.length + 1).fill(0);
      point = { attributes, counts, sum: 0, min: Infinity, max: 0 };
      this.points.set(key, point);
    }
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    point.counts[bucket < 0 ? BOUNDS.length : bucket]!++;
    point.sum += seconds;
    point.min = Math.min(point.min, seconds);
    point.max = Math.max(point.max, seconds);
  }
}

function metricLine(resource: object, { points }: Durations, from: string, to: string): string {
  const dataPoints = Array.from(points.values(), ({ attributes, counts, sum, min, max }) => ({
    attributes,
    startTimeUnixNano: from,
    timeUnixNano: to,
    count: String(counts.reduce((a, b) => a + b)),
    sum,
    bucketCounts: counts.map(String),
    explicitBounds: BOUNDS,
    min,
    max,
  }));
  const metric = {
    name: DURATION,
    unit: 's',
    description: 'Duration of database client operations.',
    histogram: { aggregationTemporality: DELTA, dataPoints },
  };
  return `${JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ scope: SCOPE, metrics: [metric] }] }] })}\n`;
}
