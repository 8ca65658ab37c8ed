// Names of threads in every view, what a table puts on the clipboard, and how a counter's track
// describes its height.
import { describe, expect, it } from 'vitest';
import { SQL_PARTS } from '../../src/analysis/core/time-parts.ts';
import { contrastOf } from '../../src/viewer/ui/charts/palette.ts';
import { laneTooltip, scaleText, timeColumn } from '../../src/viewer/ui/charts/lane-tooltip.ts';
import type { FrameStrip } from '../../src/viewer/ui/charts/frame-strip.ts';
import type { Column } from '../../src/viewer/ui/parts/columns.ts';
import { tsvOfRows } from '../../src/viewer/ui/parts/tsv.ts';
import { threadTitles } from '../../src/analysis/core/thread-titles.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

describe('threads', () => {
  const page = (store: ReturnType<typeof newStore>, id: string): number[] =>
    new ThreadBuilder(store, { id, kind: 'page', url: 'https://app.example/shop/' }).send();
  const worker = (store: ReturnType<typeof newStore>, parent: string | null, name = ''): number[] =>
    new ThreadBuilder(store, { parent, name }).send();

  it('of one page have plain names, and a number if two are alike', () => {
    const store = newStore();
    page(store, 'p');
    worker(store, 'p');
    worker(store, 'p');
    worker(store, 'p', 'search');
    expect(threadTitles(store)).toEqual([
      'Page app.example/shop/',
      'Worker worker.js',
      'Worker worker.js (2)',
      'search · worker worker.js',
    ]);
  });
  it('of several pages name their page, unless it is unknown', () => {
    const store = newStore();
    page(store, 'p');
    worker(store, 'p');
    page(store, 'q');
    worker(store, 'q');
    worker(store, 'gone');
    expect(threadTitles(store)).toEqual([
      'Page 1 · app.example/shop/',
      'Page 1 · Worker worker.js',
      'Page 2 · app.example/shop/',
      'Page 2 · Worker worker.js',
      'Worker worker.js',
    ]);
  });
  it('keep a name chosen by the page from turning or flooding the text next to it', () => {
    const store = newStore();
    worker(store, null, `a\u202eb\u0000\u2066c${'x'.repeat(500)}`);
    worker(store, null, '\u202e\u200f');
    expect(threadTitles(store)).toEqual([
      `a b c${'x'.repeat(75)}… · worker worker.js`,
      'Worker worker.js',
    ]);
  });
  it('that claim to have created each other end the search', () => {
    const store = newStore();
    new ThreadBuilder(store, { id: 'a', parent: 'b' }).send();
    new ThreadBuilder(store, { id: 'b', parent: 'a' }).send();
    expect(threadTitles(store)).toEqual(['Worker worker.js', 'Worker worker.js (2)']);
  });
});

it('a copied table has raw numbers, text as shown, n/a, and no formulas', () => {
  const columns: Column<{ n: number | null; name: string }>[] = [
    {
      key: 'n',
      title: 'Time',
      numeric: true,
      value: (r) => r.n,
      text: (r) => (r.n === null ? 'n/a' : `${r.n} µs`),
    },
    { key: 'name', title: 'Name', value: (r) => r.name },
  ];
  const rows = [
    { n: 1.5, name: '=1+1' },
    { n: null, name: 'a\tb\nc' },
  ];
  expect(tsvOfRows(rows, columns)).toBe("Time\tName\n1.5\t'=1+1\nn/a\ta b c\n");
});

it('a counter shows what its height means, with a unit', () => {
  expect([
    scaleText('queue', 3, 2000),
    scaleText('queue', 2.44, 2000),
    scaleText('wal', 4096, 2000),
    scaleText('reads', 2 ** 20, 3200),
    scaleText('cache', 1, 2000),
  ]).toEqual([
    'max 3 over 2 ms',
    'max 2.44 over 2 ms',
    'max 4 KiB',
    'max 1 MiB/s over 3.2 ms',
    '100 %',
  ]);
});

it('a track of values shows those of a moment, as painted', () => {
  const stack = new Uint8Array(4 * SQL_PARTS.length).fill(0);
  stack.set([102, 51], SQL_PARTS.length); // of the second column, in the order of the time partition
  const frames = {
    time: { stack },
    reads: { values: Float32Array.of(0, 853.3333, NaN, 2 ** 20) },
    vfs: {},
  };
  const strip = {
    frame: { from: 100, to: 104, width: 4, binUs: 2 },
    lanes: new Map(Object.entries(frames).map(([kind, frame]) => [kind, { frame }])),
  } as unknown as FrameStrip;
  const at = (kind: 'time' | 'reads' | 'vfs', us: number): string =>
    laneTooltip(strip, { key: kind, kind, title: 'Read B/s' }, us);
  expect([100, 101.5, 102, 103.9, 99, 104].map((us) => at('reads', us))).toEqual([
    ...['Read: 0 B/s over 2 µs', 'Read: 853 B/s over 2 µs', 'Read: n/a'],
    ...['Read: 1 MiB/s over 2 µs', '', ''],
  ]);
  expect([100.5, 101.5, 104].map((us) => timeColumn(strip, { key: 'time' }, us))).toEqual([
    { fromUs: 100, toUs: 101, parts: [], rough: false },
    {
      fromUs: 101,
      toUs: 102,
      parts: [
        { part: 'cpu', share: 0.4 },
        { part: 'read', share: 0.2 },
      ],
      rough: false,
    },
    null,
  ]);
  expect([
    at('vfs', 101),
    laneTooltip(null, { key: 'reads', kind: 'reads', title: '' }, 101),
  ]).toEqual(['', '']);
});

it('contrast is computed as in WCAG', () => {
  expect(contrastOf('#ffffff', '#000000')).toBe(21);
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  expect(contrastOf('#ffffff', '#777777')).toBeCloseTo(4.48, 2);
});
