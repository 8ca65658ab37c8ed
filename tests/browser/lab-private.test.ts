// The Lab without persistent storage: a Firefox with private windows only, and an incognito window
// of Chromium. Each VFS works there or shows one sentence with the reason, and the other runs
// continue.
import { expect, it } from 'vitest';
import type { LabRun } from '../../src/lab/experiments/door.ts';
import { labIn } from '../../src/lab/drive/lab.ts';
import { openFirefoxLab } from '../../src/lab/drive/firefox-lab.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import type { Run, VfsName } from '../../src/lab/experiments/model/types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { servePanelBuild } from '../webkit/panel-page.ts';
import { launch } from './extension-harness.ts';
import { launchInFirefox } from './firefox-harness.ts';
import { longTest } from './long-test.ts';

const IN_MEMORY: readonly VfsName[] = ['memory', 'MemoryVFS'];
const ON_STORAGE: readonly VfsName[] = [
  'BlockIDB',
  'IDBBatchAtomic',
  'IDBMirror',
  'AccessHandlePool',
  'OPFSCoopSync',
  'OPFSAnyContext',
];
// those on storage first, because they must not affect the others
const ALL = [...ON_STORAGE, ...IN_MEMORY];
const runs: Run[] = ALL.map((vfs) =>
  runOf(workloadOf('ac60'), { config: { vfs } }, { mode: 'count', repeats: 1 }),
);
const REFUSED =
  /^The browser refuses storage here, as it does in private windows and where site data are blocked \(.+\)\.( The VFS reports: .+\.)?$/;

const said = (outcomes: readonly LabRun[], of: readonly VfsName[]): string[] =>
  of.map((vfs) => outcomes[ALL.indexOf(vfs)]!.message);
const instructions = (outcomes: readonly LabRun[]): (number | undefined)[] =>
  outcomes.map(({ result }) => result?.totals['instructions']);

it('a private window of Firefox refuses storage: each VFS that needs it reports that, and the others count as usual', async () => {
  const driven = await launchInFirefox({
    preferences: { 'browser.privatebrowsing.autostart': true },
  });
  try {
    await driven.chrome.run(
      `const { ExtensionPermissions } = ChromeUtils.importESModule('resource://gre/modules/ExtensionPermissions.sys.mjs');
       const { AddonManager } = ChromeUtils.importESModule('resource://gre/modules/AddonManager.sys.mjs');
       await ExtensionPermissions.add(extension.id, { permissions: ['internal:privateBrowsingAllowed'], origins: [] });
       await (await AddonManager.getAddonByID(extension.id)).reload();`,
    );
    const lab = await openFirefoxLab(driven);
    const isPrivate = await driven.chrome.run(
      `const { PrivateBrowsingUtils } = ChromeUtils.importESModule('resource://gre/modules/PrivateBrowsingUtils.sys.mjs');
       return PrivateBrowsingUtils.isBrowserPrivate(gBrowser.selectedBrowser);`,
    );
    expect(isPrivate).toBe(true);
    const outcomes = await lab.run(runs, { patienceMs: 30_000 });
    for (const words of said(outcomes, ON_STORAGE)) expect(words).toMatch(REFUSED);
    expect(said(outcomes, IN_MEMORY)).toEqual(['', '']);
    expect(instructions(outcomes).slice(ON_STORAGE.length)).toEqual([
      1_491_318,
      expect.any(Number),
    ]);
    expect(await lab.storage()).toEqual([]);
  } finally {
    await driven.close();
  }
}, 120_000);

// Chromium opens no extension page in an incognito window, so there the Lab's page comes from a
// server
longTest(
  'an incognito window of Chromium stores in memory: every VFS runs, and nothing is left',
  async () => {
    const [driven, server] = [await launch(), await servePanelBuild()];
    try {
      const context = await driven.browser.createBrowserContext();
      const page = await context.newPage();
      await page.evaluateOnNewDocument(() => {
        const browser = { runtime: { id: 'vfscope', getURL: (file: string) => file } };
        Object.assign(window, { browser, chrome: browser });
      });
      await page.goto(`${server.url}/lab/lab.html`);
      await page.waitForFunction(() => document.documentElement.dataset['ready'] === 'true', {
        polling: 50,
      });
      const lab = labIn(page);
      const outcomes = await lab.run(runs, { patienceMs: 30_000 });
      expect(said(outcomes, ALL)).toEqual(ALL.map(() => ''));
      expect(instructions(outcomes).at(ALL.indexOf('memory'))).toBe(1_491_318);
      expect(await lab.storage()).toEqual([]);
    } finally {
      await server.close();
      await driven.close();
    }
  },
  120_000,
);
