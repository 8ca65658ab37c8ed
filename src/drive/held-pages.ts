/**
 * Pages that a recorded tab of a driven Chromium goes to by itself, by a link, a script, or a
 * redirect. An extension hears of them when they are already requested, and a server on the same
 * machine can respond faster than it registers its scripts. So the request waits for it, as in
 * Firefox.
 */
import type { Page } from 'puppeteer-core';
import { inTime } from './in-time.ts';

/**
 * A request waits this long for a busy browser. Then the page comes, and may be hooked too late.
 */
const READY_MS = 5000;

/**
 * From now on, each request of a document for this page's main frame waits.
 * @param ready resolves when that address is ready to be recorded
 */
export async function holdPages(page: Page, ready: (url: string) => Promise<void>): Promise<void> {
  const session = await page.createCDPSession();
  const { frameTree } = await session.send('Page.getFrameTree');
  session.on('Fetch.requestPaused', ({ requestId, frameId, request }) => {
    const isPage = frameId === frameTree.frame.id;
    void inTime(READY_MS, isPage ? ready(request.url) : Promise.resolve())
      .then(() => session.send('Fetch.continueRequest', { requestId }))
      .catch(() => {}); // the request, or the page, has gone
  });
  await session.send('Fetch.enable', {
    patterns: ['http', 'https'].map((scheme) => ({
      urlPattern: `${scheme}://*`,
      resourceType: 'Document' as const,
    })),
  });
}
