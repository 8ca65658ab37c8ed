/**
 * Findings about SQLite's own heavy writes: temporary files that reach storage, and VACUUM.
 *
 *   F36   CREATE INDEX, ORDER BY without an index  ->  xWrite temp, xRead temp ...     UPDATE while a query is open  ->  xWrite temp
 *   F40   VACUUM  ->  every page into a temporary database, then into the journal, then back
 */
import { ById } from '../core/by-id.ts';
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import { objectName } from '../../trace/describe.ts';
import { Op } from '../../event/event.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { openReaders, readerText } from '../wal/open-readers.ts';
import { noSaving, Saving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatBytes, formatDuration } from '../../text/numbers.ts';

const FEW_TEMP_CALLS = 20;
const FEW_VACUUM_WRITES = 20;
const VACUUM = /^\s*vacuum\b/i;

/** INSERT, UPDATE, or DELETE, with a WITH clause or without. */
export const CHANGES_ROWS = /^\s*(?:with\b[^]*\)\s*)?(?:insert|replace|update|delete)\b/i;

/** What one temporary file was used for. */
interface TempFile {
  thread: ThreadStore;
  reads: Evidence;
  writes: Evidence;
  /** Only statements that change rows wrote it. */
  byChanges: boolean;
}
/** A sort reads what it wrote; the journal of a statement is only read to undo it. */
const isJournal = ({ byChanges, reads }: TempFile): boolean => byChanges && reads.count === 0;

export const tempFiles: Rule = {
  id: 'F36',
  title: 'Temporary files hit storage',
  run(ctx) {
    if (!ctx.store.threads.some(hasTempFile)) return [];
    const files = new Map<string, TempFile>();
    for (const op of [Op.xRead, Op.xWrite])
      ctx.each(op, (thread, row) => {
        const { object } = thread.events;
        if (ctx.file(thread, object[row]!)?.kind !== 'temp') return;
        const file = getOrMake(files, `${thread.index} ${object[row]}`, () => ({
          thread,
          reads: new Evidence(),
          writes: new Evidence(),
          byChanges: true,
        }));
        (op === Op.xRead ? file.reads : file.writes).add(thread, row);
        const statement = ctx.get(owners).of(thread).statement(row);
        file.byChanges &&=
          statement >= 0 && CHANGES_ROWS.test(objectName(thread, object[statement]!));
      });
    const all = [...files.values()];
    return [
      tempFinding(
        ctx,
        all.filter((file) => !isJournal(file)),
        false,
      ),
      tempFinding(ctx, all.filter(isJournal), true),
    ].flat();
  },
};

function tempFinding(
  ctx: FindingContext,
  files: readonly TempFile[],
  journals: boolean,
): Found | [] {
  const [reads, writes] = [new Evidence(), new Evidence()];
  for (const file of files) {
    reads.join(file.reads);
    writes.join(file.writes);
  }
  const saving = new Saving(ctx)
    .avoid(writes.count, Op.xWrite, 'writes of temporary files', 'temp', writes.cost)
    .avoid(reads.count, Op.xRead, 'reads of temporary files', 'temp', reads.cost);
  const evidence = new Evidence().join(reads).join(writes);
  if (evidence.count < FEW_TEMP_CALLS) return [];
  const reader = ctx
    .get(openReaders)
    .find(
      ({ thread, fromUs, toUs }) =>
        files.some((file) => file.thread.index === thread) &&
        fromUs < evidence.toUs &&
        toUs >= evidence.fromUs,
    );
  const count = countOf(files.length, 'file');
  return {
    ...(journals
      ? {
          title: `${countOf(writes.count, 'write')} of statement journals (${formatBytes(evidence.bytes)}) go through the VFS`,
          reason: `statements that change rows wrote ${count} that SQLite opened as temporary, and nothing read them: what undoes one statement without its transaction`,
          advice: reader
            ? `Reset or finalize ${readerText(reader, ctx.titles)}: while a query is open, SQLite writes a journal for each statement that changes rows.`
            : 'Set PRAGMA temp_store=memory.',
        }
      : {
          title: `${countOf(writes.count, 'write')} and ${countOf(reads.count, 'read')} of temporary files (${formatBytes(evidence.bytes)}) go through the VFS`,
          reason: `the VFS was asked for ${count} that SQLite opened as temporary; sorting itself takes as long in memory`,
          advice: 'Set PRAGMA temp_store=memory, or give the query an index that saves the sort.',
        }),
    evidence: evidence.result(ctx),
    ...saving.result(
      journals ? undefined : 'sorting in memory also takes time; how much is not known',
    ),
    confidence: 'likely',
    ...(journals && reader ? {} : { sql: 'PRAGMA temp_store=MEMORY;' }),
    link: 'https://www.sqlite.org/tempfiles.html',
    tryInLab: 'temp-store',
  };
}

