/**
 * Finds the page of a running browser in the list at its debugging address. Apart from CDP, these
 * are the only requests that this command sends to it.
 */
import { browserFailed, wrongUse } from '../terminal/failure.ts';
import { shown } from '../text/clean.ts';

/** A page as `/json/list` names it. */
export interface Listed {
  id: string;
  type: string;
  url: string;
  title: string;
}

const WITHIN_MS = 10_000;
const PAGES = ['page', 'webview'];

/**
 * @param text an address, `host:port`, or a port on this machine @returns the address without a
 * path @throws CommandFailure (2)
 */
export function endpointOf(text: string): string {
  const url = /^\d+$/.test(text)
    ? `http://127.0.0.1:${text}`
    : /^[\w.-]+:\d+$/.test(text)
      ? `http://${text}`
      : text;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw wrongUse(`--connect ${text}: expected an address such as http://localhost:9222.`);
  return new URL(url).origin;
}

async function ask(endpoint: string, path: string, method = 'GET'): Promise<unknown> {
  const answer = await fetch(`${endpoint}${path}`, {
    method,
    signal: AbortSignal.timeout(WITHIN_MS),
  }).catch((e: Error) => {
    throw browserFailed(
      `No browser answers at ${endpoint} (${e.message}). Start it with --remote-debugging-port=${new URL(endpoint).port || 9222} and --user-data-dir=FOLDER.`,
    );
  });
  if (!answer.ok) throw browserFailed(`${endpoint}${path} answered ${answer.status}.`);
  return answer.json();
}

const listedOf = (v: unknown): Listed[] => {
  const { id, type, url, title } = (v ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && typeof type === 'string' && typeof url === 'string'
    ? [{ id, type, url, title: typeof title === 'string' ? title : '' }]
    : [];
};

/** Its pages, without DevTools. @throws CommandFailure (3) if nothing answers */
export async function pagesAt(endpoint: string): Promise<Listed[]> {
  const list = await ask(endpoint, '/json/list');
  return (Array.isArray(list) ? list : [])
    .flatMap(listedOf)
    .filter(({ type, url }) => PAGES.includes(type) && !url.startsWith('devtools:'));
}

/** A new, empty page. @throws CommandFailure (3) */
export async function openPage(endpoint: string): Promise<Listed> {
  const [page] = listedOf(await ask(endpoint, '/json/new?about:blank', 'PUT'));
  if (!page) throw browserFailed(`The browser at ${endpoint} opened no page.`);
  return page;
}

const withoutHash = (url: string): string => url.replace(/#.*$/s, '');

/**
 * Find the page to record.
 * @param url beginning of its address; undefined: the only page there is
 * @returns null if no open page has that address
 * @throws CommandFailure (2) if several pages match, or none
 */
export function chosenPage(pages: readonly Listed[], url: string | undefined): Listed | null {
  const names = (): string =>
    pages
      .slice(0, 10)
      .map((page) => `\n  ${shown(page.url, 120)}`)
      .join('');
  if (url === undefined) {
    if (pages.length === 1) return pages[0]!;
    throw wrongUse(
      pages.length
        ? `The browser has ${pages.length} pages. Add the address of one:${names()}`
        : 'The browser has no page. Add the address of one to open.',
    );
  }
  const exact = pages.filter((page) => withoutHash(page.url) === withoutHash(url));
  const found = exact.length ? exact : pages.filter((page) => page.url.startsWith(url));
  if (found.length > 1 && !exact.length)
    throw wrongUse(`Several pages begin with ${url}. Add the whole address of one:${names()}`);
  return found[0] ?? null;
}
