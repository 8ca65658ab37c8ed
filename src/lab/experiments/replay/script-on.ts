/**
 * The part of a script that a VFS can repeat: everything, except on absurd-sql, which stores no
 * journal and no WAL.
 */
import { Op } from '../../../event/event.ts';
import { countOf, formatBytes } from '../../../text/numbers.ts';
import type { VfsName } from '../model/types.ts';
import type { ReplayScript } from './calls.ts';

/** absurd-sql reads a page size as two bytes, and SQLite stores 64 KiB as 1. */
const MOST_PAGE = 32768;

/**
 * @returns the script itself where nothing is left out
 * @throws Error with a message for the user where the recording's calls can't be made there
 */
export function scriptOn(vfs: VfsName, script: ReplayScript): ReplayScript {
  if (vfs !== 'absurd-sql') return script;
  const { files, calls } = script;
  if (calls.some(({ op, file }) => op === Op.xWrite && files[file]!.kind === 'wal'))
    throw new Error(
      "absurd-sql stores no write-ahead log, and this recording's commits are in one. It can replay recordings with a rollback journal or none.",
    );
  const large = files.find(({ pageSize }) => pageSize !== null && pageSize > MOST_PAGE)?.pageSize;
  if (large)
    throw new Error(
      `absurd-sql stores pages of up to ${formatBytes(MOST_PAGE)}, and this recording's have ${formatBytes(large)}.`,
    );
  const known = calls.filter(({ op, file }) => {
    const { kind } = files[file]!;
    // SQLite checks for one in every mode
    return (kind !== 'journal' && kind !== 'wal') || op === Op.xAccess;
  });
  const left = calls.length - known.length;
  if (left === 0) return script;
  return {
    ...script,
    calls: known,
    recordedUs: known.reduce((sum, { us }) => sum + us, 0),
    leftOut: [
      ...script.leftOut,
      `${countOf(left, 'call')} on the rollback journal. absurd-sql stores none, so an app uses journal_mode=memory there, and SQLite makes the other calls alike`,
    ],
  };
}
