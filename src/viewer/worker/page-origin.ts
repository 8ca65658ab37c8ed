/** Whose trace it is. */
import type { TraceStore } from '../../trace/store.ts';

/** Origin of the first recorded page; without one, of the first thread from the web; '' without any. */
export function originOf({ threads }: TraceStore): string {
  const ofWeb = threads.filter(({ info }) => /^https?:/.test(info.url) && URL.canParse(info.url));
  const first = ofWeb.find(({ info }) => info.kind === 'page') ?? ofWeb[0];
  return first ? new URL(first.info.url).origin : '';
}
