/**
 * Counts the calls of the browser's storage APIs on this thread, with the names in the summary.
 * Reads them from the probes.
 */
import { installProbes, type InstalledProbes } from '../../../probes/install.ts';
import { RecordReader } from '../../../event/batch.ts';
import { isReadwrite, isWebCall, WEB_CALLS } from '../../../event/web-calls.ts';
import { drainRecords } from '../../../record/drain.ts';
import { Op } from '../../../event/event.ts';
import { Recorder } from '../../../record/recorder.ts';
import type { Counters } from '../model/types.ts';

const NAMES = new Map<number, string>([
  ...Object.entries(WEB_CALLS).flatMap(([api, calls]) =>
    Object.entries(calls).flatMap(([name, ops]) =>
      ops.map((op): [number, string] => [op, `${api}.${name}`]),
    ),
  ),
  [Op.opfsCreateWritable, 'opfs.writables'],
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

  private count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  private drain(): void {
    const taken = drainRecords(this.recorder.memory.buffer);
    this.recorder.takeDefinitions();
    if (!taken) return;
    const reader = new RecordReader(taken.records);
    for (let i = 0; i < reader.count; i++) {
      const op = reader.op(i);
      const name = NAMES.get(op);
      if (!name || !isWebCall(op, reader.flags(i))) continue;
      this.count(name);
      if (isReadwrite(op, reader.aux(i))) this.count('idb.readwriteTransactions');
    }
  }
}
