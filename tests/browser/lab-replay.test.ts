// What if: a recording's VFS calls on other VFSs, in the Lab's worker.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import type { LabPage } from '../../src/lab/drive/lab-page.ts';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { launch } from './extension-harness.ts';

let driven: DrivenBrowser;
let lab: LabPage;
beforeAll(async () => {
  driven = await launch();
  lab = await openLab(await driven.firstPage(), driven.extensionId);
});
afterAll(() => driven.close());
const goldenOf = (name: string): Buffer<ArrayBuffer> =>
  readFileSync(path.join(import.meta.dirname, '..', 'traces', 'golden', `${name}.vfst`));
const golden = goldenOf('opfs-coop-sync');

it('on the recorded VFS: the recorded counts and bytes, and a trace that contains them', async () => {
  const { report, trace, left } = await lab.replay(golden, {
    ...DEFAULT_CONFIG,
    vfs: 'OPFSCoopSync',
  });
  expect(report.replayed.vfs).toEqual(report.recorded.vfs);
  expect(report.retries).toBe(0);
  expect(report.replayed.web['opfs.writes']).toBe(1004); // one for each xWrite
  const { store, warnings } = await readTrace(trace);
  expect(warnings).toEqual([]);
  expect(summaryOf(store).files.find((f) => f.kind === 'journal')!.vfs.xWriteBytes).toBe(873_724);
  expect(summaryOf(store).web.opfs.writes).toBe(1004); // the storage calls below are in the trace, for Compare
  expect(left).toEqual([]);
  expect(await lab.storage()).toEqual([]);
});

it.each([
  ['opfs-sahpool', 'opfs-sahpool', 'opfs-sahpool'],
  ['opfs-proxy', 'opfs', 'opfs'],
  ['opfs-proxy', 'opfs-wl', 'opfs'],
] as const)(
  "%s on sqlite.org's %s: the same VFS calls, and an error measured on its own VFS",
  async (name, vfs, own) => {
    const { report, left } = await lab.replay(goldenOf(name), { ...DEFAULT_CONFIG, vfs });
    expect(report.replayed.vfs).toEqual(report.recorded.vfs);
    expect([report.errorWhy, report.error]).toMatchObject([
      '',
      { vfs: own, certain: true, differing: 0 },
    ]);
    expect(left).toEqual([]);
    expect(await lab.storage()).toEqual([]);
  },
);

it('on IndexedDB by policy: the same VFS calls, with fewer puts if writes may wait', async () => {
  const puts = async (writePolicy: 'through' | 'lazy'): Promise<number> => {
    const { report } = await lab.replay(golden, {
      ...DEFAULT_CONFIG,
      vfs: 'BlockIDB',
      blockSize: 8192,
      writePolicy,
    });
    expect(report.replayed.vfs).toEqual(report.recorded.vfs);
    return report.replayed.web['block.put']!;
  };
  const through = await puts('through');
  expect(through).toBeGreaterThanOrEqual(1004); // at least one per write
  expect(await puts('lazy')).toBeLessThan(through);
  expect(await lab.storage()).toEqual([]);
});

describe('absurd-sql', () => {
  const onAbsurd = (name: string): ReturnType<LabPage['replay']> =>
    lab.replay(goldenOf(name), { ...DEFAULT_CONFIG, vfs: 'absurd-sql' });

  it('its own recording: the same calls, requests, and IndexedDB transactions', async () => {
    const { report, left } = await onAbsurd('absurd-sql');
    // the recording opened a second database in memory, whose read was short; in IndexedDB that is
    // 4 requests, and a full read
    const bytes = { 'main-db.xReadBytes': 664 };
    expect(report.recorded).toMatchObject({
      vfs: { 'main-db.xReadBytes': 564 },
      web: {
        'idb.get': 83,
        'idb.put': 86,
        'idb.transactions': 80,
        'idb.readwriteTransactions': 24,
      },
    });
    expect(report.replayed.vfs).toEqual({ ...report.recorded.vfs, ...bytes });
    expect(report.replayed.web).toEqual({
      'idb.get': 87,
      'idb.put': 86,
      'idb.transactions': 81,
      'idb.readwriteTransactions': 24,
    });
    expect(report.error).toMatchObject({ vfs: 'absurd-sql', certain: true, differing: 1 });
    expect(left).toEqual([]);
    expect(await lab.storage()).toEqual([]);
  });

  it("a rollback journal, which it doesn't store: only the calls on the database", async () => {
    const { report, left } = await onAbsurd('opfs-coop-sync');
    expect(report.recorded.vfs).toMatchObject({ 'main-db.xWrite': 202, 'main-db.xSync': 101 });
    expect(report.replayed.vfs).toEqual({
      ...report.recorded.vfs,
      // reads beyond the end are full there
      'main-db.xReadBytes': report.recorded.vfs['main-db.xReadBytes']! + 116,
    });
    expect(Object.keys(report.recorded.vfs).join()).not.toContain('journal.');
    expect(report.leftOut.join()).toMatch(
      /^1,408 calls on the rollback journal\. absurd-sql stores/,
    );
    expect(report.replayed.web).toEqual({
      'idb.get': 313,
      'idb.put': 203,
      'idb.transactions': 311,
      'idb.readwriteTransactions': 101,
    });
    expect(report.error).toMatchObject({ vfs: 'OPFSCoopSync', differing: 0 }); // of all calls
    expect(left).toEqual([]);
  });

  it('a write-ahead log: rejected, with the reason', async () => {
    await expect(onAbsurd('wal-exclusive')).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(
        /^The replay failed: absurd-sql stores no write-ahead log, and this recording's commits are in one\. It can/,
      ) as string,
    });
  });
});
