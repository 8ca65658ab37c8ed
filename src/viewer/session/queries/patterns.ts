/**
 * Queries on how a file is used, and the calls behind each: what is read and written, runs that
 * could be one call, partly filled blocks, repeated calls, freed space, IndexedDB transactions.
 */
import {
  blockWrites,
  eachPartialWrite,
  writeAmplification,
} from '../../../analysis/pages/block-writes.ts';
import { findingContext } from '../../../analysis/rules/context.ts';
import { databaseFiles } from '../../../analysis/core/database-files.ts';
import { databaseHeaders, type DatabaseHeaders } from '../../../analysis/pages/database-headers.ts';
import { idbUse } from '../../../analysis/idb/idb-use.ts';
import { repeatedCalls, repeatedCallsOf } from '../../../analysis/files/redundant-calls.ts';
import { interleaving, interleavingOf, runs, runsOf } from '../../../analysis/files/runs.ts';
import { eachCallOf, transferKinds } from '../../../analysis/files/transfer-kinds.ts';
import { owners } from '../../../analysis/core/owners.ts';
import { extent } from '../../../analysis/core/time-range.ts';
import type { ThreadStore } from '../../../trace/store.ts';
import type { Facts } from '../../../analysis/core/graph.ts';
import { needing, type QueryContext } from './context.ts';
import { databaseName } from '../../../event/file-names.ts';
import type { FileLine } from '../../../protocol/answers/files.ts';
import type { FoundEvents } from '../../../protocol/answers/pages.ts';
import type { FileEventsRequest, FileUse } from '../../../protocol/answers/patterns.ts';

/** For a path in any VFS; null if no header of it was seen. */
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

const MOST_EVENTS = 1000;

/** The calls of a file that a fact counts, in time order. */
function eventsOf({ store, facts }: QueryContext, request: FileEventsRequest): FoundEvents {
  const { path, kind, of } = request;
  const shown: { us: number; thread: ThreadStore; row: number }[] = [];
  const [first, last] = facts.get(extent);
  let [total, fromUs, toUs] = [0, last, first];
  const taken = store.threads.map(() => 0);
  const take = (thread: ThreadStore, row: number): void => {
    const us = thread.events.t0[row]!;
    total++;
    [fromUs, toUs] = [Math.min(fromUs, us), Math.max(toUs, us)];
    if (taken[thread.index]!++ < MOST_EVENTS) shown.push({ us, thread, row });
  };
  if (typeof of === 'object')
    eachCallOf(store, facts.get(databaseFiles), { path, kind, ...of }, take);
  else if (of === 'mergeable reads' || of === 'mergeable writes')
    runsOf(store, { owners: facts.get(owners) }, (thread, row, file, isWrite) => {
      if (file.path === path && file.kind === kind && isWrite === (of === 'mergeable writes'))
        take(thread, row);
    });
  else if (of === 'switches')
    interleavingOf(store, (thread, row, its) => its === path && take(thread, row));
  else if (of === 'repeated')
    repeatedCallsOf(store, (thread, row, its) => its === path && take(thread, row));
  else {
    const blocks = facts.get(blockWrites).find((b) => b.path === path && b.kind === kind);
    if (of === 'partial writes') {
      if (blocks) eachPartialWrite(store, blocks, take);
    } else if (blocks) {
      const { events, ...found } = blocks.reads.result(facts.get(findingContext));
      return { events, total: found.count, fromUs: found.fromUs, toUs: found.toUs };
    }
  }
  const events = shown
    .sort((a, b) => a.us - b.us)
    .slice(0, MOST_EVENTS)
    .map(({ thread, row }) => thread.ref(row));
  return { events, total, fromUs, toUs };
}

export const patternQueries = {
  /** The calls behind a fact about a file. */
  fileEvents: needing(
    [databaseFiles, owners, blockWrites, findingContext, extent],
    (context: QueryContext, request: FileEventsRequest): FoundEvents => eventsOf(context, request),
  ),

  /** @param args of a row of the Files view */
  fileUse: needing(
    [runs, transferKinds, blockWrites, writeAmplification, interleaving, repeatedCalls, idbUse],
    (
      { facts }: QueryContext,
      { path, kind, origin }: Pick<FileLine, 'path' | 'kind' | 'origin'>,
    ): FileUse => {
      const ofFile = facts.get(runs).find((f) => f.path === path && f.kind === kind);
      const blocks = facts.get(blockWrites).find((b) => b.path === path && b.kind === kind);
      const { reads: _reads, ...counts } = blocks ?? {};
      return {
        path,
        kind,
        transfers: facts
          .get(transferKinds)
          .filter(
            (t) => t.path === path && t.kind === kind && (origin === '' || t.origin === origin),
          ),
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
