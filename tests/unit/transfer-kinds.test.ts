// What reads and writes of files contain: by SQLite's formats, by size if nothing else is known,
// and adding up to the files table.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { databaseFiles } from '../../src/analysis/core/database-files.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { originFiles } from '../../src/analysis/files/table.ts';
import {
  eachCallOf,
  transferKinds,
  type TransferRow,
} from '../../src/analysis/files/transfer-kinds.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticStore } from '../traces/synthetic.ts';

const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');
const PAGE = 4096;
const kindsOf = (store: TraceStore, path: string): string[] =>
  new Facts(store)
    .get(transferKinds)
    .filter((row) => row.path === path)
    .map((row) => `${row.way} ${row.id} ${row.calls} ${row.least}-${row.most} ${row.bytes}`);

describe('reads and writes', () => {
  it('of a database, its journal, and its log are classified by offset and length', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const [db, journal, wal] = [
      t.file('/a.db'),
      t.file('/a.db-journal', 'journal'),
      t.file('/a.db-wal', 'wal'),
    ];
    const call = (op: 'xRead' | 'xWrite', object: number, offset: number, length: number): void =>
      void t.call(op, { object, context: 1, offset, length });
    call('xRead', db, 0, 100);
    for (let i = 0; i < 5; i++) call('xRead', db, 24, 16);
    call('xRead', db, 0, PAGE);
    call('xRead', db, 3 * PAGE, PAGE);
    call('xWrite', db, PAGE, 2 * PAGE);
    call('xWrite', db, PAGE, 700);
    call('xRead', journal, 0, 1);
    call('xWrite', journal, 0, 512);
    for (const record of [512, 512 + PAGE + 8]) {
      call('xWrite', journal, record, 4);
      call('xWrite', journal, record + 4, PAGE);
      call('xWrite', journal, record + 4 + PAGE, 4);
    }
    call('xWrite', journal, 0, 12);
    call('xWrite', wal, 0, 32);
    call('xWrite', wal, 32, 24);
    call('xWrite', wal, 56, PAGE);
    call('xRead', wal, 32 + 24 + PAGE, 24 + PAGE);
    t.send();
    expect(kindsOf(store, '/a.db').sort()).toEqual([
      'read change-counter 5 16-16 80',
      'read first-page 1 4096-4096 4096',
      'read header 1 100-100 100',
      'read page 1 4096-4096 4096',
      'write pages 1 8192-8192 8192',
      'write part 1 700-700 700',
    ]);
    expect(kindsOf(store, '/a.db-journal').sort()).toEqual([
      'read journal-header 1 1-1 1',
      'write journal-header 2 12-512 524',
      'write journal-page 2 4096-4096 8192',
      'write journal-word 4 4-4 16',
    ]);
    expect(kindsOf(store, '/a.db-wal').sort()).toEqual([
      'read frame 1 4120-4120 4120',
      'write frame-header 1 24-24 24',
      'write frame-page 1 4096-4096 4096',
      'write wal-header 1 32-32 32',
    ]);
  });

  it('of other files and stores are classified by size', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const blocks = t.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
    for (const length of [12, 400, 4096, 5000, 65536, 70_000])
      t.call('idbPut', { object: blocks, offset: 1, length });
    t.send();
    expect(kindsOf(store, 'vfs/blocks').sort()).toEqual([
      'write huge 1 70000-70000 70000',
      'write large 2 5000-65536 70536',
      'write small 1 4096-4096 4096',
      'write tiny 2 12-400 412',
    ]);
  });

  it.each(['sample', 'synthetic', ...readdirSync(GOLDEN).filter((name) => name.endsWith('.vfst'))])(
    'of each file in %s add up to its row in the files table',
    async (name) => {
      const store =
        name === 'sample'
          ? sampleStore()
          : name === 'synthetic'
            ? syntheticStore({ events: 20_000, threads: 3, seed: 5 })
            : (await readTrace(readFileSync(join(GOLDEN, name)))).store;
      const facts = new Facts(store);
      const kinds = facts.get(transferKinds);
      for (const file of facts.get(originFiles)) {
        const its = kinds.filter(
          (row) => row.path === file.path && row.kind === file.kind && row.origin === file.origin,
        );
        const sum = (way: TransferRow['way'], of: 'calls' | 'bytes'): number =>
          its.filter((row) => row.way === way).reduce((n, row) => n + row[of], 0);
        expect(
          [
            sum('read', 'calls'),
            sum('read', 'bytes'),
            sum('write', 'calls'),
            sum('write', 'bytes'),
          ],
          file.path,
        ).toEqual([file.reads, file.readBytes, file.writes, file.writeBytes]);
      }
      // a row has as many events as it counts, and they take as long
      for (const row of kinds) {
        let [calls, us] = [0, 0];
        eachCallOf(store, facts.get(databaseFiles), row, (thread, at) => {
          calls++;
          us += thread.events.dur[at]!;
        });
        expect(calls).toBe(row.calls);
        expect(us).toBeLessThanOrEqual(row.us + 1e-6);
      }
    },
  );
});
