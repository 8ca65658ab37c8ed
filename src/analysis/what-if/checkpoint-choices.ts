/**
 * What another wal_autocheckpoint would change: the recorded transactions are appended to a log
 * that SQLite checkpoints at other distances.
 *
 *   recorded, 4 frames     a b | c d -> copy a b c d     a b | a d -> copy a b d        8 frames, 7 pages written
 *   at 8 frames            a b | c d | a b | a d -> copy a b c d                        8 frames, 4 pages written
 *
 * These are counts, not estimates: SQLite appends the same frames, and a checkpoint copies each
 * page once, from its newest frame. The result for the recorded distance is compared with the
 * recording. It is assumed, because a recording can't show it, that no reader on another connection
 * blocks a checkpoint.
 */
import { fact, type ByThread } from '../core/graph.ts';
import { rowsByOperation, type RowsByOperation } from '../core/rows-by-operation.ts';

import { databasePath, plainPath } from '../../event/file-names.ts';
import { Op } from '../../event/event.ts';
import { WAL_HEADER } from '../../sqlite/wal.ts';
import { formatCount, formatMoment } from '../../text/numbers.ts';
import type { TraceStore } from '../../trace/store.ts';
import { accesses } from '../pages/page-accesses.ts';
import { checkpoints, HOT_US } from '../wal/checkpoints.ts';
import {
  askedCheckpoints,
  logScriptOf,
  noCounts,
  Step,
  type LogCounts,
  type LogScript,
} from './log-script.ts';
import { DEFAULT_AUTOCHECKPOINT } from '../wal/wal.ts';
import { wals, type WalFile } from '../wal/wal-files.ts';

/** Distances that are tried, in frames; 0 = SQLite runs no checkpoints by itself. */
const DISTANCES: readonly number[] = [100, 250, 500, 1000, 2000, 5000, 10_000, 0];

export interface CheckpointChoice extends LogCounts {
  /** Value of wal_autocheckpoint; 0 = off. */
  readonly autocheckpoint: number;
  /** The recording's own value, or one that would have run the same checkpoints. */
  readonly recorded: boolean;
  /**
   * Pages that checkpoints read from the log less than HOT_US after they were written, by the
   * recording's times: they are probably still in SQLite's page cache.
   */
  readonly hotReads: number;
}
export interface CheckpointChoices {
  /** Path of the database. */
  readonly path: string;
  /** Why there are no choices, as the end of a sentence; '' = there are. */
  readonly why: string;
  /** Counted from here on, if the log had frames before, microseconds. */
  readonly fromUs: number | null;
  /**
   * How the result for the recorded distance differs from the recording: [] = identical; null = no
   * single distance explains the recording.
   */
  readonly differing: readonly Difference[] | null;
  /** By distance, off last. */
  readonly choices: readonly CheckpointChoice[];
}
interface Difference {
  readonly name: keyof LogCounts;
  readonly recorded: number | null;
  readonly counted: number | null;
}

/** Neighboring distances with the same cost, as one row of a table. */
export interface ChoiceRow extends Omit<CheckpointChoice, 'recorded'> {
  /** The largest of them, where off is larger than all; `autocheckpoint` is the smallest. */
  readonly last: number;
  /** The recording's own distance if it is among them; null = it isn't. */
  readonly recordedAt: number | null;
}

/** @param choices by distance, off last */
export function choiceRows(choices: readonly CheckpointChoice[]): ChoiceRow[] {
  const rows: ChoiceRow[] = [];
  for (const { recorded, ...choice } of choices) {
    const { autocheckpoint, ...counts } = choice;
    const recordedAt = recorded ? autocheckpoint : null;
    const before = rows.at(-1);
    const isSame =
      before &&
      (Object.keys(counts) as (keyof typeof counts)[]).every((key) => counts[key] === before[key]);
    if (isSame)
      rows[rows.length - 1] = {
        ...before,
        last: autocheckpoint,
        recordedAt: before.recordedAt ?? recordedAt,
      };
    else rows.push({ ...choice, last: autocheckpoint, recordedAt });
  }
  return rows;
}

