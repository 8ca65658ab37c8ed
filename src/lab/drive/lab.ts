/**
 * Runs of the Lab in a separate Chromium: drives the Lab's page, which uses the same queue as its
 * buttons.
 */
import type { Page } from 'puppeteer-core';
import type { LabRun } from '../experiments/door.ts';
import type { Run } from '../experiments/model/types.ts';
import { launchBrowser } from '../../drive/browser.ts';
import { browserFailed } from '../../terminal/failure.ts';
import { LabPage, type LabOptions } from './lab-page.ts';

/** Open the Lab's page in a tab. @throws CommandFailure (3) where it doesn't become ready */
export async function openLab(page: Page, extensionId: string): Promise<LabPage> {
  await page
    .goto(`chrome-extension://${extensionId}/lab/lab.html`)
    .then(() =>
      page.waitForFunction(() => document.documentElement.dataset['ready'] === 'true', {
        timeout: 30_000,
        polling: 50,
      }),
    )
    .catch((e: Error) => {
      throw browserFailed(`The Lab's page did not get ready: ${e.message}`);
    });
  return labIn(page);
}

/** @param page with the Lab */
export const labIn = (page: Page): LabPage => {
  // a call to a crashed page never returns
  const crashed = new Promise<never>((_, reject) => page.once('error', reject));
  crashed.catch(() => {}); // the next question reports it
  return new LabPage((body, ...args) =>
    Promise.race([
      page.evaluate(`(async () => { const args = ${JSON.stringify(args)}; ${body} })()`),
      crashed,
    ]),
  );
};

/**
 * Run in a fresh headless browser and close it.
 * @throws CommandFailure (3) without a browser or a build, or when the page fails
 */
export async function runLab(runs: readonly Run[], options: LabOptions): Promise<LabRun[]> {
  const { extension, headed = false, interrupt } = options;
  const driven = await launchBrowser({
    extension,
    headed,
    outlivesSignals: interrupt !== undefined,
  });
  try {
    const page = await driven.firstPage();
    const lab = await openLab(page, driven.extensionId);
    return await lab.run(runs, options);
  } finally {
    await driven.close();
  }
}
