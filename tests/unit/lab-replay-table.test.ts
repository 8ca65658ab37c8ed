// The Lab's replay box without a page: what a selection means, and reports as rows.
import { expect, it } from 'vitest';
import type { ReplayReport } from '../../src/lab/experiments/replay/replay.ts';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import { configFor, FIRST_CHOICE, headingOf, knobsFor } from '../../src/lab/page/replay-choices.ts';
import { replayCsv, replayHtml, replaySvg } from '../../src/lab/results/replay-report.ts';
import { notesOf, replayGroups, type ReplayRow } from '../../src/lab/results/replay.ts';

const report = (over: Partial<ReplayReport>): ReplayReport => ({
  ...{
    config: DEFAULT_CONFIG,
    engine: { package: 'a', version: '1.0.0', variant: 'sync', sqlite: '3.50.0', wasmBytes: 1 },
    environment: { runtime: 'Node 20.0.0' },
    calls: 3,
    callsInAll: 3,
    retries: 0,
    differing: {},
    leftOut: [],
    cache: [],
    estimate: '',
    error: null,
    errorWhy: 'none',
  },
  recorded: {
    vfs: { 'main-db.xRead': 4, 'main-db.xWrite': 1000 },
    vfsUs: 2000,
    web: { 'opfs.reads': 4 },
  },
  replayed: {
    vfs: { 'main-db.xRead': 4, 'main-db.xWrite': 1500 },
    vfsUs: 500,
    web: { 'idb.get': 8, 'block.put': 3 },
  },
  ...over,
});
const rowOf = (reports: ReplayReport[], group: string, name: string): ReplayRow | undefined =>
  replayGroups(reports)
    .find(({ title }) => title === group)
    ?.rows.find((r) => r.name === name);

it("settings of BlockIDB are available only if it is selected, and are never part of another VFS's configuration", () => {
  const coop = {
    ...FIRST_CHOICE,
    vfs: 'OPFSCoopSync',
    writePolicy: 'lazy',
    cacheSize: 500,
  } as const;
  expect(knobsFor(FIRST_CHOICE).map(({ key }) => key)).toContain('writePolicy');
  expect(knobsFor(coop).map(({ key }) => key)).toEqual(['vfs', 'cacheSize']);
  expect(configFor(coop)).toMatchObject({
    vfs: 'OPFSCoopSync',
    blockSize: null,
    writePolicy: null,
    cacheSize: 500,
  });
  expect(headingOf(configFor(coop))).toBe('OPFSCoopSync, cache 500 pages');
  expect(headingOf(configFor({ ...FIRST_CHOICE, durability: 'strict' }))).toBe(
    'BlockIDB, 8 KiB blocks, through, strict durability',
  );
  expect(knobsFor(FIRST_CHOICE)[0]!.values).not.toContain('memory');
});

it('counts side by side with ratios; a storage call that was not made is 0, and a counter that a side lacks is unknown', () => {
  const other = report({ replayed: { vfs: {}, vfsUs: 0, web: {} } });
  expect(rowOf([report({}), other], 'VFS calls', 'main-db.xWrite')).toEqual({
    ...{ name: 'main-db.xWrite', recorded: '1,000' },
    replayed: [
      { text: '1,500', ratio: '×1.5' },
      { text: '0', ratio: '×0' },
    ],
  });
  expect(rowOf([report({})], 'Storage calls', 'opfs.reads')).toEqual({
    ...{ name: 'opfs.reads', recorded: '4', replayed: [{ text: '0', ratio: '×0' }] },
  });
  expect(rowOf([report({}), other], 'Storage calls', 'block.put')).toEqual({
    ...{ name: 'block.put', recorded: null, replayed: [{ text: '3', ratio: '' }, null] },
  });
  const without = report({ recorded: { vfs: {}, vfsUs: 0, web: null } });
  expect(rowOf([without], 'Storage calls', 'idb.get')).toMatchObject({
    recorded: null,
    replayed: [{ text: '8', ratio: '' }],
  });
  expect(rowOf([report({})], 'Time, an estimate', 'in VFS calls')).toMatchObject({
    recorded: '2 ms',
    replayed: [{ text: '500 µs', ratio: '×0.25' }],
  });
});

it('the error by replay, unknown where it was not measured', () => {
  const measured = report({
    error: {
      vfs: 'MemoryVFS',
      certain: false,
      why: 'w',
      counts: 20,
      differing: 1,
      timeRatio: 0.914,
      web: [{ name: 'idb.get', recorded: 1, replayed: 2 }],
    },
  });
  const cells = (name: string): (string | undefined)[] =>
    rowOf([measured, report({})], 'Error of the estimate', name)!.replayed.map(
      (cell) => cell?.text,
    );
  expect(cells('measured on')).toEqual(['MemoryVFS, a guess', undefined]);
  expect(cells('VFS counts that differ')).toEqual(['1 of 20', undefined]);
  expect(cells('storage counts that differ')).toEqual(['1 of 1', undefined]);
  expect(cells('time, replayed over recorded')).toEqual(['×0.914', undefined]);
});

it('notes next to the numbers', () => {
  const cache = [
    { path: '/a', reads: 100, misses: null, atMost: false, note: 'n' },
    { path: '/b', reads: 100, misses: 7, atMost: true, note: 'm' },
  ];
  expect(notesOf(report({ retries: 2, differing: { xOpen: 1 }, leftOut: ['x'], cache }))).toEqual([
    '2 calls were repeated, because the VFS had to wait first.',
    '1 xOpen had another result than in the recording.',
    'Left out: x.',
    'Page cache, /a: not known at this size (n).',
    'Page cache, /b: at most 7 of 100 page reads (m).',
  ]);
  expect(notesOf(report({}))).toEqual([]);
  expect(replayGroups([])).toEqual([]);
});

it('a replay as files: counts side by side, charts, and the environment', () => {
  const html = replayHtml(report({ calls: 2 }));
  for (const words of [
    'Replayed by vfscope in Node 20.0.0: 2 VFS calls.',
    'Interrupted after 2 of 3 calls.',
    '<td>idb.get</td>',
    '<tr><td>SQLite</td><td>3.50.0</td></tr>',
    '<tr><td>Runtime</td><td>Node 20.0.0</td></tr>',
  ])
    expect(html).toContain(words);
  expect(html.match(/<svg /g)).toHaveLength(3); // time, and each storage call of the replay
  expect(replaySvg(report({})).match(/<rect [^>]*fill="#7d8899"/g)).toHaveLength(4);
  expect(replayCsv(report({})).split('\n')).toEqual([
    'layer,count,recorded,replayed',
    'time,"VFS calls, µs",2000,500',
    'vfs,main-db.xRead,4,4',
    'vfs,main-db.xWrite,1000,1500',
    'web,block.put,,3',
    'web,idb.get,,8',
    'web,opfs.reads,4,',
    '',
  ]);
});
