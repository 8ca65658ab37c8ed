/** Which runs of a statement match a filter: those that the table of statements counts. */
import type { Scope } from '../core/scope.ts';
import { within } from './statement-counts.ts';

/** A range and a thread. */
export type RunScope = Pick<Scope, 'fromUs' | 'toUs' | 'thread'>;

/** @param us when the run began @param thread its place in TraceStore.threads */
export const takesRun = (scope: RunScope, thread: number, us: number): boolean =>
  (scope.thread === undefined || scope.thread === thread) && within(us, scope);
