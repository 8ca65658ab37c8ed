/**
 * SQLite's page cache counters of a connection, where the build exports sqlite3_db_status. Reading
 * them runs instructions of the engine, so never read them during a measurement.
 */
import type { EngineModule } from './builds.ts';
import type { Counters } from '../model/types.ts';

/** SQLITE_DBSTATUS_CACHE_* (sqlite3.h). */
const STATUS = { 'cache.hit': 7, 'cache.miss': 8, 'cache.write': 9, 'cache.spill': 12 } as const;

/**
 * @returns null where this build doesn't export it. Its one-time allocation moves later
 * allocations, always in the same way.
 */
export function pageCacheReader(module: EngineModule): ((db: number) => Counters) | null {
  const status = module._sqlite3_db_status;
  const allocate = module._sqlite3_malloc;
  if (!status || !allocate) return null;
  const scratch = allocate(8);
  return (db) => {
    const counters: Record<string, number> = {};
    for (const [name, op] of Object.entries(STATUS))
      if (status(db, op, scratch, scratch + 4, 0) === 0)
        counters[name] = module.getValue(scratch, 'i32') >>> 0;
    return counters;
  };
}
