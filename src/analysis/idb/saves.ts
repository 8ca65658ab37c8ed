/**
 * Findings about how writes become durable.
 *
 *   F14   flush() takes most of a commit's time
 *   F23   the whole database is saved again and again
 *   F24   the page closed before the last write had arrived
 *   F43   createWritable copies the whole file to write a page
 */
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import { Flag, Op } from '../../event/event.ts';
import { idbMode, READWRITE } from '../../event/idb-modes.ts';
import { OPFS_FLUSHES, STORAGE_WRITES } from '../../event/operations.ts';
import { ioObjects } from '../files/io-map.ts';
import { objectName } from '../../trace/describe.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { Evidence } from '../rules/context.ts';
import { noSaving, Saving } from '../rules/saving.ts';
import { commits } from '../transactions/commits.ts';
import { transactions } from '../transactions/transactions.ts';
import { percentile } from '../core/durations.ts';
import type { Found, Rule } from '../rules/types.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
} from '../../text/numbers.ts';

const FEW_FLUSHES = 10;
const FLUSH_SHARE = 0.1;
const FEW_SAVES = 3;
const SMALLEST_DATABASE = 65_536;
const FEW_STREAMS = 10;

/** `6.11 flushes` */
function perCommit(flushes: number): string {
  const text = formatNumber(flushes);
  return `${text} ${text === '1' ? 'flush' : 'flushes'}`;
}

export const flushCost: Rule = {
  id: 'F14',
  title: 'flush() is the commit cost',
  run(ctx) {
    const evidence = new Evidence();
    const times: number[] = [];
    for (const op of OPFS_FLUSHES)
      ctx.each(op, (thread, row) => {
        evidence.add(thread, row);
        times.push(thread.events.dur[row]!);
      });
    const found = evidence.result(ctx);
    if (evidence.count < FEW_FLUSHES || (found.timeShare ?? 0) < FLUSH_SHARE) return [];
    const sorted = Float64Array.from(times).sort();
    const { count, syncs } = ctx.get(commits);
    const extra = count ? evidence.count - count : null;
    return {
      title: `${countOf(evidence.count, 'flush', 'flushes')}${syncs !== null && syncs > 0 && syncs < evidence.count ? ` in OPFS for SQLite's ${countOf(syncs, 'sync')}` : ''} took ${formatDuration(evidence.us)}, ${formatShare(found.timeShare!)} of the entire recording: median ${formatDuration(percentile(sorted, 0.5))}, 95th percentile ${formatDuration(percentile(sorted, 0.95))}${extra === null ? '' : `, ${perCommit(evidence.count / count!)} per commit`}`,
      evidence: found,
      ...(extra === null
        ? noSaving('how many commits they served is not known')
        : extra > 0
          ? new Saving(ctx)
              .avoid(extra, Op.opfsFlush, 'flushes beyond one per commit', '', evidence.cost)
              .result()
          : noSaving('there is one flush a commit at most: fewer commits save them')),
      confidence: 'likely',
      reason:
        "every flush was timed, but how many flushes and writes you avoid depends on the change; their cost differs by system: Chromium asks macOS for F_FULLFSYNC, Safari doesn't",
      advice:
        'Make fewer, larger commits. In WAL mode, synchronous=normal syncs only at checkpoints. A power cut may then lose the commits since the last one.',
      link: 'https://www.sqlite.org/pragma.html#pragma_synchronous',
      tryInLab: 'durability',
    };
  },
};

export const wholeFileSaves: Rule = {
  id: 'F23',
  title: 'Whole file exported at every save',
  run(ctx) {
    if (ctx.calls(...STORAGE_WRITES) === 0) return [];
    const sizes = ctx
      .get(ioObjects)
      .flatMap(({ kind, end }) => (kind === 'main-db' && end >= SMALLEST_DATABASE ? [end] : []));
    if (sizes.length === 0) return [];
    const saves = new Map<string, { op: number; evidence: Evidence }>();
    for (const op of STORAGE_WRITES)
      ctx.each(op, (thread, row) => {
        const { events } = thread;
        const bytes = bytesMoved(events, row);
        if (bytes < SMALLEST_DATABASE || !sizes.some((n) => bytes >= 0.9 * n)) return;
        if (ctx.get(owners).of(thread).vfs(row) >= 0) return; // a VFS of large blocks
        const name = objectName(thread, events.object[row]!);
        getOrMake(saves, name, () => ({ op, evidence: new Evidence() })).evidence.add(thread, row);
      });
    return [...saves]
      .filter(([, { evidence }]) => evidence.count >= FEW_SAVES)
      .map(([name, { op, evidence: e }]): Found => ({
        title: `The whole database was put into ${name} ${countOf(e.count, 'time')}, ${formatBytes(e.bytes)} in all`,
        evidence: e.result(ctx),
        ...new Saving(ctx).avoid(e.count - 1, op, 'saves but the last', '', e.cost).result(),
        confidence: 'likely',
        reason:
          'single values of 90 % or more of the size of a database that is open, not made by its VFS',
        advice:
          'Use a VFS that stores pages, or save after a pause rather than after every change.',
        link: 'https://sqlite.org/wasm/doc/trunk/persistence.md',
      }));
  },
};