const hasTempFile = ({ definitions }: ThreadStore): boolean => {
  for (const d of definitions.values()) if (d.kind === 'file' && d.fileKind === 'temp') return true;
  return false;
};

export const vacuum: Rule = {
  id: 'F40',
  title: 'VACUUM rewrites everything',
  run(ctx) {
    const pages = new Set<string>();
    const [writes, syncs] = [new Evidence(), new Evidence()];
    const statements = new Set<string>();
    ctx.store.threads.forEach((thread) => {
      const runs = vacuumRows(ctx, thread);
      if (runs.size === 0) return;
      const { events } = thread;
      for (const op of [Op.xWrite, Op.xSync])
        for (const row of ctx.rows(thread, op)) {
          const at = ctx.get(owners).of(thread).statement(row);
          if (!runs.has(at) || isInMemory(events, row)) continue;
          const file = ctx.file(thread, events.object[row]!);
          (op === Op.xSync ? syncs : writes).add(thread, row);
          statements.add(`${thread.index} ${events.aux[at]}`);
          if (op === Op.xWrite && file?.kind === 'main-db')
            pages.add(`${file.path} ${events.offset[row]}`);
        }
    });
    if (writes.count < FEW_VACUUM_WRITES) return [];
    const [written, synced] = [writes.count, syncs.count];
    const evidence = writes.join(syncs);
    return {
      title: `VACUUM wrote ${formatBytes(evidence.bytes)} in ${countOf(written, 'write')} and ${countOf(synced, 'sync')}${pages.size ? ` for a database of ${countOf(pages.size, 'page')}` : ''}, ${formatDuration(evidence.us)}`,
      evidence: evidence.result(ctx),
      ...noSaving("it isn't known what an incremental vacuum would write instead"),
      confidence: 'likely',
      reason: `the calls are under ${countOf(statements.size, 'VACUUM statement')}`,
      advice: 'Use auto_vacuum=incremental with PRAGMA incremental_vacuum in idle moments.',
      sql: 'PRAGMA auto_vacuum=INCREMENTAL;\nVACUUM; -- once\nPRAGMA incremental_vacuum; -- when idle',
      link: 'https://www.sqlite.org/lang_vacuum.html',
      tryInLab: 'vacuum',
    };
  },
};

/** Rows of steps and execs of VACUUM statements. */
function vacuumRows(ctx: FindingContext, thread: ThreadStore): Set<number> {
  const { events } = thread;
  const texts = new ById<boolean>();
  const found = new Set<number>();
  const ran = [...thread.definitions.values()].some((d) => d.kind === 'sql' && VACUUM.test(d.text));
  if (!ran) return found;
  for (const op of [Op.sqlStep, Op.sqlExec])
    for (const row of ctx.rows(thread, op)) {
      const object = events.object[row]!;
      if (getOrMake(texts, object, () => VACUUM.test(objectName(thread, object)))) found.add(row);
    }
  return found;
}
