// Another page size, on synthetic traces: what becomes one page, what doesn't, and no claims about
// the unknown.
import { expect, test } from 'vitest';
import { PAGE_SIZES, type PageSizeEstimate } from '../../src/analysis/pages/page-sizes.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { pageSizesOf } from '../traces/analyses.ts';

const PAGE = 4096;
interface Made {
  t: ThreadBuilder;
  db: number;
  read: (page: number, context?: number) => void;
  write: (page: number) => void;
  transaction: (pages: readonly number[]) => void;
  at: (pageSize: number) => PageSizeEstimate;
}
function made(): Made {
  const t = new ThreadBuilder(newStore());
  const db = t.file('/app.db');
  const of = (page: number): { object: number; offset: number; length: number } => ({
    object: db,
    offset: (page - 1) * PAGE,
    length: PAGE,
  });
  const write = (page: number): void => void t.call('xWrite', { ...of(page), context: 9 });
  return {
    ...{ t, db, write },
    read: (page, context = 9) => void t.call('xRead', { ...of(page), context }),
    transaction(pages) {
      t.call('xLock', { object: db, aux: 1, context: 9 });
      t.call('xLock', { object: db, aux: 2, context: 9 });
      t.call('xLock', { object: db, aux: 4, context: 9 });
      for (const page of pages) write(page);
      t.call('xSync', { object: db, context: 9 });
      t.call('xFileControl', { object: db, aux: 22, context: 9 });
      t.call('xUnlock', { object: db, aux: 0, context: 9 });
    },
    at(pageSize) {
      t.send();
      const [only] = pageSizesOf(t.store);
      return only!.sizes.find((s) => s.pageSize === pageSize)!;
    },
  };
}

test('the example of the header', () => {
  const { read, at } = made();
  for (const page of [5, 6, 90, 7, 90, 8, 5]) read(page);
  expect(at(8192)).toEqual({
    ...{
      pageSize: 8192,
      recorded: false,
      reads: { least: 5, most: 6 },
      writes: { least: 0, most: 0 },
    },
    ...{ readBytes: { least: 5 * 8192, most: 6 * 8192 }, writeBytes: { least: 0, most: 0 } },
  });
});

test("the recorded size is unchanged, each smaller page splits into all of its parts, and every size of SQLite's is there", () => {
  const { t, read, at } = made();
  for (const page of [1, 2, 2]) read(page);
  expect(at(4096)).toMatchObject({
    recorded: true,
    reads: { least: 3, most: 3 },
    readBytes: { least: 12_288, most: 12_288 },
  });
  const [only] = pageSizesOf(t.store);
  expect(only!.sizes.map(({ pageSize }) => pageSize)).toEqual(PAGE_SIZES);
  expect(only!.sizes.find((s) => s.pageSize === 1024)).toMatchObject({
    reads: { least: 3, most: 12 },
    readBytes: { least: 3072, most: 12_288 },
  });
});

test("a scan halves as the page size doubles; repeated reads of one page don't", () => {
  const scan = made();
  for (let page = 1; page <= 128; page++) scan.read(page);
  expect([8192, 16384, 65536].map((size) => scan.at(size).reads)).toEqual(
    [64, 32, 8].map((n) => ({ least: n, most: n })),
  );
  const same = made();
  for (let i = 0; i < 10; i++) same.read(7);
  expect(same.at(65536).reads).toEqual({ least: 10, most: 10 });
});

test("what one connection read doesn't serve another", () => {
  const { read, at } = made();
  read(1, 5);
  read(2, 9);
  expect(at(8192).reads).toEqual({ least: 2, most: 2 });
});

test('writes are merged only within a transaction', () => {
  const { transaction, at } = made();
  transaction([1, 2, 9]); // two large pages
  transaction([2, 9, 1]); // two, but three ranges
  expect(at(8192).writes).toEqual({ least: 4, most: 5 });
  expect(at(4096).writes).toEqual({ least: 6, most: 6 });
});

test("copies of a checkpoint don't count", () => {
  const { t, db, read, write, at } = made();
  read(1);
  const log = t.file('/app.db-wal', 'wal');
  t.call('xFileControl', { object: db, aux: 39, context: 9 });
  t.call('xRead', { object: log, offset: 56, length: PAGE, context: 9 });
  write(1);
  t.call('xFileControl', { object: db, aux: 37, context: 9 });
  expect(at(8192)).toMatchObject({ reads: { least: 1, most: 1 }, writes: { least: 0, most: 0 } });
});

test('no estimate without a database, or for one without pages', () => {
  const t = new ThreadBuilder(newStore());
  t.call('xRead', { object: t.file('/app.db'), offset: 24, length: 16, context: 9 });
  t.send();
  expect(pageSizesOf(t.store)).toEqual([]);
});
