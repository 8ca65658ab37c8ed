/** The parts of a request's bar. */
import type { Part } from '../core/time-parts.ts';

/**
 * Parts of the time while SQL runs in the other thread, each with a color. Waits for something
 * unknown are in `rest`.
 */
const IN_SQL = ['cpu', 'read', 'write', 'sync', 'idbTransaction', 'lock', 'lockWait'] as const;
/**
 * Their indices are the kinds of its intervals. `queue`: of the other thread, then of the answer;
 * `rest`: other work, then the answer's listeners.
 */
export const REQUEST_PARTS = [...IN_SQL, 'queue', 'rest'] as const satisfies readonly (
  Part | 'queue' | 'rest'
)[];
export type RequestPart = (typeof REQUEST_PARTS)[number];
