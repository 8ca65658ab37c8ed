/** The first page that a user sees. */
import { api } from './extension-api.ts';

const WELCOME_PAGE = '/devtools/welcome.html';

/**
 * Show the welcome page once after installation, never after an update. The background calls it at
 * its start. Not for a temporary add-on of Firefox, which is installed again at each start. When
 * loaded unpacked in Chromium, it opens in the background.
 */
export function welcomeAfterInstall(): void {
  api.runtime.onInstalled.addListener(
    ({ reason, temporary }: chrome.runtime.InstalledDetails & { temporary?: boolean }) => {
      if (reason === 'install' && !temporary)
        show().catch((e: unknown) =>
          console.warn('vfscope: the welcome page could not be shown:', e),
        );
    },
  );
}

async function show(): Promise<void> {
  const management = api.management as typeof api.management | undefined; // Safari has none
  const self = await management?.getSelf(); // needs no permission
  await api.tabs.create({
    url: api.runtime.getURL(WELCOME_PAGE),
    active: self?.installType !== 'development',
  });
}
