/** Which states of storage a crash can leave, for logs made by hand. */
import { describe, expect, it } from 'vitest';
import { powerLosses, processDeaths, type CrashState } from '../../src/lab/crash/crash-states.ts';
import { fatesOf } from '../../src/lab/crash/fates.ts';
import type { Call, FileCall, Logged } from '../../src/lab/crash/storage/calls.ts';
import { KeyRange, compareKeys } from '../../src/lab/crash/storage/idb-keys.ts';

const write = (file: string, at: number, ...bytes: number[]): FileCall => ({
  kind: 'write',
  file,
  at,
  bytes: Uint8Array.from(bytes),
});
const truncate = (file: string, size: number): FileCall => ({ kind: 'truncate', file, size });
const flush = (file: string): FileCall => ({ kind: 'flush', file });
const commit = (n: number, durability: 'strict' | 'relaxed'): Call => ({
  kind: 'commit',
  database: 'd',
  durability,
  changes: [{ op: 'put', store: 's', key: 'n', value: n }],
});
const logOf = (...calls: Call[]): Logged[] =>
  calls.map((call, i) => ({ call, phase: 'test', text: `${call.kind} ${i + 1}` }));
const first = (n: number): number => 0 * n;

const losses = (log: Logged[], truncates: 'ordered' | 'any' = 'ordered'): CrashState[] => [
  ...powerLosses(log, truncates, first),
];
const bytes = (states: CrashState[], file: string): string[] =>
  states.map(({ disk }) => [...disk.bytesOf(file)].join(' '));
const numberIn = ({ disk }: CrashState): unknown =>
  disk.databases.get('d')?.stores.get('s')?.rows[0]?.value;

describe('process death', () => {
  it('keeps every call that returned, flushed or not', () => {
    const states = [...processDeaths(logOf(write('a', 0, 1), write('a', 1, 2), flush('a')))];
    expect(bytes(states, 'a')).toEqual(['', '1', '1 2', '1 2']);
    expect(states.map(({ earliest, latest }) => [earliest, latest])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });
});

describe('power loss', () => {
  it('loses any subset of the writes since the last flush of that file', () => {
    const states = losses(logOf(write('a', 0, 1), flush('a'), write('a', 0, 2), write('a', 1, 3)));
    // before the flush: nothing or the write; at the end: both writes, each lost or kept
    expect(bytes(states, 'a')).toEqual(['', '1', '1', '2', '1 3', '2 3']);
    expect(states.map(({ earliest, latest }) => [earliest, latest])).toEqual([
      [0, 1],
      [1, 1],
      [2, 4],
      [3, 4],
      [4, 4],
      [4, 4],
    ]);
    expect(states[2]!.lost).toEqual(['call 3: write 3', 'call 4: write 4']);
  });

  it("isn't helped by the flush of another file", () => {
    const states = losses(logOf(write('a', 0, 1), write('b', 0, 2), flush('b')));
    const end = states.filter(({ latest }) => latest === 3);
    expect(bytes(end, 'a')).toEqual(['', '1']);
    expect(bytes(end, 'b')).toEqual(['2', '2']);
  });

  it('tears a write between sectors of the file, not of the write', () => {
    const block = write('a', 256, ...new Array<number>(1024).fill(7));
    const sizes = losses(logOf(block)).map(({ disk }) => {
      const all = disk.bytesOf('a');
      return [all.indexOf(7), all.lastIndexOf(7)];
    });
    // lost, whole, the first 256 bytes, the first two sectors, the last 256 bytes
    expect(sizes).toEqual([
      [-1, -1],
      [256, 1279],
      [256, 511],
      [256, 1023],
      [1024, 1279],
    ]);
  });

  it('keeps a write after a lost truncate only if that is assumed', () => {
    const log = logOf(write('j', 0, 1, 1, 1), flush('j'), truncate('j', 0), write('j', 0, 2));
    const end = (truncates: 'ordered' | 'any'): string[] =>
      bytes(
        losses(log, truncates).filter(({ latest }) => latest === 4),
        'j',
      );
    expect(end('ordered')).toEqual(['1 1 1', '', '2']);
    expect(end('any')).toEqual(['1 1 1', '', '2 1 1', '2']);
  });

  it('samples if there are too many subsets, and reports it', () => {
    const many = Array.from({ length: 9 }, (_, i) => write('a', i, i + 1));
    const { all, sampled } = fatesOf(many, 'ordered', first);
    expect(sampled).toBe(true);
    expect(all.length).toBeLessThan(2 ** 9);
    expect(all).toContainEqual(many.map((_, i) => (i === 4 ? 'lost' : 'kept')));
    const few = fatesOf(many.slice(0, 6), 'ordered', first);
    expect(few.sampled).toBe(false);
    expect(few.all).toHaveLength(64);
  });

  it('loses relaxed transactions, the newest first, and strict ones never', () => {
    const states = losses(
      logOf(commit(1, 'relaxed'), commit(2, 'strict'), commit(3, 'relaxed'), commit(4, 'relaxed')),
    );
    const at = (k: number): unknown[] => states.filter((s) => s.latest === k).map(numberIn);
    expect(at(1)).toEqual([undefined, 1]);
    expect(at(4)).toEqual([2, 3, 4]);
  });
});

describe('keys of IndexedDB', () => {
  it('are ordered as the specification requires', () => {
    const keys = [['b'], 'a', 3, -Infinity, ['a', 2], ['a', -1], ['a'], 'B'] as const;
    expect([...keys].sort(compareKeys)).toEqual([
      -Infinity,
      3,
      'B',
      'a',
      ['a'],
      ['a', -1],
      ['a', 2],
      ['b'],
    ]);
  });
  it('are found in ranges with open and closed ends', () => {
    const range = KeyRange.bound(['f', 1], ['f', 3], true);
    expect([1, 2, 3, 4].map((n) => range.includes(['f', n]))).toEqual([false, true, true, false]);
    expect(KeyRange.of(null).includes('x')).toBe(true);
  });
});
