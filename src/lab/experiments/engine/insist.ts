/** SQL on a database that others also use: refused SQL (Rc.busy) is rolled back and retried. */
import { isBusy } from '../../../sqlite/constants.ts';
import type { Host } from './host.ts';
import { isCommitted } from './read-back.ts';

/** This many refusals in a row aren't contention: the lock is never released. */
const MOST_RETRIES = 100_000;

/** @returns how often it was refused before it succeeded @throws SQLite's other errors */
export async function insist(host: Host, sql: string): Promise<number> {
  for (let refused = 0; ; refused++)
    try {
      await host.sqlite3.exec(host.db, sql);
      return refused;
    } catch (error) {
      if (!isBusy(Number((error as { code?: unknown }).code)) || refused === MOST_RETRIES)
        throw error;
      if (!(await isCommitted(host))) await host.sqlite3.exec(host.db, 'ROLLBACK');
      // a message to this worker may release a lock
      await new Promise((resolve) => setTimeout(resolve));
    }
}
