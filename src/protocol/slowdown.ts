/** How much slower a page runs with vfscope, for contexts that don't import traces. */
export { isSlowdown, slowsUnderDevtools, type Slowdown } from '../event/conditions.ts';
