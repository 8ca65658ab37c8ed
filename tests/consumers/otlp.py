"""Reads OTLP JSON lines with OpenTelemetry's own protobuf messages: sums as JSON on standard output. Unknown fields are errors."""
import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData


def hex_ids(value):
    """OTLP/JSON has ids in hex instead of protobuf's base64 (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)."""
    if isinstance(value, list):
        return [hex_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(each)).decode() if key in ids else hex_ids(each)
        for key, each in value.items()
    }


spans, points = [], []
for line in sys.stdin:
    parsed = hex_ids(json.loads(line))
    if "resourceSpans" in parsed:
        for resource in json_format.ParseDict(parsed, TracesData()).resource_spans:
            spans += [span for scope in resource.scope_spans for span in scope.spans]
    else:
        for resource in json_format.ParseDict(parsed, MetricsData()).resource_metrics:
            for scope in resource.scope_metrics:
                points += [point for metric in scope.metrics for point in metric.histogram.data_points]

roots = {(span.trace_id, span.span_id): span for span in spans if not span.parent_span_id}
attribute = lambda span, key: next((a.value.string_value for a in span.attributes if a.key == key), None)
print(
    json.dumps(
        {
            "executions": len(roots),
            "calls": len(spans) - len(roots),
            "orphans": sum(1 for s in spans if s.parent_span_id and (s.trace_id, s.parent_span_id) not in roots),
            "ids": len({(s.trace_id, s.span_id) for s in spans}),
            "backwards": sum(1 for s in spans if s.end_time_unix_nano < s.start_time_unix_nano),
            "lengths": sorted({len(s.trace_id) for s in spans} | {len(s.span_id) for s in spans}),
            "systems": sorted({str(attribute(s, "db.system.name")) for s in roots.values()}),
            "kinds": sorted({s.kind for s in spans}),
            "measured": sum(p.count for p in points),
            "buckets": sum(sum(p.bucket_counts) for p in points),
        }
    )
)
