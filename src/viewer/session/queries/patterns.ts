/** Queries on how a file is used: runs that could be one call, blocks filled in part, calls asked twice, freed space, transactions of IndexedDB. */
import { blockWrites, writeAmplification } from '../../../analysis/pages/block-writes.ts';
import { databaseFiles } from '../../../analysis/core/database-files.ts';
import { databaseHeaders, type DatabaseHeaders } from '../../../analysis/pages/database-headers.ts';
import type { FileRow } from '../../../analysis/files/files.ts';
import { idbUse } from '../../../analysis/idb/idb-use.ts';
import { repeatedCalls } from '../../../analysis/files/redundant-calls.ts';
import { interleaving, runs } from '../../../analysis/files/runs.ts';
import type { Facts } from '../../../analysis/core/graph.ts';
import { needing, type QueryContext } from './context.ts';
import { databaseName } from '../../../event/file-names.ts';
import type { FileUse } from '../../../protocol/answers/patterns.ts';

/** Of a path, whichever VFS has it; null where no header of it passed. */
function headersOf(facts: Facts, path: string): DatabaseHeaders | null {
  const all = facts.get(databaseHeaders);
  const at = facts
    .get(databaseFiles)
    .list.findIndex(
      (f, i) => !f.opfs && databaseName(f.path) === databaseName(path) && all[i]!.count > 0,
    );
  const found = all[at];
  return found
    ? { ...found, us: found.us.slice(), pages: found.pages.slice(), free: found.free.slice() }
    : null;
}

export const patternQueries = {
  /** @param args of a row of the Files view */
  fileUse: needing(
    [runs, blockWrites, writeAmplification, interleaving, repeatedCalls, idbUse],
    ({ facts }: QueryContext, { path, kind }: Pick<FileRow, 'path' | 'kind'>): FileUse => {
      const ofFile = facts.get(runs).find((f) => f.path === path && f.kind === kind);
      const blocks = facts.get(blockWrites).find((b) => b.path === path && b.kind === kind);
      const { reads: _reads, ...counts } = blocks ?? {};
      return {
        path,
        kind,
        reads: ofFile?.reads ?? null,
        writes: ofFile?.writes ?? null,
        blocks: blocks ? (counts as FileUse['blocks']) : null,
        amplification:
          kind === 'main-db'
            ? (facts
                .get(writeAmplification)
                .find((a) => databaseName(a.path) === databaseName(path)) ?? null)
            : null,
        headers: kind === 'main-db' ? headersOf(facts, path) : null,
        interleaving:
          kind === 'main-db'
            ? (facts.get(interleaving).find((i) => i.path === path) ?? null)
            : null,
        repeated: facts.get(repeatedCalls).filter((r) => r.path === path && r.repeated > 0),
        idb: kind === 'idb-store' ? facts.get(idbUse) : null,
      };
    },
  ),
};
