/**
 * Findings about how much an origin may store, from error messages, result codes, and the browser's
 * reports on the storage.
 *
 *   F42   quota exceeded, or nearly
 */
import { Flag, Op } from '../../event/event.ts';
import { exceptionName } from '../../event/exceptions.ts';
import { codesOf, OPS } from '../../event/operations.ts';
import { storageHealth, type OriginStorage } from '../files/storage-health.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { errors, FAILURE, quote } from './health.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatBytes } from '../../text/numbers.ts';
import { Rc } from '../../sqlite/constants.ts';

const NEARLY_FULL = 0.9;
const QUOTA = 'QuotaExceededError';
/** Storage calls that a full disk or quota rejects. */
const STORES = codesOf(
  ({ layer, activity }) => layer === 'web' && (activity === 'write' || activity === 'sync'),
);
/** `11.9 MiB of 3 GiB in use, not persisted` */
const healthText = ({ usage, quota, persisted }: OriginStorage): string =>
  `${formatBytes(usage)} of ${formatBytes(quota)} in use, ` +
  (persisted === null ? 'persistence not known' : persisted ? 'persisted' : 'not persisted');

/** Nothing has failed yet. */
function nearlyFull(ctx: FindingContext): Found[] {
  return ctx
    .get(storageHealth)
    .filter(
      ({ usage, quota }) =>
        usage !== null && quota !== null && quota > 0 && usage / quota >= NEARLY_FULL,
    )
    .map((health) => {
      const evidence = new Evidence(); // at the end of that origin's recording
      for (const thread of ctx.store.threads)
        if (thread.events.count && thread.storage.some(({ origin }) => origin === health.origin))
          evidence.add(thread, thread.events.count - 1);
      return {
        title: `Storage of ${health.origin} is nearly full: ${healthText(health)}`,
        evidence: evidence.result(ctx, false),
        ...FAILURE,
        confidence: 'likely',
        reason: "the browser's own estimate, which is about",
        advice:
          "Remove what isn't needed, and vacuum, before writes fail. navigator.storage.persist() protects against eviction.",
        link: 'https://storage.spec.whatwg.org/#usage-and-quota',
      };
    });
}

export const quotaExceeded: Rule = {
  id: 'F42',
  title: 'Quota exceeded',
  run(ctx) {
    const { evidence, text } = errors(ctx, new RegExp(QUOTA, 'i'));
    let [full, refused] = [0, 0];
    for (const op of STORES)
      ctx.each(op, (thread, row) => {
        const { flags, result } = thread.events;
        const failed = OPS[op]!.result === 'failure' || flags[row]! & Flag.threw;
        if (!failed || exceptionName(result[row]!) !== QUOTA) return;
        refused++;
        evidence.add(thread, row);
      });
    for (const op of [Op.xWrite, Op.xTruncate, Op.xSync, Op.sqlStep, Op.sqlExec])
      ctx.eachFailed(op, (thread, row) => {
        if ((thread.events.result[row]! & 255) !== Rc.full || thread.events.result[row]! < 0)
          return;
        full++;
        evidence.add(thread, row);
      });
    const said = ctx.get(storageHealth).map(healthText).join('; ');
    if (evidence.count === 0) return nearlyFull(ctx);
    const what = refused
      ? `${countOf(refused, 'storage call')} failed with ${QUOTA}`
      : full
        ? `${countOf(full, 'call')} answered SQLITE_FULL`
        : quote(text);
    return {
      title: `Storage is full: ${what}${said ? ` (${said})` : ''}`,
      evidence: evidence.result(ctx),
      ...FAILURE,
      confidence: text || refused ? 'certain' : 'likely',
      reason:
        text || refused
          ? 'the browser reports QuotaExceededError'
          : 'SQLITE_FULL is what a VFS answers when the storage takes no more; a database at its max_page_count gets the same answer',
      advice:
        'Ask navigator.storage.estimate() before large writes, navigator.storage.persist() against eviction, and vacuum.',
      link: 'https://storage.spec.whatwg.org/#usage-and-quota',
    };
  },
};
