/**
 * A page's policies are known before its first worker. Under each policy, the app sees the same as
 * without a recording, and what the policy allows is recorded. All policies:
 * tests/long/page-policies.test.ts.
 */
import { expect, test } from 'vitest';
import { openPanel } from '../../src/drive/panel.ts';
import { startRecording } from '../../src/drive/session.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { launch, recorded, savedStore } from './extension-harness.ts';
import { differencesUnder, servePagePolicies, type PolicyCase } from './page-policies.ts';

const CASES: PolicyCase[] = [
  ['worker-src self', 'header'],
  ['worker-src blob', 'header'],
  ['worker-src self', 'header', 'srcdoc'],
  ['nonce and eval, worker-src blob', 'meta'],
  ['script-src-elem nonce, worker-src self and blob', 'header'],
];

test('the app sees no policy violation by vfscope', async () => {
  const [plain, driven, server] = await Promise.all([
    launchPlainBrowser(),
    launch(),
    servePagePolicies(),
  ]);
  try {
    const tabs = { native: await plain.newPage(), recorded: await driven.browser.newPage() };
    await tabs.recorded.goto(server.plain);
    const panel = await openPanel(tabs.recorded);
    await startRecording(panel);
    await recorded(tabs.recorded);
    for (const [policy, way, place] of CASES)
      expect(
        await differencesUnder(tabs, server, policy, way, place),
        `${policy}, by ${way}, ${place ?? 'page'}`,
      ).toEqual([]);

    const { threads } = await savedStore(driven, panel);
    const workersOf = (url: string): string[] => {
      const page = threads.find((thread) => thread.info.url === url)?.info.id;
      return threads
        .filter(({ info }) => info.parent === page && info.kind === 'worker')
        .map(({ info }) => info.url.replace(/\/[^/]*$/, ''));
    };
    expect(workersOf(server.url('worker-src blob', 'header'))).toHaveLength(7);
    expect(workersOf(server.url('worker-src self', 'header'))).toEqual([]);
  } finally {
    await Promise.all([plain.close(), driven.close()]);
    await server.close();
  }
});
