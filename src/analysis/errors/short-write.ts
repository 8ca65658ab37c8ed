/**
 * Finding about writes that the browser's storage stored only partly, without an exception. A full
 * disk or quota causes it: Chromium 150 returns 4294967288, Firefox the bytes that were stored;
 * Chromium 156 throws (F42).
 *
 *   F47   opfs.write 4096 -> 4294967288, xWrite -> SQLITE_IOERR
 */
import { Flag, Op } from '../../event/event.ts';
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { owners } from '../core/owners.ts';
import { Evidence } from '../rules/context.ts';
import type { Rule } from '../rules/types.ts';
import { countOf, formatBytes, formatCount } from '../../text/numbers.ts';
import { FAILURE } from './health.ts';

/**
 * How many bytes an ended write didn't store. A result below 0 is Chromium's number as a 32-bit
 * integer.
 */
function missed({ events }: ThreadStore, row: number): number {
  const { endSeq, flags, result, length } = events;
  if (endSeq[row] === 0 || flags[row]! & Flag.threw) return 0;
  return Math.max(0, length[row]! - Math.max(0, result[row]!));
}

export const shortWrite: Rule = {
  id: 'F47',
  title: 'Storage took less than was written',
  run(ctx) {
    const evidence = new Evidence();
    const paths = new Set<string>();
    let [bytes, hidden] = [0, 0];
    for (const thread of ctx.store.threads) {
      const { context, offset, length, object, result } = thread.events;
      const rows = ctx.rows(thread, Op.opfsWrite);
      for (const [i, row] of rows.entries()) {
        const less = missed(thread, row);
        const next = rows[i + 1];
        const goesOn =
          next !== undefined &&
          context[next] === context[row] &&
          length[next] === less &&
          offset[next] === offset[row]! + result[row]!;
        if (less === 0 || goesOn) continue;
        evidence.add(thread, row);
        bytes += less;
        paths.add(objectName(thread, object[row]!));
        const call = ctx.get(owners).of(thread).vfs(row);
        if (call >= 0 && thread.events.op[call] === Op.xWrite && result[call] === 0) hidden++;
      }
    }
    if (evidence.count === 0) return [];
    return {
      title:
        `${countOf(evidence.count, 'write')} to ${[...paths].slice(0, 3).join(', ')} left ${formatBytes(bytes)} out, without an exception` +
        (hidden ? `; the VFS reported success to SQLite ${countOf(hidden, 'time')}` : ''),
      evidence: evidence.result(ctx),
      ...FAILURE,
      confidence: 'certain',
      reason: hidden
        ? `write() returned fewer bytes than it was given, and xWrite answered SQLITE_OK ${formatCount(hidden)} times: the file is damaged`
        : 'write() returned fewer bytes than it was given; the usual cause is a full disk or quota',
      advice:
        'Free some space: remove old databases, and compare navigator.storage.estimate() before large writes. VACUUM needs twice the size of the database. A VFS must compare what write() returns with what it was given.',
      link: 'https://fs.spec.whatwg.org/#api-filesystemsyncaccesshandle-write',
    };
  },
};
