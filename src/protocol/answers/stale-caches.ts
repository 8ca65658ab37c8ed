/** Questions and answers about stale caches of other connections. */
import type { StaleCache } from '../../analysis/cache/stale-caches.ts';
import type { EventRef } from '../../trace/store.ts';

export interface StaleLine extends Omit<StaleCache, 'database' | 'rows'> {
  events: EventRef[];
  path: string;
  threadTitle: string;
  /** From the first to the last of the events, microseconds. */
  fromUs: number;
  toUs: number;
}
