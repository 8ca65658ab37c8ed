// OTLP lines: one trace for each execution, with the calls that it made, and the names of
// OpenTelemetry's conventions.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { executions } from '../../src/analysis/core/executions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { BOUNDS, otlp } from '../../src/formats/otlp.ts';
import { isSqlOp, OPS } from '../../src/event/operations.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { ownersOf } from '../../src/trace/owners.ts';

interface Attribute {
  key: string;
  value: { stringValue?: string };
}
interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
}
interface Line {
  resourceSpans?: { scopeSpans: { spans: Span[] }[] }[];
  resourceMetrics?: {
    scopeMetrics: {
      metrics: {
        name: string;
        unit: string;
        histogram: {
          dataPoints: { count: string; bucketCounts: string[]; attributes: Attribute[] }[];
        };
      }[];
    }[];
  }[];
}
const valueOf = ({ attributes }: { attributes: Attribute[] }, key: string): string | undefined =>
  attributes.find((a) => a.key === key)?.value.stringValue;

test('spans and histogram of a golden trace', async () => {
  const { store } = await readTrace(readFileSync('tests/traces/golden/opfs-coop-sync.vfst'));
  let text = '';
  for await (const piece of otlp(store)) text += piece;
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const spans = lines.flatMap((l) =>
    (l.resourceSpans ?? []).flatMap((r) => r.scopeSpans.flatMap((s) => s.spans)),
  );
  const facts = new Facts(store);
  const count = store.threads.reduce((n, t) => n + facts.get(executions).of(t).count, 0);
  const roots = spans.filter(({ parentSpanId }) => !parentSpanId);
  expect(roots).toHaveLength(count);
  expect(count).toBeGreaterThan(0);

  // the calls below are those that the store's owners name
  const served = store.threads.reduce((n, thread) => {
    const owners = ownersOf(thread);
    const runs = facts.get(executions).of(thread);
    for (let row = 0; row < thread.events.count; row++) {
      const op = thread.events.op[row]!;
      const call = owners.statement(row);
      if (!isSqlOp(op) && OPS[op]?.layer !== 'host' && call >= 0 && runs.at(call) >= 0) n++;
    }
    return n;
  }, 0);
  expect(spans.length - roots.length).toBe(served);
  expect(served).toBeGreaterThan(0);
  expect(new Set(spans.map((s) => s.traceId + s.spanId)).size).toBe(spans.length);
  for (const { traceId, spanId } of spans)
    expect([traceId, spanId].join()).toMatch(/^[0-9a-f]{32},[0-9a-f]{16}$/);
  const ids = new Set(roots.map((s) => s.traceId + s.spanId));
  for (const span of spans)
    if (span.parentSpanId) expect(ids).toContain(span.traceId + span.parentSpanId);

  const insert = roots.find(({ name }) => name.startsWith('INSERT'))!;
  expect(insert.kind).toBe(3);
  expect(valueOf(insert, 'db.system.name')).toBe('sqlite');
  expect(valueOf(insert, 'db.operation.name')).toBe('INSERT');
  expect(valueOf(insert, 'db.query.summary')).toBe(insert.name);
  expect(valueOf(insert, 'db.query.text')).toMatch(/^insert/i);
  expect(valueOf(insert, 'db.query.text')).not.toMatch(/'\w+'/);

  const metrics = lines.flatMap((l) =>
    (l.resourceMetrics ?? []).flatMap((r) => r.scopeMetrics.flatMap((s) => s.metrics)),
  );
  expect(metrics.map(({ name, unit }) => [name, unit])).toEqual(
    metrics.map(() => ['db.client.operation.duration', 's']),
  );
  const points = metrics.flatMap(({ histogram }) => histogram.dataPoints);
  expect(points.reduce((n, p) => n + Number(p.count), 0)).toBe(count);
  for (const point of points) {
    expect(point.bucketCounts).toHaveLength(BOUNDS.length + 1);
    expect(point.bucketCounts.reduce((n, each) => n + Number(each), 0)).toBe(Number(point.count));
    // there are as many series as statements
    expect(valueOf(point, 'db.query.text')).toBeUndefined();
  }
});
