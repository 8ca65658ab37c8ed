/**
 * Every page policy, enforced by header, report-only, and in the document: which of the app's
 * results, console lines, violations, and reports differ while it is recorded. The differences are
 * listed here, one line for each policy. docs/limits.md has the causes.
 */
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording } from '../../src/drive/session.ts';
import { launch, recorded } from '../browser/extension-harness.ts';
import {
  differencesUnder,
  POLICY_CASES,
  servePagePolicies,
  type PolicyServer,
} from '../browser/page-policies.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';

let plain: Browser;
let driven: DrivenBrowser;
let panel: Panel;
let server: PolicyServer;
let tabs: { native: Page; recorded: Page };
beforeAll(async () => {
  [plain, driven, server] = await Promise.all([
    launchPlainBrowser(),
    launch(),
    servePagePolicies(),
  ]);
  tabs = { native: await plain.newPage(), recorded: await driven.browser.newPage() };
  await tabs.recorded.goto(server.plain);
  panel = await openPanel(tabs.recorded);
  await startRecording(panel);
  await recorded(tabs.recorded);
});
afterAll(async () => {
  await Promise.all([plain?.close(), driven?.close()]);
  await server?.close();
});

/** What may differ, and how it shows. */
const KINDS: [string, RegExp][] = [
  ['connect', /-> .*"elsewhere":"TypeError"|^reports has "connect-src http/],
  ['eval', /-> .*"eval":"EvalError"|^reports has "script-src eval"/],
  // for the app's own violations: all come from the wrapper's line, and the browser reports two
  // identical ones once
  ['place', /^(seen lacks \["csp-violation"|reports lacks )/],
];
/** Policies under which something differs. */
const KNOWN: Record<string, string[]> = {
  'connect-src self': ['connect'],
  'connect-src self and blob': ['connect'],
  'connect-src none': ['connect'],
  'default-src self, worker-src blob': ['connect', 'eval'],
  'default-src self and blob': ['connect'],
  'script-src self and wasm, worker-src blob': ['eval'],
  'worker-src blob alone': ['place'],
  'worker-src none': ['place'],
  'nonce alone': ['place'],
  'hash alone': ['place'],
  'trusted types': ['place'],
  'trusted types with a policy name': ['place'],
  'trusted types and worker-src self': ['place'],
};

test.each(POLICY_CASES)('%s, by %s', async (policy, way) => {
  const differ = await differencesUnder(tabs, server, policy, way);
  if (process.env['SHOW']) console.log(`${policy}, ${way}\n  ${differ.join('\n  ') || 'the same'}`);
  const kinds = differ.flatMap((line) => {
    const known = KINDS.filter(([, sign]) => sign.test(line));
    return known.length ? known.map(([kind]) => kind) : [line];
  });
  expect([...new Set(kinds)].sort()).toEqual(KNOWN[policy] ?? []);
});
