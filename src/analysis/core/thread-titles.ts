/** Names of threads: the same in every view, and all different if threads can be distinguished. */
import { cut } from '../../text/clean.ts';
import { rootOf } from './thread-origin.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';

const KIND_WORDS: Record<string, string> = {
  page: 'Page',
  frame: 'Frame',
  worker: 'Worker',
  'shared-worker': 'Shared worker',
  'service-worker': 'Service worker',
};

/**
 * Characters that would reorder the text around them or can't be seen: control characters, marks
 * and overrides of direction.
 */
const UNSEEN = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
const MOST_NAME = 81;
const MOST_PLACE = 201;
/** A name chosen by the page, made safe to appear in our own text. @param most characters */
function nameOf(name: string, most = MOST_NAME): string {
  return cut(name.replace(UNSEEN, ' ').trim(), most);
}

/** `search · worker db.js`: the name that a developer gave the thread comes first. */
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
  const what = `${kind} ${nameOf(place, MOST_PLACE)}`.trimEnd();
  const name = nameOf(info.name);
  return name ? `${name} · ${what[0]!.toLowerCase()}${what.slice(1)}` : what;
}

/**
 * Titles by index. If several pages were recorded, with the page: `Page 2 · Worker db.js`. The
 * second thread of a title on one page is `Worker db.js (2)`. A new thread only changes other
 * titles if it is a second page.
 */
export function threadTitles(store: TraceStore): string[] {
  const roots = store.threads.map(({ index }) => rootOf(store, index));
  const pages = [...new Set(roots)].filter((root) => store.threads[root]!.info.kind === 'page');
  const seen = new Map<string, number>();
  return store.threads.map((thread, i) => {
    const page = pages.length > 1 ? pages.indexOf(roots[i]!) : -1;
    const own = ownTitle(thread);
    const title =
      page < 0 ? own : `Page ${page + 1} · ${i === roots[i] ? own.replace(/^Page /, '') : own}`;
    const before = seen.get(title) ?? 0;
    seen.set(title, before + 1);
    return before ? `${title} (${before + 1})` : title;
  });
}
