/**
 * Findings about the write-ahead log.
 *
 *   F13   the log keeps growing and never restarts
 *   F41   the checkpoint reads what was just written, and every checkpoint copies the same pages
 */
import { Op } from '../../event/event.ts';
import { WAL_HEADER } from '../../sqlite/wal.ts';
import { checkpoints, HOT_US, type Checkpoint } from './checkpoints.ts';
import { DEFAULT_AUTOCHECKPOINT, isStarved, walHistories, type WalHistory } from './wal.ts';
import { logReaders, readerText } from './open-readers.ts';
import { AS_VFS, wals, type WalFile } from './wal-files.ts';
import { DistinctPlaces } from '../core/distinct-places.ts';
import { pragmas } from '../core/pragmas.ts';
import { grouped } from '../core/maps.ts';
import { Evidence, type Cost, type FindingContext } from '../rules/context.ts';
import { noSaving, Saving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatShare,
} from '../../text/numbers.ts';

/** The frames of a log since it last restarted; null if it doesn't grow any more. */
function growthOf(ctx: FindingContext, file: WalFile, { series }: WalHistory): Evidence | null {
  const { timeUs, usedBytes } = series;
  const most = usedBytes.reduce((a, b) => Math.max(a, b), 0);
  if (usedBytes.at(-1) !== most) return null;
  const begun = usedBytes.findLastIndex((bytes) => bytes <= WAL_HEADER);
  const sinceUs = timeUs[begun] ?? -Infinity;
  const grown = new Evidence();
  let frames = 0;
  file.row.forEach((row, i) => {
    const thread = ctx.store.threads[file.thread[i]!]!;
    const { op, t0, aux } = thread.events;
    if (!file.onWal[i] || AS_VFS[op[row]!] !== Op.xWrite || t0[row]! < sinceUs) return;
    grown.add(thread, row);
    if (aux[row]) frames++; // its header; the image of its page is a separate write
  });
  grown.count = frames;
  return grown;
}

export const walGrows: Rule = {
  id: 'F13',
  title: 'WAL never shrinks, checkpoint starves',
  needs: { wals, walHistories, pragmas },
  run(ctx) {
    const threshold = ctx.get(pragmas).some(({ name }) => name === 'wal_autocheckpoint');
    const files = ctx.get(wals);
    return ctx.get(walHistories).flatMap((wal, i): Found | [] => {
      const grown = isStarved(wal) ? growthOf(ctx, files[i]!, wal) : null;
      if (!grown) return [];
      const [reader] = ctx.get(logReaders)[i]!;
      const seen = ctx.get(checkpoints).filter(({ path }) => path === wal.path).length;
      return {
        title: `The WAL of ${wal.path} grew to ${formatBytes(wal.highWaterBytes)}: ${formatCount(wal.longestGrowthFrames!)} frames since it last restarted, ${countOf(seen, 'checkpoint')} seen`,
        evidence: grown.result(ctx),
        ...noSaving(
          'a long log costs space, slower reads, and a slow next opening, not calls that this recording shows',
        ),
        confidence: threshold ? 'likely' : 'certain',
        reason: threshold
          ? 'wal_autocheckpoint was set by the app, to a value that this recording folds away; four times the default is exceeded'
          : `four times the default of wal_autocheckpoint (${DEFAULT_AUTOCHECKPOINT} pages) is exceeded and the log hasn't restarted`,
        advice: reader
          ? `Reset or finalize ${readerText(reader, ctx.titles)}: until then no checkpoint can go beyond its snapshot.`
          : 'Find the reader that never ends its transaction, run PRAGMA wal_checkpoint(TRUNCATE) in idle moments, and set journal_size_limit.',
        ...(reader ? {} : { sql: 'PRAGMA wal_checkpoint(TRUNCATE);' }),
        link: 'https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files',
        tryInLab: 'checkpointing',
      };
    });
  },
};

interface Copying {
  evidence: Evidence;
  /** Cost of the calls, by kind. */
  walReads: Cost;
  walSyncs: Cost;
  dbWrites: Cost;
  dbSyncs: Cost;
  /** How many places of the database they wrote; and the sum of that over the groups. */
  places: number;
  placesOfGroups: number;
}

/**
 * The calls of checkpoints that read the log, wrote the database, or synced one of them.
 * @param groups those that one checkpoint would replace
 */
