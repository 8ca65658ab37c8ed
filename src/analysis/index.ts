/** Loads every fact of a trace, so that `allFacts` lists them all. */
import './cache/cache.ts';
import './cache/cold-warm.ts';
import './cache/miss-ratio.ts';
import './cache/stale-caches.ts';
import './cpu/cpu-flames.ts';
import './files/io-map.ts';
import './files/redundant-calls.ts';
import './files/runs.ts';
import './locks/locks.ts';
import './pages/b-trees.ts';
import './pages/database-settings.ts';
import './pages/page-sizes.ts';
import './pages/storage-blocks.ts';
import './numbers/headline-numbers.ts';
import './report/diff.ts';
import './report/report.ts';
import './statements/flame-graph.ts';
import './tables.ts';
import './time/load-times.ts';
import './transactions/transaction-statements.ts';
import './what-if/checkpoint-choices.ts';

export { allFacts, Facts } from './core/graph.ts';
