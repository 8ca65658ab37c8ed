/**
 * WAL headers and frames in OPFS writes, detected by the probe of sync access handles, and the
 * commits that result.
 */
import { describe, expect, it } from 'vitest';
import { installOpfsAccessHandles } from '../../src/probes/opfs-access-handle.ts';
import { OpfsPaths } from '../../src/probes/opfs-paths.ts';
import { Patches } from '../../src/record/patches.ts';
import { ProbeContext } from '../../src/probes/context.ts';
import { RecordReader } from '../../src/event/batch.ts';
import { drainRecords } from '../../src/record/drain.ts';
import { AUX_WAL_HEADER, Op } from '../../src/event/event.ts';
import { Recorder } from '../../src/record/recorder.ts';
import { batchOf, newStore } from '../traces/builder.ts';
import { commitsOf } from '../traces/analyses.ts';

const PAGE = 4096;
const bytes = (length: number, ...words: number[]): Uint8Array => {
  // a view that doesn't start at the beginning of its buffer
  const out = new Uint8Array(length + 8).subarray(8);
  const view = new DataView(out.buffer, out.byteOffset);
  words.forEach((word, i) => view.setUint32(i * 4, word));
  return out;
};
const header = (salt: number, pageSize = PAGE): Uint8Array =>
  bytes(32, 0x377f0683, 3007000, pageSize, 0, salt, salt + 1);
const frame = (salt: number, page: number, commit: number, length = 24 + PAGE): Uint8Array =>
  bytes(length, page, commit, salt, salt + 1, 9, 9);

function probed(): {
  write: (at: number, data: Uint8Array | ArrayBuffer) => number[];
  flush: () => void;
  recorder: Recorder;
  rows: number[][];
} {
  class FileSystemSyncAccessHandle {
    write(data: { byteLength: number }, _options: object): number {
      return data.byteLength;
    }
    flush(): void {}
  }
  const recorder = new Recorder({ capacity: 16, maxEngines: 0 });
  const context = new ProbeContext(recorder, new Patches(), {
    FileSystemSyncAccessHandle,
  } as unknown as typeof globalThis);
  installOpfsAccessHandles(context, new OpfsPaths(context), () => {}, undefined);
  const handle = new FileSystemSyncAccessHandle();
  const rows: number[][] = [];
  const take = (): number[] => {
    const r = new RecordReader(drainRecords(recorder.memory.buffer)!.records);
    rows.push([
      r.t0(0),
      r.t1(0),
      r.seq(0),
      r.endSeq(0),
      r.op(0),
      r.result(0),
      r.offset(0),
      r.length(0),
      r.object(0),
      0,
      0,
      r.aux(0),
      r.aux2(0),
    ]);
    return [r.aux(0), r.aux2(0)];
  };
  return {
    write(at, data) {
      expect(handle.write(data, { at })).toBe(data.byteLength);
      return take();
    },
    flush() {
      handle.flush();
      take();
    },
    recorder,
    rows,
  };
}

describe('WAL writes to OPFS', () => {
  it("Turso's single write per frame, and SQLite's separate header and page", () => {
    const { write, recorder } = probed();
    expect(write(0, header(77))).toEqual([AUX_WAL_HEADER, 77]);
    expect(write(32, frame(77, 5, 0))).toEqual([5, 0]);
    expect(write(32 + 24 + PAGE, frame(77, 2, 9).slice().buffer)).toEqual([2, 9]);
    expect(write(32 + 2 * (24 + PAGE), frame(77, 3, 10, 24))).toEqual([3, 10]);
    expect(write(32 + 2 * (24 + PAGE) + 24, bytes(PAGE, 1, 2, 77, 78))).toEqual([0, 0]);
    expect(recorder.faults).toBe(0);
  });

  it('a log after the header of a pool, and one that starts over', () => {
    const { write } = probed();
    expect(write(4096, header(77))).toEqual([AUX_WAL_HEADER, 77]);
    expect(write(4096 + 32, frame(77, 5, 6, 24))).toEqual([5, 6]);
    expect(write(4096, header(90, 512))).toEqual([AUX_WAL_HEADER, 90]);
    expect(write(4096 + 32 + 536, frame(90, 4, 0, 24))).toEqual([4, 0]);
    // salts of the previous log
    expect(write(4096 + 32 + 536, frame(77, 4, 0, 24))).toEqual([0, 0]);
  });

  it('a log older than the recording: only from the layout of single writes', () => {
    const { write } = probed();
    expect(write(32 + 7 * (24 + PAGE), frame(1, 8, 3))).toEqual([8, 3]);
    expect(write(33, frame(1, 8, 3))).toEqual([0, 0]);
    expect(write(32, frame(1, 8, 3, 24))).toEqual([0, 0]);
    expect(write(0, bytes(32, 0x377f0682, 1, PAGE))).toEqual([0, 0]); // not this version
    expect(write(0, bytes(32, 1, 3007000, PAGE))).toEqual([0, 0]);
    expect(write(0, bytes(PAGE, 0x377f0682, 3007000, PAGE))).toEqual([0, 0]);
    expect(write(0, new Uint8Array(0))).toEqual([0, 0]);
  });

  it("commits, and syncs per commit, of an engine whose VFS calls aren't visible", () => {
    const { write, flush, rows } = probed();
    const size = 24 + PAGE;
    write(0, header(7));
    [0, 4, 4, 0, 5].forEach((commit, i) => write(32 + i * size, frame(7, i + 1, commit)));
    flush();
    flush();
    const store = newStore();
    const info = {
      id: 't',
      kind: 'worker' as const,
      url: '',
      name: '',
      parent: null,
      timeOrigin: store.originMs,
    };
    const log = { kind: 'opfs-file' as const, id: rows[0]![8]!, path: '/app.db-wal' };
    store.thread(info).append(batchOf(info, 0, rows, [log]));
    expect(rows.filter((r) => r[4] === Op.opfsWrite)).toHaveLength(6);
    expect(commitsOf(store)).toEqual({ count: 3, syncs: 2, syncsPerCommit: 2 / 3 });
  });
});
