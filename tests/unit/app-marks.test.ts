/** The track of the app's own marks and measures. */
import { expect, it } from 'vitest';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import { rowAt } from '../../src/trace/lanes/frame.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const store = newStore();
const b = new ThreadBuilder(store, { name: 'page' });
const name = (text: string): number => b.define({ kind: 'name', text });
b.call('mark', { object: name('boot'), offset: 0, dur: 0 }); // 0
b.idle(1000);
b.call('mark', { object: name('near'), offset: 1, dur: 0 });
b.idle(9000);
// reported at its end, at 10 ms: one that began at 2 ms and lasted 6 ms, and one of 1 ms inside it,
// at 4 ms
b.call('measure', { object: name('query'), offset: 4, length: 1000, dur: 0 });
b.call('measure', { object: name('open report'), offset: 2, length: 6000, dur: 0 });
b.call('visibility', { aux: 1, dur: 0 });
b.send();
const lanes = new TimelineLanes(store);
lanes.update(12_000);

it('shows a measure at its own time, not where it was reported, and the inner one above the outer', () => {
  expect(lanes.rows.map(({ key, events }) => [key, events])).toEqual([['0:marks', 5]]);
  const [frame] = lanes.frames(['0:marks'], 0, 12_000, 1200);
  const slices = Array.from({ length: frame!.slices.length / 5 }, (_, i) => [
    Math.round(frame!.slices[5 * i + 1]!),
    Math.round(frame!.slices[5 * i + 2]!),
    frame!.labels[frame!.slices[5 * i + 4]!],
  ]);
  expect(slices).toEqual([
    [200, 400, 'open report'],
    [400, 500, 'query'],
    [500, 800, 'open report'],
  ]);
  const lane = lanes.lane('0:marks')!;
  expect([3000, 4500, 7999].map((us) => lane.labelOf!(rowAt(lane, us, 0), 0))).toEqual([
    ...['open report', 'query', 'open report'],
  ]);
});

it('shows interactions and long tasks at their own time, even if there are no marks', () => {
  const own = newStore();
  const page = new ThreadBuilder(own, { name: 'page' });
  page.idle(100_000);
  const told = (op: 'longTask' | 'interaction', text: string, ms: number, us: number): void =>
    void page.call(op, {
      object: page.define({ kind: 'name', text }),
      offset: ms,
      length: us,
      dur: 0,
    });
  told('longTask', 'long task', 10, 60_000);
  told('interaction', 'click', 20, 24_000);
  page.send();
  const timeline = new TimelineLanes(own);
  timeline.update(100_000);
  expect(timeline.rows.map(({ key, events }) => [key, events])).toEqual([['0:marks', 2]]);
  const lane = timeline.lane('0:marks')!;
  const at = (us: number): unknown => lane.labelOf!(rowAt(lane, us, 0), 0);
  expect([15_000, 30_000, 60_000].map(at)).toEqual(['long task', 'click', 'long task']);
});

it('has labels next to moments where they fit', () => {
  const texts = (width: number): [number, string][] => {
    const { x, texts } = lanes.frames(['0:marks'], 0, 12_000, width)[0]!.texts!;
    return texts.map((text, i) => [Math.round(x[i]!), text]);
  };
  expect(texts(1200)).toEqual([
    [0, 'boot'],
    [100, 'near'],
    [1000, 'hidden'],
  ]);
  expect(texts(600)).toEqual([
    [0, 'boot'],
    [500, 'hidden'],
  ]);
});

it('is absent if the page only became hidden', () => {
  const quiet = newStore();
  const page = new ThreadBuilder(quiet, { name: 'page' });
  page.call('visibility', { aux: 1, dur: 0 });
  page.send();
  const none = new TimelineLanes(quiet);
  none.update(10);
  expect(none.rows).toEqual([]);
});
