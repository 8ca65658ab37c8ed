/**
 * Every page policy, as a header and in the document: which of the app's results, console lines, violations, and reports differ while it
 * is recorded. Those that do are listed here, one line a policy; docs/limits.md says why.
 */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildHook } from '../browser/hooks-harness.ts';
import { isPossible, PAGE_POLICIES, servePagePolicies, underPolicy, WAYS, type Outcome } from '../browser/page-policies.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';

let browser: Browser;
let server: Awaited<ReturnType<typeof servePagePolicies>>;
let hook: string;
beforeAll(async () => {
  [browser, server, hook] = await Promise.all([launchPlainBrowser(), servePagePolicies(), buildHook()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** What may differ, and how it shows. */
const KINDS: [string, RegExp][] = [
  ['refused', /^(console has .*Creating a worker from 'blob|reports has "worker-src blob")/],
  ['connect', /"elsewhere":200.*"elsewhere":"TypeError"|^reports has "connect-src http/],
  ['eval', /"eval":1.*"eval":"EvalError"|^reports has "script-src eval"/],
  ['wasm', /^reports has "script-src wasm-eval"/],
  ['trusted types', /^console has .*'TrustedScriptURL'/],
];
/** Policies under which something differs. */
const KNOWN: Record<string, string[]> = {
  'connect-src self': ['connect'],
  'connect-src self and blob': ['connect'],
  'connect-src none': ['connect'],
  'default-src self': ['refused'],
  'default-src self and blob': ['connect'],
  'worker-src self': ['refused'],
  'worker-src none': ['refused'],
  'child-src self': ['refused'],
  'script-src self': ['refused'],
  'script-src self, worker-src blob': ['wasm'],
  'script-src self and wasm, worker-src blob': ['eval'],
  'strict-dynamic': ['wasm'],
  'nonce alone, worker-src blob': ['wasm'],
  'trusted types': ['trusted types'],
  'trusted types with a policy name': ['trusted types'],
};

const CASES = Object.keys(PAGE_POLICIES).flatMap((policy) =>
  WAYS.filter((way) => isPossible(policy, way)).map((way) => [policy, way] as const),
);

test.each(CASES)('%s, by %s', async (policy, way) => {
  const without = await underPolicy(browser, server, policy, way, null);
  const during = await underPolicy(browser, server, policy, way, hook);
  const differ: string[] = [];
  for (const key of Object.keys(without.results)) {
    const [a, b] = [JSON.stringify(without.results[key]), JSON.stringify(during.results[key])];
    if (a !== b) differ.push(`${key}: ${a} -> ${b}`);
  }
  for (const key of ['seen', 'console', 'reports'] as const satisfies (keyof Outcome)[]) {
    const [a, b] = [without[key].map((v) => JSON.stringify(v)), during[key].map((v) => JSON.stringify(v))];
    for (const line of a) {
      const at = b.indexOf(line);
      if (at < 0) differ.push(`${key} lacks ${line}`);
      else b.splice(at, 1);
    }
    for (const line of b) differ.push(`${key} has ${line}`);
  }
  if (process.env['SHOW']) console.log(`${policy}, ${way}: ${during.workers} recorded\n  ${differ.join('\n  ') || 'the same'}`);
  const kinds = differ.map((line) => KINDS.find(([, sign]) => sign.test(line))?.[0] ?? line);
  // where a report goes is not for a document to say
  const expected = (KNOWN[policy] ?? []).filter((kind) => way === 'header' || kind !== 'wasm');
  expect([...new Set(kinds)].sort()).toEqual(expected);
});
