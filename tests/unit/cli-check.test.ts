// The table that `vfscope check` prints.
import { expect, test } from 'vitest';
import { budgetText } from '../../src/terminal/budget-text.ts';

test('numbers have thousands separators, and broken limits come first', () => {
  const text = budgetText([
    { path: 'commits', value: 12_345, limit: { max: 20_000 }, ok: true, cause: null },
    {
      path: 'files[0].vfs.xReadBytes',
      value: 9_876_543_210,
      limit: { min: 0, max: 1_000_000 },
      ok: false,
      cause: 'above its maximum',
    },
    { path: 'syncsPerCommit', value: 2.5, limit: { max: 3 }, ok: true, cause: null },
    { path: 'pageCache.hitRate', value: null, limit: { min: 0.5 }, ok: false, cause: 'not known' },
  ]);
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/));
  expect(rows[0]).toEqual(['2 of 4 limits broken']);
  const of = (path: string): string[] => rows.find(([first]) => first === path)!;
  expect(of('files[0].vfs.xReadBytes')).toEqual([
    'files[0].vfs.xReadBytes',
    '9,876,543,210',
    '0',
    '1,000,000',
    'BROKEN',
    'above its maximum',
  ]);
  expect(of('commits')).toEqual(['commits', '12,345', '20,000', 'ok']);
  expect(of('syncsPerCommit')).toEqual(['syncsPerCommit', '2.5', '3', 'ok']);
  expect(of('pageCache.hitRate')).toEqual([
    'pageCache.hitRate',
    'n/a',
    '0.5',
    'BROKEN',
    'not known',
  ]);
  expect(rows.findIndex(([first]) => first === 'pageCache.hitRate')).toBeLessThan(
    rows.findIndex(([first]) => first === 'commits'),
  );
});
