/** Frames of a time range whose pauses are left out: the parts between pauses, side by side. */
import { RUN_FIELDS, SLICE_FIELDS } from '../trace/lanes/frame.ts';
import { KINDS } from '../trace/lanes/interval-index.ts';
import type { TimelineLaneFrame } from './timeline-lanes.ts';

interface Stretch {
  from: number;
  to: number;
}

/**
 * @param from begin of the picture in folded time, microseconds: real time without the pauses
 * before
 * @param pauses ascending and disjoint, real time
 * @param frames the same of a part without a pause, in real time
 */
export function foldedFrames(
  { from, to, width }: Stretch & { width: number },
  pauses: readonly Stretch[],
  frames: (from: number, to: number, width: number) => TimelineLaneFrame[],
): TimelineLaneFrame[] {
  const usPerColumn = (to - from) / width;
  const byKey = new Map<string, TimelineLaneFrame>();
  let left = 0;
  let folded = 0;
  for (let i = 0; i <= pauses.length && left < width; i++) {
    const pause = pauses[i];
    // the part before this pause ends here, in folded time; parts take whole columns
    const end = pause ? pause.from - folded : Infinity;
    const right = Math.min(width, Math.max(left, Math.round((end - from) / usPerColumn)));
    if (right > left) {
      const begin = from + folded + left * usPerColumn;
      const part = frames(begin, begin + (right - left) * usPerColumn, right - left);
      for (const frame of part) put(byKey, frame, left, right - left, width);
      left = right;
    }
    if (pause) folded += pause.to - pause.from;
  }
  return [...byKey.values()];
}

function put(
  byKey: Map<string, TimelineLaneFrame>,
  frame: TimelineLaneFrame,
  at: number,
  columns: number,
  width: number,
): void {
  let whole = byKey.get(frame.key);
  if (!whole) {
    const { key, stack, values, busy } = frame;
    whole = {
      key,
      busy: new Uint8Array(busy.length ? width : 0),
      activity: new Uint8Array(busy.length ? width : 0),
      slices: new Float32Array(0),
      labels: [],
      ...(stack && { stack: new Uint8Array(width * KINDS) }),
      ...(values && { values: new Float32Array(width).fill(NaN) }),
    };
    byKey.set(key, whole);
  }
  if (frame.busy.length) {
    whole.busy.set(frame.busy, at);
    whole.activity.set(frame.activity, at);
  }
  if (frame.stack) whole.stack?.set(frame.stack, at * KINDS);
  if (frame.values) whole.values?.set(frame.values, at);
  if (frame.exact !== undefined && frame.exact < columns)
    whole.exact = Math.min(whole.exact ?? width, at + frame.exact);
  whole.slices = joined(
    whole.slices,
    frame.slices,
    SLICE_FIELDS,
    [1, 2],
    at,
    4,
    whole.labels.length,
  );
  whole.labels.push(...frame.labels);
  if (frame.runs) {
    const { runs, labels } = (whole.runs ??= { runs: new Float32Array(0), labels: [] });
    whole.runs.runs = joined(runs, frame.runs.runs, RUN_FIELDS, [0, 1], at, 4, labels.length);
    labels.push(...frame.runs.labels);
  }
  if (frame.texts) {
    const { x, texts } = (whole.texts ??= { x: new Float32Array(0), texts: [] });
    whole.texts.x = Float32Array.from([...x, ...frame.texts.x.map((px) => px + at)]);
    texts.push(...frame.texts.texts);
  }
}

/**
 * @param px fields that are positions @param label the field that is an index into labels, of which
 * there were `labels` before
 */
function joined(
  before: Float32Array,
  more: Float32Array,
  fields: number,
  px: readonly number[],
  at: number,
  label: number,
  labels: number,
): Float32Array {
  const all = new Float32Array(before.length + more.length);
  all.set(before);
  all.set(more, before.length);
  for (let i = before.length; i < all.length; i += fields) {
    for (const field of px) all[i + field]! += at;
    if (all[i + label]! >= 0) all[i + label]! += labels;
  }
  return all;
}
