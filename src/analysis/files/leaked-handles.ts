/**
 * Finding about sync access handles that the app lost: they were opened together with one that was
 * refused, so Promise.all rejected and its other results were dropped. They block their files until
 * the thread ends.
 *
 *   F49   createSyncAccessHandle a, b, c   b is refused, a and c are never used or closed
 */
import { Op } from '../../event/event.ts';
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Outcome } from '../locks/lock-columns.ts';
import { locks, placesOf } from '../locks/locks.ts';
import { getOrMake } from '../core/maps.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving } from '../rules/saving.ts';
import type { Rule } from '../rules/types.ts';
import { countOf } from '../../text/numbers.ts';

/** An app that closes the handles opened with a refused one does so within this time. */
const MOMENT_US = 500_000;
const CALLS = [Op.opfsRead, Op.opfsWrite, Op.opfsFlush, Op.opfsTruncate, Op.opfsGetSize];

/** By file: row of the last call on a handle. */
function lastUseOf(ctx: FindingContext, thread: ThreadStore): Map<number, number> {
  const last = new Map<number, number>();
  for (const op of CALLS)
    for (const row of ctx.rows(thread, op)) {
      const object = thread.events.object[row]!;
      last.set(object, Math.max(row, last.get(object) ?? -1));
    }
  return last;
}

export const leakedHandles: Rule = {
  id: 'F49',
  title: 'Handles leaked beside a refused one',
  run(ctx) {
    const all = ctx.get(locks);
    const { holds, waits } = all;
    const refused = placesOf(all, waits, 'access-handle').filter(
      (wait) => waits.outcome[wait] === Outcome.refused,
    );
    if (refused.length === 0) return [];
    const evidence = new Evidence();
    const names = new Set<string>();
    const lastUse = new Map<ThreadStore, Map<number, number>>();
    let [later, refusedName] = [0, ''];
    for (const hold of placesOf(all, holds, 'access-handle')) {
      if (holds.outcome[hold] !== Outcome.open) continue;
      const thread = ctx.store.threads[holds.thread[hold]!]!;
      const { events } = thread;
      const row = holds.row[hold]!;
      if (events.op[row] !== Op.opfsOpenSyncAccessHandle) continue; // opened before the recording
      const beside = refused.find(
        (wait) =>
          waits.thread[wait] === thread.index &&
          waits.resource[wait] !== holds.resource[hold] &&
          waits.from[wait]! <= holds.from[hold]! &&
          events.t0[row]! <= waits.to[wait]!,
      );
      if (beside === undefined) continue;
      const since = Math.max(waits.to[beside]!, holds.from[hold]!);
      if (ctx.endOf(thread) - since < MOMENT_US) continue;
      const last = getOrMake(lastUse, thread, () => lastUseOf(ctx, thread));
      if ((last.get(events.object[row]!) ?? -1) > row) continue;
      evidence.add(thread, row);
      evidence.show(thread.index, waits.row[beside]!);
      names.add(objectName(thread, events.object[row]!));
      refusedName = objectName(thread, events.object[waits.row[beside]!]!);
      later += refused.filter(
        (wait) =>
          waits.resource[wait] === holds.resource[hold] && waits.from[wait]! >= holds.from[hold]!,
      ).length;
    }
    if (evidence.count === 0) return [];
    return {
      title: `${countOf(evidence.count, 'handle')} (${[...names].slice(0, 3).join(', ')}) opened at once with ${refusedName}, which was refused, and neither used nor closed since${later ? `; ${countOf(later, 'request')} for them failed later` : ''}`,
      evidence: evidence.result(ctx),
      ...noSaving('the files are blocked until the thread ends'),
      confidence: later ? 'certain' : 'likely',
      reason: later
        ? 'the app requested the handles at once, and later requests for the same files were refused'
        : "the app requested the handles at once; the recording can't show whether it still has them",
      advice:
        'Open handles by Promise.allSettled, and close those that were opened when one is refused: Promise.all drops them.',
      link: 'https://fs.spec.whatwg.org/#api-filesystemfilehandle-createsyncaccesshandle',
    };
  },
};
