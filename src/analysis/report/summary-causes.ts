/** Why numbers of a summary cannot be known: the cause by the number's path. */
import type { TraceStore } from '../../trace/store.ts';
import { leavesOut } from '../core/layers-left-out.ts';
import { NO_READINGS } from '../cache/page-cache.ts';
import type { Summary } from './summary.ts';
import { hasSql } from '../statements/statements.ts';
import { hasVfs } from '../transactions/transactions.ts';

const NO_SQL = 'no SQL call was recorded: an engine seen before its SQL functions, or none';
const NO_VFS = 'no VFS call was recorded';
const LEFT_OUT = 'the recording leaves that layer out';
const NOT_SEEN =
  'the trace lacks the calls that would show it (a lock kept over several transactions, a WAL, or headers not decoded)';

/** @returns only what is null in the summary */
export function causesOf(
  store: TraceStore,
  summary: Omit<Summary, 'unknown'>,
): Record<string, string> {
  const { statements, transactions, commits, syncsPerCommit, time, pageCache, engines } = summary;
  const causes: Record<string, string> = {};
  const say = (path: string, value: number | null, cause: string): void => {
    if (value === null) causes[path] = cause;
  };
  const noSql = leavesOut(store, 'sql') ? `no SQL call was recorded: ${LEFT_OUT}` : NO_SQL;
  const noVfs = leavesOut(store, 'vfs') ? `${NO_VFS}: ${LEFT_OUT}` : NO_VFS;
  const vfs = store.threads.some(hasVfs) ? NOT_SEEN : noVfs;
  if (leavesOut(store, 'web')) causes['web'] = `no storage call was recorded: ${LEFT_OUT}`;
  say('statements', statements.count, noSql);
  if (statements.count !== null)
    say('statements.distinct', statements.distinct, 'no SQL text was recorded (capture level 0)');
  for (const [key, value] of Object.entries(transactions)) say(`transactions.${key}`, value, vfs);
  say('commits', commits, vfs);
  say('syncsPerCommit', syncsPerCommit, commits === null ? vfs : 'nothing was committed');
  say('time', time.cpuUs, 'no SQL or VFS call was recorded');
  if (pageCache.hits === null)
    causes['pageCache'] = !store.threads.some(hasSql)
      ? noSql
      : engines.some(({ layers }) => layers.counters)
        ? NO_READINGS
        : 'no engine here gives its counters: its build leaves out sqlite3_db_status, or its JavaScript hides it';
  else say('pageCache.hitRate', pageCache.hitRate, 'no page was asked for');
  return causes;
}
