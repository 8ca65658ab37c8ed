/** Where a thread belongs: its origin, with which it shares storage and locks, and its page. */
import type { ThreadStore, TraceStore } from '../../trace/store.ts';

/**
 * As reported by the page or worker, else from the URL that it was made from. It compares the URL's
 * text, because not every program that reads traces knows the origins of an extension's pages.
 * @returns scheme, host, and port; '' = not known, or an opaque one (a data: URL)
 */
export function originOfThread({ environment, info }: ThreadStore): string {
  return originOfUrl(environment?.url ?? '') || originOfUrl(info.url);
}

/** blob: URLs have the origin of their creator. */
function originOfUrl(url: string): string {
  return /^(?:blob:)?([a-z][a-z0-9+.-]*:\/\/[^/]*)/i.exec(url)?.[1] ?? '';
}

/** Maximum depth: threads that create one another in a circle are forged. */
const MOST_ABOVE = 16;

/**
 * Index of the thread at the top: its page, or a worker whose creator isn't known.
 * @param index of the thread
 */
export function rootOf(store: TraceStore, index: number): number {
  let at = store.threads[index]!;
  for (let depth = 0; depth < MOST_ABOVE && at.info.parent !== null; depth++) {
    const parent = store.threadById(at.info.parent);
    if (!parent) break;
    at = parent;
  }
  return at.index;
}

/** Id of the thread at the top (`rootOf`). */
export const pageOf = (store: TraceStore, index: number): string =>
  store.threads[rootOf(store, index)]!.info.id;
