/**
 * Every page policy in Firefox, as page-policies.test.ts tests them in Chromium: an app sees the
 * same under each while it is recorded. Next to an open toolbox, Firefox stops running workers
 * after some dozens of pages, recorded or not, so every few pages get a new browser.
 */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRecording } from '../../src/drive/session.ts';
import { recorded } from '../browser/extension-harness.ts';
import { launchInFirefox } from '../browser/firefox-harness.ts';
import {
  differencesUnder,
  POLICY_CASES,
  servePagePolicies,
  type PolicyServer,
} from '../browser/page-policies.ts';

/**
 * Where these workers stay native, a network worker that one of them starts has a hook, whose first
 * message reaches the app (docs/limits.md).
 */
const NESTED = ['blob', 'module from a blob', 'from bytes', 'module from bytes'];
/** Whether that message is the only difference in this line. */
const isNested = (line: string): boolean => {
  const [, name = '', without, during] = /^([^:]+): (.*) -> (.*)$/.exec(line) ?? [];
  const message = /(?<="worker":)\{"mark":"vfscope","k":"ready","id":"\w+"\}/;
  return NESTED.includes(name) && during?.replace(message, '1') === without;
};

/** Pages per browser. */
const PAGES = 12;
const groups = Array.from({ length: Math.ceil(POLICY_CASES.length / PAGES) }, (_, i) =>
  POLICY_CASES.slice(i * PAGES, (i + 1) * PAGES),
);

describe.each(groups.map((cases, i) => ({ i, cases })))('browser $i', ({ cases }) => {
  const browsers: Browser[] = [];
  let server: PolicyServer;
  let tabs: { native: Page; recorded: Page };
  beforeAll(async () => {
    const [plain, driven] = await Promise.all([launchInFirefox(), launchInFirefox()]);
    browsers.push(plain.browser, driven.browser);
    server = await servePagePolicies();
    tabs = { native: await plain.firstPage(), recorded: await driven.firstPage() };
    await startRecording(await driven.openPanel(tabs.recorded)); // reloads no empty page
    await driven.load(tabs.recorded, server.plain);
    await recorded(tabs.recorded);
  });
  afterAll(async () => {
    await Promise.all(browsers.map((browser) => browser.close()));
    await server?.close();
  });

  test.each(cases)('%s, by %s', async (policy, way) => {
    const differ = await differencesUnder(tabs, server, policy, way);
    if (process.env['SHOW'])
      console.log(`${policy}, ${way}\n  ${differ.join('\n  ') || 'the same'}`);
    expect(differ.filter((line) => !isNested(line))).toEqual([]);
  });
});
