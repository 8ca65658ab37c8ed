/**
 * Every query that a view can run on the trace, by name. The queries of each view are in separate
 * files.
 */
import type { AnyFact } from '../../analysis/core/graph.ts';
import type { QueryAnswer, QueryArgs, QueryName } from '../../protocol/answers/queries.ts';
import { absenceQueries } from './queries/absences.ts';
import { answerQueries } from './queries/answer.ts';
import { cacheQueries } from './queries/cache.ts';
import { compareQueries } from './queries/compare.ts';
import { copyQueries } from './queries/copies.ts';
import type { Query } from './queries/context.ts';
import { errorQueries } from './queries/errors.ts';
import { eventQueries } from './queries/events.ts';
import { evidenceQueries } from './queries/evidence.ts';
import { fileQueries } from './queries/files.ts';
import { findingsQueries } from './queries/findings.ts';
import { loadTimesQueries } from './queries/load-times.ts';
import { flameQueries } from './queries/flame.ts';
import { lockLaneQueries } from './queries/lock-lanes.ts';
import { lockQueries } from './queries/locks.ts';
import { overviewQueries } from './queries/overview.ts';
import { paletteQueries } from './queries/palette.ts';
import { performanceTrackQueries } from './queries/performance-tracks.ts';
import { pageQueries } from './queries/pages.ts';
import { planQueries } from './queries/plans.ts';
import { patternQueries } from './queries/patterns.ts';
import { sqlQueries } from './sql/sql-query.ts';
import { staleCacheQueries } from './queries/stale-caches.ts';
import { statementQueries } from './queries/statements.ts';
import { statementMarkQueries } from './queries/statement-marks.ts';
import { transactionQueries } from './queries/transactions.ts';
import { walQueries } from './queries/wal.ts';
import { timelineFlowQueries } from './queries/timeline-flows.ts';
import { timelineQueries } from './queries/timeline.ts';
import { timelineSearchQueries } from './queries/timeline-search.ts';

export const QUERIES = {
  ...absenceQueries,
  ...timelineQueries,
  ...timelineSearchQueries,
  ...timelineFlowQueries,
  ...transactionQueries,
  ...statementQueries,
  ...planQueries,
  ...copyQueries,
  ...flameQueries,
  ...statementMarkQueries,
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
  ...evidenceQueries,
  ...answerQueries,
  ...overviewQueries,
  ...findingsQueries,
  ...compareQueries,
  ...paletteQueries,
  ...performanceTrackQueries,
} satisfies { [N in QueryName]: Query<QueryArgs<N>, QueryAnswer<N>> };

/** What to compute before a query is answered; [] if it answers quickly. */
export const needsOf = (name: QueryName): readonly AnyFact[] => {
  const query = QUERIES[name];
  return 'needs' in query ? query.needs : [];
};
