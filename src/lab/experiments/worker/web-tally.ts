/** Counts the calls of the browser's storage APIs on this thread, by the names of the summary: the probes, read in passing. */
import { installProbes, type InstalledProbes } from '../../../probes/install.ts';
import { RecordReader } from '../../../event/batch.ts';
import { idbMode, READWRITE } from '../../../event/idb-modes.ts';
import { OPFS_FLUSHES } from '../../../event/operations.ts';
import { drainRecords } from '../../../record/drain.ts';
import { Flag, Op } from '../../../event/event.ts';
import { Recorder } from '../../../record/recorder.ts';
import type { Counters } from '../model/types.ts';

const NAMES = new Map<number, string>([
  [Op.idbGet, 'idb.get'],
  [Op.idbPut, 'idb.put'],
  [Op.idbAdd, 'idb.put'],
  [Op.idbDelete, 'idb.delete'],
  [Op.idbGetAll, 'idb.getAll'],
  [Op.idbOpenCursor, 'idb.cursor'],
  [Op.idbOpenKeyCursor, 'idb.cursor'],
  [Op.idbCursorContinue, 'idb.cursorContinue'],
  [Op.idbTransaction, 'idb.transactions'],
  [Op.opfsRead, 'opfs.reads'],
  [Op.opfsFileRead, 'opfs.reads'],
  [Op.opfsWrite, 'opfs.writes'],
  [Op.opfsStreamWrite, 'opfs.writes'],
  ...OPFS_FLUSHES.map((op): [number, string] => [op, 'opfs.flushes']),
  [Op.opfsTruncate, 'opfs.truncates'],
  [Op.opfsStreamTruncate, 'opfs.truncates'],
  [Op.opfsCreateWritable, 'opfs.writables'],
  [Op.lockRequest, 'locks.requests'],
]);

export class WebTally {
  private readonly recorder = new Recorder({ capacity: 8192, maxEngines: 0 });
  private readonly probes: InstalledProbes;
  private readonly counts: Record<string, number> = {};

  /** Patches the storage APIs of this thread. */
  constructor() {
    this.recorder.onPressure = () => this.drain();
    this.probes = installProbes(this.recorder);
  }

  /** Cumulative. */
  read(): Counters {
    this.drain();
    return { ...this.counts };
  }

  restore(): void {
    this.probes.restore();
  }

  private drain(): void {
    const taken = drainRecords(this.recorder.memory.buffer);
    this.recorder.takeDefinitions();
    if (!taken) return;
    const reader = new RecordReader(taken.records);
    for (let i = 0; i < reader.count; i++) {
      const op = reader.op(i);
      const name = NAMES.get(op);
      if (!name) continue;
      if (op === Op.idbTransaction && reader.flags(i) & Flag.threw) continue; // none was made
      this.counts[name] = (this.counts[name] ?? 0) + 1;
      if (op === Op.idbTransaction && idbMode(reader.aux(i)) === READWRITE)
        this.counts['idb.readwriteTransactions'] =
          (this.counts['idb.readwriteTransactions'] ?? 0) + 1;
    }
  }
}
