/**
 * Finding about a VFS that opens its sync access handles for each lock or call. It is refused
 * because another tab or worker has the file, and returns an I/O error to SQLite, for which busy
 * handlers don't wait.
 *
 *   F48   xLock -> createSyncAccessHandle NoModificationAllowedError -> SQLITE_IOERR, again and again
 */
import { Op } from '../../event/event.ts';
import { isVfsOp } from '../../event/operations.ts';
import { Rc } from '../../sqlite/constants.ts';
import { countOf, formatDuration } from '../../text/numbers.ts';
import { lowerBound } from '../../trace/number-columns.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import { rootOf } from '../core/thread-origin.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { Saving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { Outcome } from './lock-columns.ts';
import { locks, placesOf } from './locks.ts';

const FEW = 3;
/** Refusals further apart aren't a storm. */
const GAP_US = 500_000;

/** Rows of VFS calls that returned an I/O error; a short read doesn't count. */
const ioErrors = (ctx: FindingContext, thread: ThreadStore): number[] =>
  ctx.failures(thread).filter((row) => {
    const result = thread.events.result[row]!;
    return isVfsOp(thread.events.op[row]!) && (result & 255) === Rc.ioErr;
  });

interface Storm {
  evidence: Evidence;
  path: string;
  /** End of the last one, microseconds. */
  untilUs: number;
  refused: number;
  /** A refusal was on another thread, within the call's time. */
  byTime: boolean;
}

export const refusedHandles: Rule = {
  id: 'F48',
  title: 'I/O errors where a handle was refused',
  run(ctx) {
    const all = ctx.get(locks);
    const { waits } = all;
    const refused = placesOf(all, waits, 'access-handle').filter(
      (wait) => waits.outcome[wait] === Outcome.refused,
    );
    if (refused.length === 0) return [];
    const storms: Storm[] = [];
    refused.sort((a, b) => waits.from[a]! - waits.from[b]!);
    const begins = Float64Array.from(refused, (wait) => waits.from[wait]!);
    for (const thread of ctx.store.threads) {
      const { events } = thread;
      const own = ctx.get(owners).of(thread);
      const page = rootOf(ctx.store, thread.index);
      /** Refusals below a call, or of another worker of the page while it ran. */
      const under = (row: number): number[] => {
        const [fromUs, toUs] = [events.t0[row]!, events.t0[row]! + events.dur[row]!];
        const found: number[] = [];
        for (let i = lowerBound(begins, fromUs, begins.length); i < begins.length; i++) {
          const wait = refused[i]!;
          if (begins[i]! > toUs) break;
          const at = waits.thread[wait]!;
          if (
            at === thread.index
              ? own.vfs(waits.row[wait]!) === row
              : waits.to[wait]! <= toUs && rootOf(ctx.store, at) === page
          )
            found.push(wait);
        }
        return found;
      };
      const running = new Map<string, Storm>();
      for (const row of ioErrors(ctx, thread)) {
        const found = under(row);
        if (found.length === 0) continue;
        const path = ctx.file(thread, events.object[row]!)?.main ?? '';
        const key = `${events.context[row]} ${path}`;
        const before = running.get(key);
        const goesOn = before !== undefined && events.t0[row]! - before.untilUs <= GAP_US;
        if (!goesOn) running.delete(key);
        const storm = getOrMake(running, key, () => {
          const made = { evidence: new Evidence(), path, untilUs: 0, refused: 0, byTime: false };
          storms.push(made);
          return made;
        });
        storm.evidence.add(thread, row);
        storm.untilUs = events.t0[row]! + events.dur[row]!;
        storm.refused += found.length;
        storm.byTime ||= found.some((wait) => waits.thread[wait] !== thread.index);
        for (const wait of found.slice(0, 1))
          storm.evidence.show(waits.thread[wait]!, waits.row[wait]!);
      }
    }
    return storms
      .filter(({ evidence }) => evidence.count >= FEW)
      .map(({ evidence, path, refused: n, byTime }): Found => ({
        title: `${countOf(evidence.count, 'call')} on ${path || 'a database'} answered SQLITE_IOERR within ${formatDuration(evidence.toUs - evidence.fromUs)}, since ${countOf(n, 'handle was', 'handles were')} refused`,
        evidence: evidence.result(ctx),
        ...new Saving(ctx).avoid(n - 1, Op.opfsOpenSyncAccessHandle, 'refused handles').result(),
        confidence: 'likely',
        reason: byTime
          ? "a worker of the same page was refused a handle while each call ran; the recording can't show what it answered the call"
          : 'each call requested a handle, was refused, and returned an I/O error; how often it would ask with pauses is not known',
        advice:
          'Another tab or worker has the file: wait for it by a Web Lock around the handle. A VFS should answer SQLITE_BUSY, so that busy_timeout applies, and pause longer after each refusal.',
        link: 'https://www.sqlite.org/rescode.html#ioerr_lock',
      }));
  },
};