/** Notes on a log's choices, one sentence each. */
export function choiceNotes({ why, fromUs, differing, choices }: CheckpointChoices): string[] {
  if (why) return [`n/a: ${why}.`];
  const own = choices.find(({ recorded }) => recorded);
  const apart = (differing ?? []).map(
    ({ name, recorded, counted }) =>
      `${name} ${formatCount(recorded)} recorded, ${formatCount(counted)} counted`,
  );
  return [
    ...(fromUs === null
      ? []
      : [
          `The log held frames before the recording. Counted from ${formatMoment(fromUs)} on, where it began again.`,
        ]),
    ...(!own
      ? [
          'No single wal_autocheckpoint explains the recorded checkpoints. Your app changed it, or a reader held checkpoints back. Take the numbers as estimates.',
        ]
      : apart.length
        ? [
            `For the recorded value, these counts differ: ${apart.join('; ')}. Take the others as estimates.`,
          ]
        : ['For the recorded value, all counts are those of the recording.']),
    'Assumed: the same statements with the same page cache, and no reader of another connection that holds a checkpoint back.',
  ];
}

/** One for each log, in the order in which databases were first used. */
export const checkpointChoices = fact(
  'checkpointChoices',
  'other distances between checkpoints',
  { wals, checkpoints, askedCheckpoints, accesses, rowsByOperation },
  function* (store, known) {
    const found: CheckpointChoices[] = [];
    for (const file of known.wals) {
      const script = logScriptOf(
        store,
        file,
        known.checkpoints,
        known.askedCheckpoints,
        known.accesses,
      );
      yield;
      if (typeof script === 'string')
        found.push({ path: file.path, why: script, fromUs: null, differing: null, choices: [] });
      else {
        const sector = script.fillsSectors ? sectorOf(store, file, known.rowsByOperation) : 0;
        found.push(yield* choicesOf(file.path, script, sector));
      }
    }
    return found;
  },
);

function* choicesOf(
  path: string,
  script: LogScript,
  sector: number,
): Generator<void, CheckpointChoices> {
  const own = ownDistance(script);
  const distances = [...new Set([...DISTANCES, ...(own === null ? [] : [own])])].sort(
    (a, b) => (a || Infinity) - (b || Infinity),
  );
  const choices: CheckpointChoice[] = [];
  for (const autocheckpoint of distances) {
    const log = new SimulatedLog(script, sector, autocheckpoint);
    const counts = log.run();
    const { hotReads } = log;
    choices.push({ ...counts, hotReads, autocheckpoint, recorded: autocheckpoint === own });
    yield;
  }
  const counted = choices.find(({ recorded }) => recorded);
  return {
    path,
    why: '',
    fromUs: script.fromUs,
    differing: counted ? differences(script.recorded, counted) : null,
    choices,
  };
}

const differences = (recorded: LogCounts, counted: LogCounts): Difference[] =>
  (Object.keys(recorded) as (keyof LogCounts)[]).flatMap((name) =>
    recorded[name] === counted[name]
      ? []
      : [{ name, recorded: recorded[name], counted: counted[name] }],
  );

/** A distance that runs the recorded checkpoints: SQLite's default if it does; null = none does. */
function ownDistance({ fewestWith, mostWithout }: LogScript): number | null {
  if (mostWithout >= fewestWith) return null;
  if (DEFAULT_AUTOCHECKPOINT > mostWithout && DEFAULT_AUTOCHECKPOINT <= fewestWith)
    return DEFAULT_AUTOCHECKPOINT;
  return fewestWith === Infinity ? 0 : fewestWith;
}

/** Bytes of a sector, as SQLite interprets the VFS's answer. */
function sectorOf(store: TraceStore, file: WalFile, rows: ByThread<RowsByOperation>): number {
  let bytes = 4096; // of a VFS that has no xSectorSize
  for (const thread of store.threads)
    for (const row of rows.of(thread).of(Op.xSectorSize)) {
      const d = thread.definitions.get(thread.events.object[row]!);
      const isLog = d?.kind === 'file' && d.fileKind === 'wal';
      if (isLog && plainPath(databasePath(d.path)) === plainPath(file.path))
        bytes = thread.events.result[row]!;
    }
  return bytes < 32 ? 512 : Math.min(bytes, 65536);
}

