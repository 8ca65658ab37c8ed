/** The storage calls of a report. */
import type { Block } from './blocks.ts';
import { UNKNOWN, countOf, formatBytes, formatCount } from '../../text/numbers.ts';
import { knownWeb, type WebCounts } from '../files/web-counts.ts';

/**
 * Calls of the browser's storage APIs, by all threads.
 * @param cause why they aren't known, if so @param unseen what isn't recorded; null = nothing
 */
export function storageBlock(
  web: WebCounts,
  cause: string | undefined,
  unseen: string | null,
): Block {
  const known = knownWeb(web);
  if (!known) return { heading: 'Storage calls', facts: [[UNKNOWN, cause ?? 'not recorded']] };
  const { opfs, idb, locks, localStorage: local, http } = known;
  return {
    heading: 'Storage calls',
    ...(unseen === null ? {} : { lines: [`Lower bounds: ${unseen}.`] }),
    facts: [
      [
        'IndexedDB',
        `${formatCount(idb.transactions)} transactions (${formatCount(idb.readwriteTransactions)} readwrite), ${formatCount(idb.get)} get, ${formatCount(idb.put)} put, ` +
          `${formatCount(idb.delete)} delete, ${formatCount(idb.getAll)} getAll, ${formatCount(idb.cursor)} cursors`,
      ],
      [
        'OPFS',
        `${formatCount(opfs.reads)} reads (${formatBytes(opfs.readBytes)}), ${formatCount(opfs.writes)} writes (${formatBytes(opfs.writeBytes)}), ` +
          `${formatCount(opfs.flushes)} flushes, ${formatCount(opfs.truncates)} truncates`,
      ],
      ['Web Locks', `${formatCount(locks.requests)} requests`],
      [
        'localStorage',
        `${formatCount(local.get)} get, ${formatCount(local.set)} set, ${formatCount(local.remove)} remove`,
      ],
      ...(http.requests
        ? ([
            [
              'HTTP',
              `${countOf(http.requests, 'request')} of SQLite's calls, ${formatBytes(http.readBytes)} read`,
            ],
          ] as const)
        : []),
    ],
  };
}
