/**
 * The welcome page after a permanent installation in Firefox: shown once, and not again after the
 * extension was disabled and enabled.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { filesOf } from '../../tools/build/package.mjs';
import { zip } from '../../tools/build/zip.mjs';
import { FIREFOX_EXTENSION, launchInFirefox } from './firefox-harness.ts';

test('the welcome page opens once, after an installation', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'vfscope-package-'));
  const driven = await launchInFirefox({ preferences: { 'xpinstall.signatures.required': false } });
  try {
    const welcomes = (): Promise<unknown> =>
      driven.chrome.run(
        `return gBrowser.tabs.filter((tab) => tab.linkedBrowser.currentURI.spec.endsWith('/devtools/welcome.html')).length`,
      );
    // the extension is temporary, so it is installed again at each start
    expect(await welcomes()).toBe(0);
    const file = path.join(folder, 'vfscope.xpi');
    await writeFile(file, zip(filesOf(FIREFOX_EXTENSION)));
    const addons = `const { AddonManager } = ChromeUtils.importESModule('resource://gre/modules/AddonManager.sys.mjs');
      const addon = await AddonManager.getAddonByID(extension.id);`;
    await driven.chrome.run(
      `${addons}
       await addon.uninstall();
       const { FileUtils } = ChromeUtils.importESModule('resource://gre/modules/FileUtils.sys.mjs');
       const install = await AddonManager.getInstallForFile(new FileUtils.File(args[0]));
       await install.install();`,
      file,
    );
    await expect.poll(welcomes, { timeout: 30_000 }).toBe(1);
    await driven.chrome.run(
      `${addons}
       gBrowser.removeTab(gBrowser.tabs.find((tab) => tab.linkedBrowser.currentURI.spec.endsWith('/devtools/welcome.html')));
       await addon.disable();
       await addon.enable();`,
    );
    // its background runs again, so it knows the reason
    await driven.chrome.run(
      `for (const end = Date.now() + args[0]; WebExtensionPolicy.getByID(extension.id).extension.backgroundState !== 'running'; await new Promise((done) => setTimeout(done, 25)))
         if (Date.now() > end) throw new Error('the background does not run');`,
      15_000,
    );
    await driven.chrome.inView(
      'background',
      'await browser.management.getSelf(); await browser.tabs.query({});',
    );
    expect(await welcomes()).toBe(0);
  } finally {
    await driven.close();
    await rm(folder, { recursive: true, force: true });
  }
});
