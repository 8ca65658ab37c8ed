/** Which origin a trace belongs to. */
import { originOfThread } from '../../analysis/core/thread-origin.ts';
import type { TraceStore } from '../../trace/store.ts';

/**
 * Origin of the first recorded page; without one, of the first thread from the web; '' without any.
 */
export function originOf({ threads }: TraceStore): string {
  const ofWeb = threads.filter((thread) => /^https?:/.test(originOfThread(thread)));
  const first = ofWeb.find(({ info }) => info.kind === 'page') ?? ofWeb[0];
  return first ? originOfThread(first) : '';
}
