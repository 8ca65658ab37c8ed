/** The files and storage calls of a report. */
import type { FileCounts } from '../files/file-counts.ts';
import type { Block } from './blocks.ts';
import { cut, oneLine } from '../../text/clean.ts';
import { UNKNOWN, formatBytes, formatCount } from '../../text/numbers.ts';
import { knownWeb, type WebCounts } from '../files/web-counts.ts';

/** Files by bytes that SQLite moved, then by its calls. null where no file was seen. */
export function filesBlock(files: readonly FileCounts[], most: number, longest = 60): Block | null {
  if (files.length === 0) return null;
  const bytes = ({ vfs }: FileCounts): number => (vfs.xReadBytes ?? 0) + (vfs.xWriteBytes ?? 0);
  const sorted = files.slice().sort((a, b) => bytes(b) - bytes(a));
  const more = files.length - most;
  return {
    heading: 'Files',
    table: {
      head: [
        'path',
        'kind',
        'xRead',
        'read',
        'xWrite',
        'written',
        'xSync',
        'xLock',
        'storage reads',
        'writes',
        'flushes',
      ],
      rows: sorted
        .slice(0, most)
        .map(({ path, kind, vfs, web }) => [
          cut(oneLine(path), longest, 'end') || '(no name)',
          kind,
          formatCount(vfs.xRead),
          formatBytes(vfs.xReadBytes),
          formatCount(vfs.xWrite),
          formatBytes(vfs.xWriteBytes),
          formatCount(vfs.xSync),
          formatCount(vfs.xLock),
          formatCount(web.reads),
          formatCount(web.writes),
          formatCount(web.flushes),
        ]),
      texts: [0, 1],
    },
    lines: more > 0 ? [`... and ${formatCount(more)} more.`] : [],
  };
}

/** Calls of the browser's storage APIs, whoever made them. @param cause why they are not known, where they are not */
export function storageBlock(web: WebCounts, cause: string | undefined): Block {
  const known = knownWeb(web);
  if (!known) return { heading: 'Storage calls', facts: [[UNKNOWN, cause ?? 'not recorded']] };
  const { opfs, idb, locks, localStorage: local } = known;
  return {
    heading: 'Storage calls',
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
    ],
  };
}