interface Frame {
  readonly page: number;
  readonly us: number;
}

/** A log as in SQLite's wal.c, for one writer that no reader blocks. */
class SimulatedLog {
  hotReads = 0;
  private readonly counts = noCounts();
  /** When the newest committed frame of each page was written. */
  private readonly newest = new Map<number, number>();
  /** Frames of the current transaction, by index. */
  private transaction: Frame[] = [];
  /** Committed frames, and frames in the log: a rolled-back transaction leaves some. */
  private committed = 0;
  private written = 0;
  /** All of them are in the database, so the next transaction begins at the first frame. */
  private copied = false;
  /** Pages of the database. */
  private pages = 0;

  /** @param sector bytes; 0 = commits don't fill any @param autocheckpoint frames; 0 = off */
  constructor(
    private readonly script: LogScript,
    private readonly sector: number,
    private readonly autocheckpoint: number,
  ) {}

  run(): LogCounts {
    const { steps, commitSyncs, checkpointSyncs } = this.script;
    const { step, a, b, us, count } = steps;
    for (let i = 0; i < count; i++) {
      const kind = step[i]!;
      if (kind === Step.frame) this.frame(a[i]!, b[i]!, us[i]!);
      else if (kind === Step.commit) this.commit(a[i]!, b[i] === 1, us[i]!);
      else if (kind === Step.read) this.read(a[i]!, b[i] === 1);
      else {
        this.checkpoint(us[i]!);
        if (kind === Step.cut) this.empty();
      }
    }
    const { counts } = this;
    const known = checkpointSyncs !== null;
    return {
      ...counts,
      walSyncs: known ? counts.walSyncs + commitSyncs : null,
      dbSyncs: known ? counts.dbSyncs : null,
    };
  }

  private empty(): void {
    this.committed = this.written = 0;
    this.copied = false;
    this.newest.clear();
  }

  private frame(place: number, page: number, us: number): void {
    if (this.copied) this.empty();
    const { transaction, script, counts } = this;
    transaction.length = place - 1;
    transaction.push({ page, us });
    if (place === 1 && this.committed === 0) {
      this.written = 0; // the log's header is written again, too
      if (script.headerSyncs) counts.walSyncs++;
    }
    counts.frames++;
    this.reach(this.committed + place);
  }

  private reach(frame: number): void {
    this.written = Math.max(this.written, frame);
    this.counts.largest = Math.max(this.counts.largest, this.written);
  }

  private commit(pages: number, synced: boolean, us: number): void {
    const { transaction, newest, sector, script } = this;
    for (const { page, us: written } of transaction) newest.set(page, written);
    this.committed += transaction.length;
    this.transaction = [];
    this.pages = pages;
    if (synced && sector > 0) {
      const end = WAL_HEADER + this.committed * script.frameBytes;
      const rest = Math.ceil(end / sector) * sector - end;
      const fill = Math.ceil(rest / script.frameBytes);
      this.committed += fill;
      this.counts.frames += fill;
      this.reach(this.committed);
    }
    if (this.autocheckpoint > 0 && this.committed >= this.autocheckpoint) this.checkpoint(us);
  }

  private read(page: number, own: boolean): void {
    if (own || (!this.copied && this.newest.has(page))) this.counts.logReads++;
    else this.counts.dbReads++;
  }

  private checkpoint(us: number): void {
    if (this.committed === 0 || this.copied) return;
    const { counts, newest } = this;
    // pages after the database's end are from before it shrank
    const pages = Float64Array.from([...newest.keys()].filter((page) => page <= this.pages)).sort();
    counts.checkpoints++;
    counts.dbWrites += pages.length;
    counts.copyReads += pages.length;
    pages.forEach((page, i) => {
      if (page !== pages[i - 1]! + 1) counts.runs++;
      if (us - newest.get(page)! < HOT_US) this.hotReads++;
    });
    if (this.script.checkpointSyncs) {
      counts.walSyncs++;
      counts.dbSyncs++;
    }
    this.copied = true;
  }
}
