/** All workloads, by id. */
import type { Workload } from '../model/types.ts';
import { COLD_START, CONTENTION, FULL_TEXT } from './app-like.ts';
import { BULK_INSERT } from './bulk-insert.ts';
import { CHECKPOINT_ANATOMY, CHECKPOINT_STORM } from './checkpoints.ts';
import { CPU_WORKLOADS } from './cpu.ts';
import { KV_SWEEP } from './kv-sweep.ts';
import { ownDatabase, ownSql } from './own-sql.ts';
import { BIG_SORT, GIVE_BACK } from './space.ts';
import { SPEEDTEST1 } from './speedtest1.ts';
import { SQL_SPEED } from './sql-speed.ts';
import { READ_POLL, TRANSACTIONS } from './transactions.ts';

export const WORKLOADS: readonly Workload[] = [
  SQL_SPEED,
  SPEEDTEST1,
  KV_SWEEP,
  ...BULK_INSERT,
  ...TRANSACTIONS,
  READ_POLL,
  CHECKPOINT_ANATOMY,
  CHECKPOINT_STORM,
  CONTENTION,
  COLD_START,
  FULL_TEXT,
  BIG_SORT,
  GIVE_BACK,
  ...CPU_WORKLOADS,
  ownSql(''),
  ownDatabase(''),
];

/**
 * @param sql the user's script, for `own-sql` and `own-database`
 * @throws naming the existing workloads
 */
export function workloadOf(id: string, sql?: string): Workload {
  if (id === 'own-sql') return ownSql(sql ?? '');
  if (id === 'own-database') return ownDatabase(sql ?? '');
  const found = WORKLOADS.find((w) => w.id === id);
  if (!found)
    throw new Error(
      `there is no workload "${id}"; there are ${WORKLOADS.map((w) => w.id).join(', ')}.`,
    );
  return found;
}
