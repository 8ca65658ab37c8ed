/**
 * `vfscope doctor`: reads what a page's origin holds and stores, in our own isolated world of the
 * page, as the panel does. A page of a running browser isn't reloaded. Otherwise an installed
 * Chromium opens the page in a fresh profile.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'puppeteer-core';
import { LockWatch, type SeenLock } from '../doctor/lock-watch.ts';
import { doctorOf, type Doctor } from '../doctor/doctor.ts';
import { launchBrowser } from '../drive/browser.ts';
import { loadPage } from '../drive/session.ts';
import { listDatabases } from '../page-copy/list.ts';
import { look } from '../page-copy/look.ts';
import { lookAtState } from '../page-copy/state.ts';
import { isPageDatabases, MAX_COPY_BYTES, MOST_DATABASES } from '../protocol/page-copy.ts';
import { isOneOrigin } from '../protocol/page-look.ts';
import { isPageState, MOST_LOCKS, type PageState } from '../protocol/page-state.ts';
import { isPageStorage, MOST_FILES } from '../protocol/page-storage.ts';
import { browserFailed } from '../terminal/failure.ts';
import { connectTo, pageOf } from './attach.ts';
import { chosenPage, endpointOf, openPage, pagesAt } from './endpoint.ts';

interface LookOptions {
  /**
   * Address of the page. With `connect`, the beginning of it, or undefined if only one page is
   * open.
   */
  url?: string | undefined;
  /** Address of a browser's debugging port. */
  connect?: string | undefined;
  /** How long to watch locks after the page has loaded. */
  seconds: number;
  /** Called with progress messages, one line each. */
  say: (line: string) => void;
}

/** Time between two looks at the locks. */
const EVERY_MS = 500;
const WORLD = 'vfscope doctor';

/** @throws CommandFailure: exit code 2 for wrong use, 3 if the browser or page fails */
export const lookAtPage = (options: LookOptions): Promise<Doctor> =>
  options.connect === undefined ? ofNewPage(options) : ofOpenPage(options, options.connect);

async function ofNewPage(options: LookOptions): Promise<Doctor> {
  const { url = '', say } = options;
  const driven = await launchBrowser({ extension: null });
  try {
    const page = await driven.firstPage();
    say(`loading ${url}`);
    await loadPage(() => driven.load(page, url), url);
    return await watched(page, options);
  } finally {
    await driven.close();
  }
}

async function ofOpenPage(options: LookOptions, connect: string): Promise<Doctor> {
  const { url, say } = options;
  const endpoint = endpointOf(connect);
  const shown = chosenPage(await pagesAt(endpoint), url);
  const target = shown ?? (await openPage(endpoint));
  let browser: Browser | null = null;
  let page: Page | null = null;
  try {
    browser = await connectTo(endpoint, target.id);
    const opened = (page = await pageOf(browser, target.id));
    if (!shown) {
      say(`loading ${url}`);
      const open = async (): Promise<number | undefined> =>
        (await opened.goto(url!, { waitUntil: 'load', timeout: 60_000 }))?.status();
      await loadPage(open, url!);
    }
    return await watched(page, options);
  } finally {
    if (!shown) await page?.close().catch(() => {}); // it is ours, and may already be closed
    await browser?.disconnect();
  }
}

/** Look at the locks repeatedly, then at everything. */
async function watched(page: Page, { seconds, say }: LookOptions): Promise<Doctor> {
  say(`looking for ${seconds} s`);
  const session = await page.createCDPSession();
  try {
    const inPage = worldIn(session);
    const watch = new LockWatch(EVERY_MS);
    let locks: SeenLock[] | null = null;
    const lookAtLocks = async (): Promise<PageState> => {
      const state = await inPage(lookAtState, [MOST_LOCKS], isPageState);
      locks = state.locks && watch.look(state.locks, performance.now());
      return state;
    };
    for (
      const end = performance.now() + seconds * 1000;
      performance.now() < end;
      await delay(EVERY_MS)
    )
      await lookAtLocks();
    const storage = await inPage(look, [MOST_FILES, true], isPageStorage);
    const most = [MOST_DATABASES, MAX_COPY_BYTES, MOST_FILES] as [number, number, number];
    const databases = await inPage(listDatabases, most, isPageDatabases);
    const all = { state: await lookAtLocks(), storage, databases };
    if (!isOneOrigin(all))
      throw browserFailed('The page navigated to another origin. Try again with its address.');
    return doctorOf(all, locks);
  } finally {
    await session.detach().catch(() => {}); // the page may be closed
  }
}

/**
 * A world that the page's code can't see. Each document has one, so a look can leave data for the
 * next.
 * @returns a function that runs one of our functions in it. The function is sent as text, so it
 * uses nothing from outside its own braces.
 *   It throws CommandFailure (3), also if the result has the wrong shape.
 */
export function worldIn(session: Pick<CDPSession, 'send'>) {
  let world = { document: '', id: 0 };
  const idOf = async (): Promise<number> => {
    const { frame } = (await session.send('Page.getFrameTree')).frameTree;
    if (frame.loaderId !== world.document) {
      const { executionContextId: id } = await session.send('Page.createIsolatedWorld', {
        frameId: frame.id,
        worldName: WORLD,
      });
      world = { document: frame.loaderId, id };
    }
    return world.id;
  };
  return async <A extends unknown[], T>(
    run: (...args: A) => Promise<T>,
    args: A,
    is: (v: unknown) => v is T,
  ): Promise<T> => {
    const { result, exceptionDetails } = await session.send('Runtime.callFunctionOn', {
      functionDeclaration: String(run),
      arguments: args.map((value) => ({ value: value as unknown })),
      executionContextId: await idOf(),
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails)
      throw browserFailed(
        `The page can't be looked at: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`,
      );
    const answer: unknown = result.value;
    if (!is(answer)) throw browserFailed("The page's answer isn't valid. Load it and try again.");
    return answer;
  };
}
