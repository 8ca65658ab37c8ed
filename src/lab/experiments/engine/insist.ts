/** SQL on a database that others use as well: what is refused (Rc.busy) is rolled back and tried again. */
import { isBusy } from '../../../sqlite/constants.ts';
import type { Host } from './host.ts';
import { isCommitted } from './read-back.ts';

/** So often in a row isn't contention but a lock that is never given back. */
const MOST_RETRIES = 100_000;

/** @returns how often it was refused before it got through @throws what SQLite throws otherwise */
export async function insist(host: Host, sql: string): Promise<number> {
  for (let refused = 0; ; refused++)
    try {
      await host.sqlite3.exec(host.db, sql);
      return refused;
    } catch (error) {
      if (!isBusy(Number((error as { code?: unknown }).code)) || refused === MOST_RETRIES)
        throw error;
      if (!(await isCommitted(host))) await host.sqlite3.exec(host.db, 'ROLLBACK');
      await new Promise((resolve) => setTimeout(resolve)); // a lock may be given up in a message to this worker
    }
}
