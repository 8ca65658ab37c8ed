/**
 * The Lab's page in Firefox. WebDriver doesn't open extension pages, so it is driven from the
 * browser's window.
 */
import type { Run } from '../experiments/model/types.ts';
import { browserFailed } from '../../terminal/failure.ts';
import { launchFirefox, type DrivenFirefox } from '../../drive/firefox.ts';
import type { LabRun } from '../experiments/door.ts';
import { LabPage, type LabOptions } from './lab-page.ts';

/**
 * Open the Lab's page in a tab.
 * @param search of its address
 * @throws CommandFailure (3) where it doesn't become ready
 */
export async function openFirefoxLab({ chrome }: DrivenFirefox, search = ''): Promise<LabPage> {
  await chrome.run(
    `const url = extension.getURL('lab/lab.html') + args[0];
     gBrowser.selectedTab = gBrowser.addTab(url, { triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });`,
    search,
  );
  const ready = await chrome.inView(
    'tab',
    `for (let i = 0; i < 300 && document.documentElement.dataset.ready !== 'true'; i++) await new Promise((done) => setTimeout(done, 50));
     return document.documentElement.dataset.ready === 'true';`,
  );
  if (!ready) throw browserFailed("The Lab's page did not get ready.");
  return new LabPage((body, ...args) => chrome.inView('tab', body, ...args));
}

/**
 * Run in a fresh headless Firefox and close it.
 * @throws CommandFailure (3) without a browser or a build, or when the page fails
 */
export async function runLabInFirefox(
  runs: readonly Run[],
  options: LabOptions,
): Promise<LabRun[]> {
  const { extension, headed, interrupt } = options;
  const driven = await launchFirefox({
    extension,
    headed,
    outlivesSignals: interrupt !== undefined,
  });
  try {
    return await (await openFirefoxLab(driven)).run(runs, options);
  } finally {
    await driven.close();
  }
}