function copyingOf(
  ctx: FindingContext,
  file: WalFile,
  groups: readonly (readonly Checkpoint[])[],
): Copying {
  const none = (): Cost => ({ calls: 0, us: 0 });
  const found: Copying = {
    evidence: new Evidence(),
    walReads: none(),
    walSyncs: none(),
    dbWrites: none(),
    dbSyncs: none(),
    places: 0,
    placesOfGroups: 0,
  };
  /** By page, or between whole numbers by byte if a write begins inside one. */
  const places = new DistinctPlaces();
  const ofGroup = new DistinctPlaces();
  const groupOf = new Map(groups.flatMap((group) => group.map((c) => [c, group])));
  const { walReads, walSyncs, dbWrites, dbSyncs } = found;
  for (const [index, own] of grouped(groups.flat(), (c) => c.thread)) {
    const thread = ctx.store.threads[index]!;
    const { op, offset, dur } = thread.events;
    let at = 0;
    let group: readonly Checkpoint[] | undefined;
    for (let i = 0; i < file.row.length; i++) {
      if (file.thread[i] !== index) continue;
      const row = file.row[i]!;
      while (at < own.length && own[at]!.toRow < row) at++;
      if (at === own.length) break;
      if (row < own[at]!.fromRow) continue;
      const onWal = file.onWal[i];
      const call = AS_VFS[op[row]!];
      let cost = onWal ? walSyncs : dbSyncs;
      if (call === (onWal ? Op.xRead : Op.xWrite)) cost = onWal ? walReads : dbWrites;
      else if (call !== Op.xSync) continue;
      found.evidence.add(thread, row);
      cost.calls++;
      cost.us += dur[row]!;
      if (cost !== dbWrites) continue;
      const page = file.pageSize === null ? NaN : offset[row]! / file.pageSize;
      const place = Number.isInteger(page) ? page : offset[row]! + 0.5;
      if (group !== groupOf.get(own[at]!)) ofGroup.clear();
      group = groupOf.get(own[at]!);
      places.add(place);
      if (ofGroup.add(place)) found.placesOfGroups++;
    }
  }
  found.places = places.size;
  return found;
}

/** A larger value takes storage for the log; in frames. */
const MOST_FRAMES = 10_000;
/**
 * A wal_autocheckpoint with which one checkpoint copies what these did, or as many of them as the
 * log may grow for; null if their frames aren't known, or if it didn't cause them.
 */
function autocheckpointFor(list: readonly Checkpoint[]): number | null {
  if (list.some(({ trigger }) => trigger === 'pragma' || trigger === 'unknown')) return null;
  let frames = 0;
  for (const { framesInLog } of list) {
    if (framesInLog === null) return null;
    frames += framesInLog;
  }
  return Math.min(MOST_FRAMES, 1000 * Math.ceil(frames / 1000));
}

/**
 * Checkpoints that one would replace at a wal_autocheckpoint of so many frames.
 * @param frames null = all of them
 */
function groupsAt(list: readonly Checkpoint[], frames: number | null): Checkpoint[][] {
  const groups: Checkpoint[][] = [[]];
  let left = frames ?? Infinity;
  for (const checkpoint of list) {
    const inLog = checkpoint.framesInLog ?? 0;
    if (inLog > left && groups.at(-1)!.length) {
      groups.push([]);
      left = frames ?? Infinity;
    }
    groups.at(-1)!.push(checkpoint);
    left -= inLog;
  }
  return groups;
}

export const checkpointCopies: Rule = {
  id: 'F41',
  title: 'Checkpoints copy the same pages again and again',
  needs: { checkpoints },
  run(ctx) {
    return [...grouped(ctx.get(checkpoints), (c) => c.path)].flatMap(([path, list]): Found | [] => {
      const sum = (of: (c: Checkpoint) => number | null): number =>
        list.reduce((n, c) => n + (of(c) ?? 0), 0);
      const copies = sum((c) => c.dbWrites);
      const reads = sum((c) => c.walReads);
      if (list.length < 3 || copies < 20) return [];
      const file = ctx.get(wals).find((wal) => wal.path === path)!;
      const value = autocheckpointFor(list);
      const atValue = groupsAt(list, value);
      const copying = copyingOf(ctx, file, atValue);
      const { places, placesOfGroups } = copying;
      const isMost = (again: number): boolean => again >= 20 && again >= copies / 2;
      if (!isMost(copies - places)) return [];
      const frames = isMost(copies - placesOfGroups) ? value : null;
      const groups = frames === null ? [list] : atValue;
      const again = copies - (frames === null ? places : placesOfGroups);
      /** Calls of all checkpoints except the one of each group with the most. */
      const rest = (of: (c: Checkpoint) => number): number =>
        sum(of) - groups.reduce((n, group) => n + Math.max(...group.map(of)), 0);
      const raise = `PRAGMA wal_autocheckpoint${frames === null ? '' : `=${frames}`}`;
      return {
        title: `${formatCount(list.length)} checkpoints of ${path} copied ${countOf(copies, 'page')} one by one, only ${formatCount(places)} distinct; ${formatShare(sum((c) => c.hotReads) / Math.max(1, reads))} of the WAL frames that they read were less than ${formatDuration(HOT_US)} old`,
        evidence: copying.evidence.result(ctx),
        ...new Saving(ctx)
          .avoid(again, Op.xWrite, 'database writes', 'main-db', copying.dbWrites)
          .avoid(Math.min(again, reads), Op.xRead, 'WAL reads', 'wal', copying.walReads)
          .avoid(
            rest((c) => c.dbSyncs),
            Op.xSync,
            'database syncs',
            'main-db',
            copying.dbSyncs,
          )
          .avoid(
            rest((c) => c.walSyncs),
            Op.xSync,
            'WAL syncs',
            'wal',
            copying.walSyncs,
          )
          .result(),
        confidence: 'likely',
        reason:
          'a checkpoint reads every page from the WAL, even pages in the page cache; the same pages were copied several times in this recording',
        advice: `${frames === null ? 'Raise' : 'Set'} ${raise}, or checkpoint in idle moments: a page written often is then copied ${groups.length > 1 ? 'less often' : 'once'}.`,
        ...(frames === null ? {} : { sql: `${raise};` }),
        link: 'https://www.sqlite.org/wal.html#ckpt',
        tryInLab: 'checkpointing',
      };
    });
  },
};
