/** The question how long engines took to come. */
import { loadTimesOf, type EngineLoad } from '../../../analysis/time/load-times.ts';
import { threadTitles } from './thread-titles.ts';
import type { QueryContext } from './context.ts';

export interface LoadLine extends EngineLoad {
  threadTitle: string;
}

export const loadTimesQueries = {
  /** Of engines whose loading was recorded, the longest first; rows are for life. */
  loadTimes({ store, memo }: QueryContext, _args: Record<string, never>): LoadLine[] {
    return memo('load times', () => {
      const titles = threadTitles(store);
      return loadTimesOf(store)
        .map((load) => {
          const { forgotten } = store.threads[load.thread]!;
          const parts = load.parts.map((part) => ({
            ...part,
            row: part.row < 0 ? -1 : part.row + forgotten,
          }));
          return { ...load, parts, threadTitle: titles[load.thread]! };
        })
        .sort((a, b) => (b.totalUs ?? 0) - (a.totalUs ?? 0));
    });
  },
};
