/** The files and storage calls of a report. */
import type { FileCounts } from '../files/file-counts.ts';
import { count, size } from '../rules/words.ts';
import { cut, known, knownSize, oneLine, type Block } from './report-words.ts';
import { knownWeb, type WebCounts } from '../files/web-counts.ts';

/** Files by bytes that SQLite moved, then by its calls. null where no file was seen. */
export function filesBlock(files: readonly FileCounts[], most: number): Block | null {
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
          cut(oneLine(path), 60, 'end') || '(no name)',
          kind,
          known(vfs.xRead),
          knownSize(vfs.xReadBytes),
          known(vfs.xWrite),
          knownSize(vfs.xWriteBytes),
          known(vfs.xSync),
          known(vfs.xLock),
          known(web.reads),
          known(web.writes),
          known(web.flushes),
        ]),
      texts: [0, 1],
    },
    lines: more > 0 ? [`... and ${count(more)} more.`] : [],
  };
}

/** Calls of the browser's storage APIs, whoever made them. @param cause why they are not known, where they are not */
export function storageBlock(web: WebCounts, cause: string | undefined): Block {
  const known = knownWeb(web);
  if (!known) return { heading: 'Storage calls', facts: [['n/a', cause ?? 'not recorded']] };
  const { opfs, idb, locks, localStorage: local } = known;
  return {
    heading: 'Storage calls',
    facts: [
      [
        'IndexedDB',
        `${count(idb.transactions)} transactions (${count(idb.readwriteTransactions)} readwrite), ${count(idb.get)} get, ${count(idb.put)} put, ` +
          `${count(idb.delete)} delete, ${count(idb.getAll)} getAll, ${count(idb.cursor)} cursors`,
      ],
      [
        'OPFS',
        `${count(opfs.reads)} reads (${size(opfs.readBytes)}), ${count(opfs.writes)} writes (${size(opfs.writeBytes)}), ` +
          `${count(opfs.flushes)} flushes, ${count(opfs.truncates)} truncates`,
      ],
      ['Web Locks', `${count(locks.requests)} requests`],
      [
        'localStorage',
        `${count(local.get)} get, ${count(local.set)} set, ${count(local.remove)} remove`,
      ],
    ],
  };
}
