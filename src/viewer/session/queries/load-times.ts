/** The question how long engines took to come. */
import { fact } from '../../../analysis/graph.ts';
import { loadTimes, type EngineLoad } from '../../../analysis/time/load-times.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { answerOf } from './context.ts';

export interface LoadLine extends EngineLoad {
  threadTitle: string;
}

const loadLines = fact(
  'loadLines',
  'loading of engines',
  { loadTimes },
  (store, { loadTimes }): LoadLine[] => {
    const titles = threadTitles(store);
    return loadTimes
      .map((load) => {
        const { forgotten } = store.threads[load.thread]!;
        const parts = load.parts.map((part) => ({
          ...part,
          row: part.row < 0 ? -1 : part.row + forgotten,
        }));
        return { ...load, parts, threadTitle: titles[load.thread]! };
      })
      .sort((a, b) => (b.totalUs ?? 0) - (a.totalUs ?? 0));
  },
);

export const loadTimesQueries = {
  /** Of engines whose loading was recorded, the longest first; rows are for life. */
  loadTimes: answerOf(loadLines),
};
