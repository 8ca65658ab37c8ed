/** Installs the VFS and SQL layers on this thread, and decodes what they wrote into the ring. */
import {
  installEngines,
  type EngineOptions,
  type InstalledEngines,
} from '../../../src/engines/install.ts';
import { RecordReader } from '../../../src/event/batch.ts';
import { counters, drainRecords, drainSharedDefinitions } from '../../../src/record/drain.ts';
import { Flag, Op } from '../../../src/event/event.ts';
import { opName } from '../../../src/event/operations.ts';
import type { Definition, FileKind } from '../../../src/event/definitions.ts';
import { Recorder, type RecorderOptions } from '../../../src/record/recorder.ts';

export interface Row {
  op: number;
  name: string;
  flags: number;
  seq: number;
  endSeq: number;
  t0: number;
  t1: number;
  result: number;
  offset: number;
  length: number;
  object: number;
  parent: number;
  context: number;
  aux: number;
  aux2: number;
}
type FileDefinition = Extract<Definition, { kind: 'file' }>;
type EngineDefinition = Extract<Definition, { kind: 'engine' }>;

export class Traced {
  readonly recorder: Recorder;
  readonly installed: InstalledEngines;
  readonly definitions: Definition[] = [];
  readonly rows: Row[] = [];
  private readonly bySeq = new Map<number, Row>();
  /** Records drained from inside the app's calls, when the ring requested it. */
  drains = 0;

  constructor(
    recorderOptions: RecorderOptions = {},
    engineOptions: EngineOptions = {},
    drainUnderPressure = true,
  ) {
    this.recorder = new Recorder(recorderOptions);
    if (drainUnderPressure)
      this.recorder.onPressure = () => {
        this.drains++;
        this.drain();
      };
    this.installed = installEngines(this.recorder, engineOptions);
  }

  drain(): void {
    const { buffer } = this.recorder.memory;
    const taken = drainRecords(buffer);
    this.definitions.push(
      ...(this.recorder.shared
        ? drainSharedDefinitions(buffer, this.recorder.layout.definitionsAt)
        : this.recorder.takeDefinitions()),
    );
    if (!taken) return;
    const r = new RecordReader(taken.records);
    for (let i = 0; i < r.count; i++) {
      if (r.op(i) === Op.end) {
        const row = this.bySeq.get(r.seq(i));
        if (!row) throw new Error(`an end without its begin: seq ${r.seq(i)}`);
        row.endSeq = r.endSeq(i);
        row.t1 = r.t1(i);
        row.result = r.result(i);
        row.flags |= r.flags(i);
        if (r.aux(i) || r.aux2(i)) [row.aux, row.aux2] = [r.aux(i), r.aux2(i)];
        continue;
      }
      const row: Row = {
        op: r.op(i),
        name: opName(r.op(i)),
        flags: r.flags(i),
        seq: r.seq(i),
        endSeq: r.endSeq(i),
        t0: r.t0(i),
        t1: r.t1(i),
        result: r.result(i),
        offset: r.offset(i),
        length: r.length(i),
        object: r.object(i),
        parent: r.parent(i),
        context: r.context(i),
        aux: r.aux(i),
        aux2: r.aux2(i),
      };
      this.bySeq.set(row.seq, row);
      this.rows.push(row);
    }
  }

  /** Everything recorded so far; drops nothing. */
  all(): Row[] {
    this.drain();
    return this.rows;
  }

  /** A mark: `since(mark)` returns the rows from here on. */
  mark(): number {
    return this.all().length;
  }
  since(mark: number): Row[] {
    return this.all().slice(mark);
  }

  file(id: number): FileDefinition | undefined {
    return this.definitions.find((d): d is FileDefinition => d.kind === 'file' && d.id === id);
  }
  kind(row: Row): FileKind | undefined {
    return this.file(row.object)?.fileKind;
  }
  get engines(): EngineDefinition[] {
    this.drain();
    return this.definitions.filter((d): d is EngineDefinition => d.kind === 'engine');
  }
  sqlText(id: number): string | undefined {
    const found = this.definitions.find((d) => d.kind === 'sql' && d.id === id);
    return found?.kind === 'sql' ? found.text : undefined;
  }
  get notes(): string[] {
    this.drain();
    return this.definitions.flatMap((d) => (d.kind === 'note' ? [d.text] : []));
  }

  /** `xRead main-db` -> calls and bytes; the in-memory journal is a separate kind. */
  tally(rows: readonly Row[]): Record<string, { calls: number; bytes: number }> {
    const out: Record<string, { calls: number; bytes: number }> = {};
    const kinds = new Map<number, string>(
      this.definitions.flatMap((d) => (d.kind === 'file' ? [[d.id, d.fileKind] as const] : [])),
    );
    for (const row of rows) {
      if (row.op >= 64) continue;
      const t = (out[`${row.name} ${kinds.get(row.object) ?? '?'}`] ??= { calls: 0, bytes: 0 });
      t.calls++;
      t.bytes += row.length;
    }
    return out;
  }

  counters(): { dropped: number; faults: number } {
    return counters(this.recorder.memory.buffer);
  }

  /** Invariants of every finished trace. @returns those that are violated */
  faultsOf(rows: readonly Row[]): string[] {
    const wrong: string[] = [];
    const bySeq = new Map(rows.map((r) => [r.seq, r]));
    for (const r of rows) {
      if (!r.endSeq) wrong.push(`${r.name} ${r.seq} has no end`);
      else if (r.endSeq <= r.seq) wrong.push(`${r.name} ${r.seq} ends at ${r.endSeq}`);
      if (!(r.t1 >= r.t0)) wrong.push(`${r.name} ${r.seq} lasts ${r.t1 - r.t0}`);
      if (r.op < 64 && !this.file(r.object)) wrong.push(`${r.name} ${r.seq} is on no file`);
      const parent = bySeq.get(r.parent);
      if (parent && !(parent.seq < r.seq && r.endSeq < parent.endSeq))
        wrong.push(`${r.name} ${r.seq} is not inside its parent ${parent.name}`);
      if (r.flags & Flag.threw) wrong.push(`${r.name} ${r.seq} threw`);
    }
    return wrong;
  }

  restore(): void {
    this.installed.restore();
  }
}
