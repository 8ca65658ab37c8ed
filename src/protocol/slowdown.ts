/** How much slower a page runs than it would by itself, for contexts that import no trace. */
export { isSlowdown, slowsUnderDevtools, type Slowdown } from '../event/conditions.ts';