export const lostOnLeaving: Rule = {
  id: 'F24',
  title: 'Background flush loses data',
  run(ctx) {
    return ctx.store.threads.flatMap((thread): Found | [] => {
      const { events } = thread;
      if (thread.ended === null || thread.ended === 'stopped') return [];
      const whose = ctx.get(owners).of(thread);
      const evidence = new Evidence();
      let writes = 0;
      for (const op of [
        Op.idbPut,
        Op.idbAdd,
        Op.opfsStreamWrite,
        Op.opfsStreamClose,
        Op.idbTransaction,
      ])
        for (const row of ctx.rows(thread, op)) {
          const writing = op !== Op.idbTransaction || idbMode(events.aux[row]!) === READWRITE;
          if (!writing) continue;
          if (whose.vfs(row) >= 0) continue; // not in the background
          writes++;
          if (events.endSeq[row] !== 0) continue;
          evidence.add(thread, row);
          evidence.bytes += events.length[row]!; // none moved yet: what would be lost
        }
      let last = -Infinity;
      const { list } = ctx.get(transactions);
      for (let i = 0; i < list.length; i++)
        if (list.thread[i] === thread.index && list.outcome(i) === 'committed')
          last = Math.max(last, list.endUs[i]!);
      if (evidence.count === 0 || writes === 0 || last === -Infinity) return [];
      return {
        title: `The thread ended (${thread.ended}) with ${countOf(evidence.count, 'storage call')} unfinished${evidence.bytes ? `, ${formatBytes(evidence.bytes)}` : ''}: SQLite had called those changes committed`,
        evidence: evidence.result(ctx),
        ...noSaving('this is about lost data, not time'),
        confidence: 'possible',
        reason:
          'the calls are not under a VFS call, so the VFS or the app writes behind; the browser may have finished them after the recording of the thread ended',
        advice:
          'Flush on visibilitychange, which always fires before pagehide, and show users what is not stored yet.',
        link: 'https://www.w3.org/TR/page-visibility-2/',
      };
    });
  },
};

export const writableCopies: Rule = {
  id: 'F43',
  title: 'createWritable rewrites the whole file',
  run(ctx) {
    const noFile = () => ({
      creates: new Evidence(),
      closes: new Evidence(),
      written: 0,
      highest: 0,
    });
    const files = new Map<string, ReturnType<typeof noFile>>();
    for (const op of [
      Op.opfsCreateWritable,
      Op.opfsStreamClose,
      Op.opfsStreamWrite,
      Op.opfsFileRead,
    ])
      ctx.each(op, (thread, row) => {
        const { events } = thread;
        if (events.flags[row]! & Flag.threw) return;
        const f = getOrMake(files, objectName(thread, events.object[row]!), noFile);
        const offset = events.offset[row]!;
        const length = events.length[row]!;
        if (Number.isFinite(offset)) f.highest = Math.max(f.highest, offset + length);
        if (op === Op.opfsCreateWritable) f.creates.add(thread, row);
        if (op === Op.opfsStreamClose) f.closes.add(thread, row);
        if (op === Op.opfsStreamWrite) f.written += length;
      });
    return [...files]
      .filter(
        ([, f]) =>
          f.closes.count >= FEW_STREAMS &&
          f.highest > 0 &&
          f.written < 0.25 * f.closes.count * f.highest,
      )
      .map(([name, { creates, closes, ...f }]): Found => ({
        title: `${formatCount(closes.count)} writable streams on ${name} wrote ${formatBytes(f.written)} into a file of at least ${formatBytes(f.highest)}: each copies the whole file`,
        evidence: {
          ...new Evidence().join(creates).join(closes).result(ctx),
          count: closes.count,
          bytes: f.written,
        },
        ...new Saving(ctx)
          .avoid(closes.count, Op.opfsCreateWritable, 'createWritable', '', creates.cost)
          .avoid(closes.count, Op.opfsStreamClose, 'closes of streams', '', closes.cost)
          .result(),
        confidence: 'likely',
        reason:
          'createWritable works on a copy that replaces the file at close(); the size is the highest place that was seen',
        advice: 'Write through a sync access handle, in place. Keep writable streams for exports.',
        link: 'https://fs.spec.whatwg.org/#api-filesystemfilehandle-createwritable',
        tryInLab: 'writable-streams',
      }));
  },
};
