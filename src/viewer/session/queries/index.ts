/** Every question that a view may ask of the trace, by name; each view's questions are in a file of their own. */
import { cacheQueries } from './cache.ts';
import { compareQueries } from './compare.ts';
import { errorQueries } from './errors.ts';
import { eventQueries } from './events.ts';
import { fileQueries } from './files.ts';
import { findingsQueries } from './findings.ts';
import { loadTimesQueries } from './load-times.ts';
import { lockLaneQueries } from './lock-lanes.ts';
import { lockQueries } from './locks.ts';
import { overviewQueries } from './overview.ts';
import { paletteQueries } from './palette.ts';
import { pageQueries } from './pages.ts';
import { patternQueries } from './patterns.ts';
import { sqlQueries } from './sql.ts';
import { staleCacheQueries } from './stale-caches.ts';
import { statementQueries } from './statements.ts';
import { transactionQueries } from './transactions.ts';
import { walQueries } from './wal.ts';
import { timelineFlowQueries } from './timeline-flows.ts';
import { timelineQueries } from './timeline.ts';
import { timelineSearchQueries } from './timeline-search.ts';

export const QUERIES = {
  ...timelineQueries,
  ...timelineSearchQueries,
  ...timelineFlowQueries,
  ...transactionQueries,
  ...statementQueries,
  ...walQueries,
  ...lockQueries,
  ...lockLaneQueries,
  ...fileQueries,
  ...pageQueries,
  ...patternQueries,
  ...sqlQueries,
  ...cacheQueries,
  ...staleCacheQueries,
  ...loadTimesQueries,
  ...errorQueries,
  ...eventQueries,
  ...overviewQueries,
  ...findingsQueries,
  ...compareQueries,
  ...paletteQueries,
};

export type Queries = typeof QUERIES;
export type QueryName = keyof Queries;
export type QueryArgs<N extends QueryName> = Parameters<Queries[N]>[1];
export type QueryAnswer<N extends QueryName> = Awaited<ReturnType<Queries[N]>>;
