/** Query: how long engines took to load. */
import { fact } from '../../../analysis/core/graph.ts';
import { loadTimes } from '../../../analysis/time/load-times.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { answerOf } from './context.ts';
import type { LoadLine } from '../../../protocol/answers/load-times.ts';

const loadLines = fact(
  'loadLines',
  'loading of engines',
  { loadTimes },
  (store, { loadTimes }): LoadLine[] => {
    const titles = threadTitles(store);
    return loadTimes
      .map((load) => {
        const { seq } = store.threads[load.thread]!.events;
        const parts = load.parts.map(({ row, ...part }) => ({
          ...part,
          seq: row < 0 ? null : seq[row]!,
        }));
        return { ...load, parts, threadTitle: titles[load.thread]! };
      })
      .sort((a, b) => (b.totalUs ?? 0) - (a.totalUs ?? 0));
  },
);

export const loadTimesQueries = {
  /** Of engines whose loading was recorded, the longest first. */
  loadTimes: answerOf(loadLines),
};
