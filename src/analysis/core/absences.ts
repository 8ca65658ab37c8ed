/**
 * Why numbers are missing: the recording doesn't have the SQL calls, VFS calls, or engine's
 * counters that show them.
 */
import type { TraceStore } from '../../trace/store.ts';
import { fact } from './graph.ts';
import { hasSql, hasVfs, leavesOut } from './layers.ts';

const LEFT_OUT = 'the recording leaves that layer out';
export const NO_STORAGE = `no storage call was recorded: ${LEFT_OUT}`;

/** @returns null if no engine was seen, or if one doesn't report what it lacks */
function notesOf({ threads }: TraceStore): string | null {
  const engines = threads.flatMap((thread) => thread.engines);
  const notes = engines.map(({ name, note }) => (note === null ? '' : `${name}: ${note}`));
  return notes.length === 0 || notes.includes('') ? null : [...new Set(notes)].join('; ');
}

/** Why SQL calls weren't recorded. */
export function noSqlCause(store: TraceStore): string {
  const none = 'no SQL call was recorded';
  if (leavesOut(store, 'sql')) return `${none}: ${LEFT_OUT}`;
  if (!store.threads.some(({ engines }) => engines.length))
    return `${none}: no SQLite engine was seen`;
  const notes = notesOf(store);
  return notes
    ? `${none}; ${notes}`
    : `${none}: the engine was loaded before the recording, or SQLite is called from inside its own module`;
}

/** Why VFS calls weren't recorded. */
export function noVfsCause(store: TraceStore): string {
  const none = 'no VFS call was recorded';
  if (leavesOut(store, 'vfs')) return `${none}: ${LEFT_OUT}`;
  const notes = notesOf(store);
  return notes ? `${none}; ${notes}` : none;
}

/** Why SQLite's page cache isn't known. @param seesSql SQL calls were recorded */
export function noCountersCause(store: TraceStore, seesSql: boolean): string {
  if (leavesOut(store, 'sql'))
    return 'the recording leaves statements out, and the counters that are read after them';
  if (!seesSql) return noSqlCause(store);
  const engines = store.threads.flatMap((thread) => thread.engines);
  if (engines.some(({ layers }) => layers.counters))
    return 'the counters need a second reading: no statement has ended, or only one on each connection that was already open';
  if (store.threads.some((t) => t.engines.length && t.environment?.capture.instructions))
    return "while instructions are counted, SQLite's page cache isn't asked: the memory that this takes would change the counts";
  const names = [...new Set(engines.map(({ name }) => name))].join(', ');
  return `${names || 'the engine'} does not give its counters: its build leaves out sqlite3_db_status, or its JavaScript hides it (@journeyapps/wa-sqlite 2 and @sqlite.org/sqlite-wasm have it)`;
}

/** Why each is missing; null if it isn't. `counters` always has a text. */
export interface Absences {
  sql: string | null;
  vfs: string | null;
  counters: string;
}

export const absences = fact('absences', 'what was not recorded', {}, (store): Absences => {
  const seesSql = store.threads.some(hasSql);
  return {
    sql: seesSql ? null : noSqlCause(store),
    vfs: store.threads.some(hasVfs) ? null : noVfsCause(store),
    counters: noCountersCause(store, seesSql),
  };
});
