/** What threads are called: one name for each in every view, and no two alike where they can be told apart. */
import type { ThreadStore, TraceStore } from '../../trace/store.ts';

const KIND_WORDS: Record<string, string> = {
  page: 'Page',
  frame: 'Frame',
  worker: 'Worker',
  'shared-worker': 'Shared worker',
  'service-worker': 'Service worker',
};
/** Threads that create one another in a circle are forged. */
const MOST_ABOVE = 16;

/** `search · worker db.js`: what a developer calls the thread, its own name first. */
function ownTitle({ info }: ThreadStore): string {
  const kind = KIND_WORDS[info.kind] ?? info.kind;
  let place = info.url;
  if (URL.canParse(info.url)) {
    const { protocol, host, pathname } = new URL(info.url);
    const file = pathname.split('/').at(-1);
    place =
      protocol === 'blob:'
        ? 'from a blob'
        : protocol === 'data:'
          ? 'from a data URL'
          : info.kind === 'page'
            ? host + pathname
            : file || host;
  }
  const what = `${kind} ${place}`.trimEnd();
  return info.name ? `${info.name} · ${what[0]!.toLowerCase()}${what.slice(1)}` : what;
}

/** The thread at the top: its page, or a worker whose creator is not known. */
export function rootOf(store: TraceStore, index: number): number {
  let at = store.threads[index]!;
  for (let depth = 0; depth < MOST_ABOVE && at.info.parent !== null; depth++) {
    const parent = store.threadById(at.info.parent);
    if (!parent) break;
    at = parent;
  }
  return at.index;
}

/**
 * Titles by place. Where several pages were recorded, with the page that each belongs to: `Page 2 · Worker db.js`; the second
 * thread of a title on the same page is `Worker db.js (2)`. A thread that comes later changes no title but by a second page.
 */
export function threadTitles(store: TraceStore): string[] {
  const roots = store.threads.map(({ index }) => rootOf(store, index));
  const pages = [...new Set(roots)].filter((root) => store.threads[root]!.info.kind === 'page');
  const seen = new Map<string, number>();
  return store.threads.map((thread, i) => {
    const page = pages.length > 1 ? pages.indexOf(roots[i]!) : -1;
    const own = ownTitle(thread);
    const title = page < 0 ? own : `Page ${page + 1} · ${i === roots[i] ? own.replace(/^Page /, '') : own}`;
    const before = seen.get(title) ?? 0;
    seen.set(title, before + 1);
    return before ? `${title} (${before + 1})` : title;
  });
}
