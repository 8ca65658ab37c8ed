/**
 * Why a run failed, and what to do: quota, private windows, handles held elsewhere, missing APIs.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EngineModule } from '../../src/lab/experiments/engine/builds.ts';
import { DEFAULT_CONFIG, type VfsName } from '../../src/lab/experiments/model/types.ts';
import { explain } from '../../src/lab/experiments/worker/failure.ts';
import { labStorage, removeLabStorage } from '../../src/lab/experiments/worker/storage.ts';
import { VfsMakers } from '../../src/lab/experiments/worker/vfs-makers.ts';

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

afterEach(() => vi.unstubAllGlobals());

describe("a browser's error becomes a sentence", () => {
  it.each([
    [named('QuotaExceededError', 'x'), /Storage is full: the browser's quota/],
    [new Error('step "fill": database or disk is full'), /Storage is full/],
    [
      named('SecurityError', 'Security error when calling GetDirectory'),
      /refuses storage here, as it does in private windows/,
    ],
    [
      new Error('A mutation operation was attempted on a database that did not allow mutations.'),
      /refuses storage here, as it does in private windows/,
    ],
    [
      named('NoModificationAllowedError', 'Access Handles cannot be created'),
      /Another connection, tab, or earlier run holds the file/,
    ],
    [named('AbortError', 'The transaction was aborted'), /IndexedDB aborted a transaction/],
    [new Error('no such table: absent'), /^no such table: absent$/],
  ])('%s', (error, words) => {
    expect(explain(error, '')).toMatch(words);
  });
  it("the root cause decides, however deep, and the VFS's own message appears once", () => {
    const cause = named('QuotaExceededError', 'deep');
    expect(
      explain(new Error('disk I/O error', { cause: new Error('xSync', { cause }) }), ''),
    ).toMatch(/Storage is full/);
    expect(explain(new Error('disk I/O error'), 'RangeError: offset')).toBe(
      'disk I/O error The VFS reports: RangeError: offset.',
    );
    expect(
      explain(new Error('disk I/O error: RangeError: offset'), 'RangeError: offset'),
    ).not.toContain('The VFS reports');
  });
});

it('a missing API is named before anything hangs', async () => {
  const make = (vfs: VfsName) =>
    new VfsMakers().make({ ...DEFAULT_CONFIG, vfs, build: 'asyncify' }, {} as EngineModule, 'lab');
  await expect(make('BlockIDB')).rejects.toThrow(
    'BlockIDB needs IndexedDB, which this place does not have.',
  );
  await expect(make('IDBMirror')).rejects.toThrow('IDBMirror needs IndexedDB');
  vi.stubGlobal('navigator', {});
  await expect(make('OPFSCoopSync')).rejects.toThrow(
    /OPFSCoopSync needs OPFS .* which this browser or this window does not have/,
  );
});

describe('a window that refuses storage', () => {
  const refusing = (error: Error): void => {
    vi.stubGlobal('indexedDB', { databases: () => Promise.reject(error) });
    vi.stubGlobal('navigator', { storage: { getDirectory: () => Promise.reject(error) } });
  };
  it("stores nothing of the Lab's, so runs in memory continue", async () => {
    refusing(named('SecurityError', 'private'));
    expect(await labStorage()).toEqual([]);
    expect(await removeLabStorage(0)).toEqual([]);
  });
  it('any other failure is reported', async () => {
    refusing(named('UnknownError', 'broken disk'));
    await expect(labStorage()).rejects.toThrow('broken disk');
  });
});
