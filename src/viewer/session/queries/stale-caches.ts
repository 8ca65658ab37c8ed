/** Query: which connections found their page cache stale. */
import { databaseFiles } from '../../../analysis/core/database-files.ts';
import { staleCaches } from '../../../analysis/cache/stale-caches.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { needing, type QueryContext } from './context.ts';
import type { StaleLine } from '../../../protocol/answers/stale-caches.ts';

const MOST_LINES = 500;
const MOST_EVENTS = 100;

export const staleCacheQueries = {
  /** Connections that compared what they had cached with the file, the most often stale first. */
  staleCaches: needing(
    [staleCaches],
    ({ store, facts }: QueryContext, _args: Record<string, never>): StaleLine[] => {
      const titles = threadTitles(store);
      const { list } = facts.get(databaseFiles);
      return facts
        .get(staleCaches)
        .map(({ database, rows: all, ...rest }) => {
          const rows = all.slice(0, MOST_EVENTS);
          const thread = store.threads[rest.thread]!;
          const { t0 } = thread.events;
          return {
            ...rest,
            path: list[database]!.path,
            threadTitle: titles[rest.thread]!,
            events: rows.map((row) => thread.ref(row)),
            fromUs: rows.length ? t0[rows[0]!]! : 0,
            toUs: rows.length ? t0[rows.at(-1)!]! : 0,
          };
        })
        .sort((a, b) => b.stale - a.stale || b.compared - a.compared)
        .slice(0, MOST_LINES);
    },
  ),
};
