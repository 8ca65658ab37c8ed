/** The version graph: order of releases, changes, bisection, and how it is drawn. */
import { describe, expect, it } from 'vitest';
import { releaseChart, roundScale } from '../../src/formats/svg-releases.ts';
import {
  notCounted,
  stepTable,
  versionsCsv,
  versionsHtml,
  versionsSvg,
  versionsTable,
} from '../../src/lab/results/versions-report.ts';
import {
  bisect,
  compareVersions,
  isPrerelease,
  isVersionGraph,
  type CountedRelease,
  type VersionGraph,
} from '../../src/lab/results/versions.ts';

const counted = (
  name: string,
  version: string,
  sqlite: string,
  steps: Record<string, number>,
  wasmBytes = 1000,
): CountedRelease => ({
  ...{ package: name, version, sqlite, wasmBytes, steps, why: null },
  instructions: Object.values(steps).reduce((a, b) => a + b, 0),
});
const failed = (name: string, version: string, why: string): CountedRelease => ({
  ...{ package: name, version, sqlite: null, wasmBytes: null, instructions: null, steps: {}, why },
});
const graph: VersionGraph = {
  kind: 'versions',
  workload: 'speedtest1',
  version: 1,
  parameters: { size: 5 },
  releases: [
    counted('sql.js', '1.10.0', '3.45.0', { '100': 600_000, '110': 400_000 }),
    counted('sql.js', '1.2.0', '3.31.0', { '100': 500_000, '110': 400_000 }, 1100),
    failed('sql.js', '0.5.0', 'this release has no dist/sql-wasm.wasm'),
    failed('sql.js', '0.4.0', 'this release has no dist/sql-wasm.wasm'),
    failed('sql.js', '1.3.0', '<b>1.3.0</b> trapped'),
    counted('wa-sqlite', '1.0.0', '3.44.0', { '100': 900_000, '110': 400_000 }),
  ],
};

it('versions are in their natural order', () => {
  const order = [
    '0.9.0',
    '1.0.0-rc.1',
    '1.0.0',
    '1.2.9',
    '1.2.10',
    '3.46.0-prebuild1',
    '3.46.0-build1',
    '3.46.0-build10',
  ];
  expect([...order].reverse().sort(compareVersions)).toEqual(order);
  expect(['1.0.0-rc.1', '0.0.0-dev-20241121', '3.46.0-build1', '1.0.0'].map(isPrerelease)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(compareVersions('3.46.0', '3.46.0-build1')).toBeLessThan(0);
});

it('the table has full counts, changes from the previous release, and the step that changed most; n/a is listed with its cause', () => {
  const { rows } = versionsTable(graph);
  expect(rows).toEqual([
    ['sql.js@1.2.0', '3.31.0', '900,000', '', '', '1,100', ''],
    ['sql.js@1.10.0', '3.45.0', '1,000,000', '×1.1', '100: ×1.2 (+100,000)', '1,000', '−9.1 %'],
    ['wa-sqlite@1.0.0', '3.44.0', '1,300,000', '', '', '1,000', ''],
  ]);
  expect(notCounted(graph)).toEqual([
    'sql.js 0.4.0, 0.5.0: n/a, this release has no dist/sql-wasm.wasm',
    'sql.js 1.3.0: n/a, <b>1.3.0</b> trapped',
  ]);
  expect(stepTable(graph.releases[1]!, graph.releases[0]!).rows).toEqual([
    ['100', '500,000', '600,000', '+100,000', '×1.2'],
  ]);
});

it('the page is one file that loads nothing, and the picture has a point for each counted release, twice', () => {
  const html = versionsHtml(graph);
  expect(html).toContain('speedtest1, main test set, size 5, over releases of SQLite');
  expect(html).toContain('Counted by vfscope, 3 of 6 releases.');
  expect(html).not.toMatch(/<script|<b>|https?:/);
  expect(html.match(/<svg /g)).toHaveLength(2);
  const svg = versionsSvg(graph);
  expect(svg).toContain('sql.js@1.10.0, SQLite 3.45.0: 1,000,000 instructions');
  expect(svg).toContain('wa-sqlite@1.0.0, SQLite 3.44.0: 1,000 bytes');
  expect(svg.match(/<g fill="[^"]+"><title>/g)).toHaveLength(6);
  // one axis for both packages, by SQLite's version
  const labels = [...svg.matchAll(/rotate\([^)]*\)">([\d.]+)</g)].map((m) => m[1]);
  expect(labels).toEqual(['3.31.0', '3.44.0', '3.45.0', '3.31.0', '3.44.0', '3.45.0']);
});

it('the numbers have a line for each step', () => {
  const lines = versionsCsv(graph).trimEnd().split('\n');
  expect(lines[0]).toBe('package,version,sqlite,wasm_bytes,step,instructions');
  expect(lines).toContain('sql.js,1.10.0,3.45.0,1000,total,1000000');
  expect(lines).toContain('sql.js,0.5.0,,,total,');
});

it('a file is recognized as a graph or rejected', () => {
  expect(isVersionGraph(JSON.parse(JSON.stringify(graph)))).toBe(true);
  for (const other of [null, {}, { ...graph, kind: 'x' }, { ...graph, releases: [{}] }])
    expect(isVersionGraph(other)).toBe(false);
});

describe('bisection', () => {
  const over = (counts: readonly (number | null)[]) => {
    const asked: number[] = [];
    const found = bisect(counts.length, (i) => {
      asked.push(i);
      const value = counts[i]!;
      return Promise.resolve(value === null ? null : value !== counts[0]);
    });
    return found.then((result) => ({ ...result, asked: asked.length }));
  };
  it('finds the first release that differs, wherever it is, with few counts', async () => {
    for (let first = 1; first < 40; first++) {
      const counts = Array.from({ length: 40 }, (_, i) => (i < first ? 5 : 7));
      const found = await over(counts);
      expect(found).toMatchObject({ first, before: first - 1, unknown: [] });
      expect(found.asked).toBeLessThanOrEqual(7);
    }
  });
  it('is certain about two neighbors if counts change back', async () => {
    const counts = [5, 5, 7, 5, 7, 7, 7];
    const { first, before } = await over(counts);
    expect([counts[before], counts[first!]]).toEqual([5, 7]);
    expect(first! - before).toBe(1);
  });
  it("names the releases between them that couldn't be counted", async () => {
    expect(await over([5, 5, null, null, 7, 7])).toMatchObject({
      first: 4,
      before: 1,
      unknown: [2, 3],
    });
    expect(await over([5, null, 5, 7])).toMatchObject({ first: 3, before: 2, unknown: [] });
  });
  it('reports that nothing differs', async () => {
    expect(await over([5, 6, 5])).toMatchObject({ first: null, asked: 1 });
  });
});

it('an axis has round values, from 0 if values differ much', () => {
  expect(roundScale(900, 1000)).toEqual([900, 925, 950, 975, 1000]);
  expect(roundScale(100, 1000)).toEqual([0, 250, 500, 750, 1000]);
  expect(roundScale(0, 1_400_000, true)).toEqual([0, 524_288, 1_048_576, 1_572_864]);
  expect(roundScale(7, 7).length).toBeGreaterThanOrEqual(2);
  expect(releaseChart('none', { slots: 0, ticks: [] }, [], String)).toBeNull();
});
