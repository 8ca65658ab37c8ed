// During a recording: views update at a low cost, selections stay, and hidden notices only apply to
// one recording.
import { describe, expect, it } from 'vitest';
import { id, ViewerPage } from './viewer-page.ts';
import { wireOf } from './worker-wire.ts';

const viewer = new ViewerPage(async () => ({}));
const isThere = (selector: string): Promise<unknown> => viewer.page.waitForSelector(selector);
const isGone = (selector: string): Promise<unknown> =>
  viewer.page.waitForSelector(selector, { hidden: true });
const click = async (selector: string): Promise<void> => {
  await viewer.page.waitForSelector(selector);
  await viewer.page.$eval(selector, (e) => (e as HTMLElement).click());
};

describe('while a recording runs', () => {
  const record = async (): Promise<void> => {
    await viewer.page.click(id('record'));
    await viewer.page.waitForSelector(`${id('stop')}:not(:disabled)`);
  };
  it('a selected event stays selected, although a page was selected before it', async () => {
    await viewer.open('live&key=selection');
    const { page } = viewer;
    await record();
    await page.evaluate(() => window.panel.app.work(5));
    await page.$eval(id('tab-files'), (e) => (e as HTMLElement).click());
    const wire = await wireOf(page);
    await isThere(id('list-pages'));
    await click(id('list-pages'));
    await isThere(id('pages-row'));
    await click(id('pages-row'));
    await isThere(id('parent'));
    const call = await viewer.text(id('details-name'));
    await click(id('parent'));
    await page.waitForFunction(
      (s: string, n: string) => document.querySelector(s)?.textContent?.trim() !== n,
      {},
      id('details-name'),
      call,
    );
    const parent = await viewer.text(id('details-name'));
    const asked = (await wire.heard('placeEvents')).length;
    await page.evaluate(() => window.panel.app.work(5));
    await wire.asked('placeEvents', asked + 1);
    await page.evaluate(() => window.panel.app.work(5));
    await wire.asked('placeEvents', asked + 2); // the previous one is answered
    expect(await viewer.text(id('details-name'))).toBe(parent);
  });

  it('events are filtered no more often than is cheap, and never for a view that was left', async () => {
    await viewer.open('live&key=paced');
    await record();
    const { page } = viewer;
    await page.evaluate(() => window.panel.app.work(5));
    await page.$eval(id('tab-events'), (e) => (e as HTMLElement).click());
    await isThere(id('event-row'));
    const wire = await wireOf(page);
    await page.evaluate(() => {
      const work = (): void => window.panel.app.work(2);
      Object.assign(window, { working: setInterval(work, 20) });
    });
    await wire.asked('filterEvents', 4);
    const at = await wire.heard('filterEvents');
    for (let i = 1; i < at.length; i++) expect(at[i]! - at[i - 1]!).toBeGreaterThan(300);
    await wire.hold('filterEvents');
    await wire.asked('filterEvents', at.length + 1);
    await click(id('tab-errors'));
    await isThere(id('errors-view'));
    const lines = (await wire.heard('eventLines')).length;
    await wire.release('filterEvents');
    await wire.asked('errors', 2); // the next request would have been sent by now
    expect(await wire.heard('eventLines')).toHaveLength(lines);
    await page.evaluate(() => clearInterval((window as unknown as { working: number }).working));
  });

  it.each([
    ['errors', 'errors'],
    ['transactions', 'transactions'],
    ['files', 'pageTable'],
  ])('%s says why there is no newer answer beside the one that there is', async (tab, question) => {
    await viewer.open(`live&key=${tab}`);
    await record();
    const { page } = viewer;
    await page.evaluate(() => window.panel.app.work(5));
    await page.$eval(id(`tab-${tab}`), (e) => (e as HTMLElement).click());
    await isThere('#view [role=grid]');
    const wire = await wireOf(page);
    await wire.fail(question, 'The worker is lost.');
    await page.evaluate(() => window.panel.app.work(5));
    await page.waitForFunction(
      () => document.querySelector('#view [role=alert]')?.textContent === 'The worker is lost.',
    );
    expect(await page.$('#view [role=grid]')).not.toBeNull();
  });

  it("actions show how much of the recording they cover, by the sentence's clock", async () => {
    await viewer.open('live&key=older#tab=answer');
    const { page } = viewer;
    await record();
    await page.evaluate(() => window.panel.app.work(5));
    const textOf = (testid: string): Promise<string> =>
      page.$eval(id(testid), (e) => e.textContent.replace(/\s+/g, ' ').trim());
    const recorded = async (): Promise<string> =>
      / while you recorded ([\d.]+ m?s)\./.exec(await textOf('answer'))![1]!;
    await isThere(id('so-far'));
    await page.waitForFunction(
      (asOf: string, answer: string) => {
        const moment = document.querySelector(asOf)?.textContent.replace('as of ', '');
        return (
          moment && document.querySelector(answer)?.textContent.includes(`recorded ${moment}.`)
        );
      },
      {},
      id('as-of'),
      id('answer'),
    );
    const wire = await wireOf(page);
    await wire.hold('findings');
    const [before, was] = [await textOf('as-of'), await recorded()];
    await page.evaluate(() => window.panel.app.work(5));
    await page.waitForFunction(
      (s: string, was: string) =>
        !document.querySelector(s)?.textContent.includes(`recorded ${was}.`),
      {},
      id('answer'),
      was,
    );
    expect(await textOf('as-of')).toBe(before);
    await wire.release('findings');
    await page.click(id('stop'));
    await isGone(id('as-of'));
    await isGone(id('so-far'));
  });

  it('the rate of reads, writes, and syncs is drawn behind their numbers, until Stop', async () => {
    await viewer.open('live&key=sparks');
    const { page } = viewer;
    await record();
    await page.evaluate(() => {
      const work = (): void => window.panel.app.work(2);
      Object.assign(window, { working: setInterval(work, 50) });
    });
    for (const slot of ['reads', 'writes', 'syncs']) await isThere(id(`spark-${slot}`));
    const pace = await page.$eval(id('spark-reads'), (e) => e.getAttribute('aria-label')!);
    expect(pace).toMatch(/^Last \d+ seconds?: max [\d,]+ per second$/);
    await page.evaluate(() =>
      clearInterval((window as unknown as { working: ReturnType<typeof setInterval> }).working),
    );
    await page.click(id('stop'));
    await isGone(id('spark-reads'));
  });

  it('a hidden notice appears again for the next recording, also to screen readers', async () => {
    await viewer.open('live&key=notices');
    const { page } = viewer;
    const lie = (): Promise<void> =>
      page.evaluate(() => {
        const { port1, port2 } = new MessageChannel();
        window.panel.app.handOver(port2);
        port1.postMessage('nonsense');
        window.panel.app.work(5);
      });
    await record();
    await lie();
    const notice = `.notices[role=status] ${id('notice')}`;
    await isThere(notice);
    await page.click(`${notice} [aria-label="Hide this notice"]`);
    await isGone(notice);
    await page.click(id('stop'));
    await page.waitForSelector(`${id('record')}:not(:disabled)`);
    await record();
    await lie();
    await isThere(notice);
  });
});
