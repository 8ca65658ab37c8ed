/**
 * Workers in WebKit: every case behaves the same with and without the hook, under every page
 * policy. Workers are recorded on a clock with a known step, or noted if they can't be.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  buildHook,
  collectUntil,
  injectHook,
  markedClosed,
  NESTED_WORKERS,
  NETWORK_WORKERS,
  POLICIES,
  serveCases,
  type SeenThread,
} from '../browser/hooks-harness.ts';
import { FULL } from '../full.ts';
import { launchWebKit, type DrivenWebKit } from './minibrowser.ts';

declare function runCases(
  only?: string[],
): Promise<{ results: Record<string, unknown>; seenByWindow: unknown[] }>;

let driven: DrivenWebKit;
let hook: string;
beforeAll(async () => {
  [driven, hook] = await Promise.all([launchWebKit(), buildHook()]);
});
afterAll(() => driven?.close());

const shortUrl = (url = ''): string =>
  /^(blob|data):/.test(url)
    ? url.slice(0, 5)
    : url.replace(/^.*\//, '').replace(/\?to=http.*/, '?to=another origin');
/** Scripts of the workers whose own mark was recorded, each once. */
const recorded = (threads: SeenThread[]): string[] => [
  ...new Set(
    threads
      .filter((t) => t.identity.kind === 'worker' && t.events.some((e) => e.op === 'mark'))
      .map((t) => shortUrl(t.identity.url))
      .sort(),
  ),
];
/** Workers that stayed native, as `script: cause`. */
const notRecorded = (threads: SeenThread[]): string[] => [
  ...new Set(
    threads
      .flatMap((t) =>
        t.notes
          .filter((n) => n.topic === 'worker-native')
          .map((n) => `${shortUrl(n.url)}: ${n.text}`),
      )
      .sort(),
  ),
];

const DIRECT = [...NETWORK_WORKERS, 'echo.js?type='];
const ALL = [...DIRECT, ...NESTED_WORKERS, 'blob:'].sort();
/** Scripts that the bootstrap can't import: missing, of another type, or of another origin. */
const UNSTARTED = [
  ...[
    'echo-module.js?type=text%2Fplain',
    'echo.js?to=another origin',
    'missing.js',
    'strict.js?type=text%2Fplain',
    'unlinked-module.js',
  ],
  ...['json', 'octet-stream'].map((type) => `echo.js?type=application%2F${type}`),
  ...['image%2Fpng', 'text%2Fhtml', 'text%2Fplain'].map((type) => `echo.js?type=${type}`),
];
const NEVER = [
  'data:: Not recorded: a data: URL has no origin',
  'echo.js?trusted: Not recorded: the page uses Trusted Types',
  'echo.js?trusted-inside: Not recorded: the page uses Trusted Types',
  ...UNSTARTED.map((url) => `${url}: Not recorded: vfscope couldn't start it`),
  'shared.js: Not recorded: it may have been running before',
];
const FORBIDDEN = [...DIRECT, ...UNSTARTED, 'unlinked-module.js#part'].map(
  (url) => `${url}: Not recorded: the page's CSP forbids blob: workers`,
);

/** By policy: what is recorded, and how the notes about the rest begin. */
const EXPECTED: Record<string, [string[], string[]]> = {
  plain: [ALL, NEVER],
  isolated: [ALL, NEVER],
  // WebKit throws where others fire an error event, and one of the cases creates its worker where
  // that shows
  'worker-src self': [
    [],
    [
      ...FORBIDDEN,
      'echo.js: Not recorded: it cannot be wrapped: The operation is insecure.',
      'echo.js?trusted: Not recorded: the page uses Trusted Types',
      'shared.js: Not recorded: it may have been running before',
    ],
  ],
  'connect-src self': [ALL, NEVER],
  'no wasm': [ALL, NEVER], // this policy doesn't affect WebAssembly in WebKit's blob: workers
  'trusted types': [[], ['echo.js?trusted: Not recorded: the page uses Trusted Types']],
};

/**
 * All cases, and the window's messages and violation reports. These are queued, so each kind ends
 * with one of ours.
 * @param guarded the page has a policy that reports violations
 */
async function run(guarded: boolean): ReturnType<typeof runCases> {
  const { results, seenByWindow } = await runCases();
  const last: Promise<unknown>[] = [
    new Promise((done) =>
      addEventListener(
        'message',
        ({ data }: MessageEvent<unknown>) => data === 'the last' && done(null),
      ),
    ),
  ];
  postMessage('the last', '*');
  if (guarded) {
    const ours = ({ blockedURI, sample }: SecurityPolicyViolationEvent): boolean =>
      blockedURI === 'inline' || sample.includes('the last');
    last.push(
      new Promise((done) =>
        addEventListener('securitypolicyviolation', (e) => ours(e) && done(null)),
      ),
    );
    const script = document.createElement('script');
    try {
      script.text = '/* the last */';
      document.head.append(script); // forbidden: inline
    } catch (e) {
      if (!(e instanceof TypeError)) throw e; // forbidden: text that isn't trusted
    }
  }
  await Promise.all(last);
  return { results, seenByWindow };
}

/**
 * WebKit reports a worker's redirect to another origin as a worker-src violation. Our bootstrap
 * follows it under another directive.
 */
const isRedirect = (seen: unknown): boolean => /echo\.js\?to=http/.test(JSON.stringify(seen));

/** Under these policies WebKit records the same as without one. `npm run test:long` checks it. */
const AS_PLAIN = ['connect-src self', 'no wasm'];
const policies = Object.keys(POLICIES).filter((policy) => FULL || !AS_PLAIN.includes(policy));

describe.each(policies)('page policy: %s', (policy) => {
  // a server for each policy and a host for each load, so that no load shares a worker with another
  let server: Awaited<ReturnType<typeof serveCases>>;
  beforeAll(async () => void (server = await serveCases()));
  afterAll(() => server.close());

  test('the app sees the same', async () => {
    const { page } = driven;
    // this policy allows the inline script that otherwise ends the wait
    const guarded =
      policy !== 'connect-src self' && 'Content-Security-Policy' in POLICIES[policy]!.page;
    await page.clearStartScripts();
    await page.goto(server.url(policy));
    const without = await page.evaluate(run, guarded);
    await injectHook(page.asPuppeteer(), hook);
    await page.goto(server.url(policy).replace('localhost', '127.0.0.1'));
    const withHook = await page.evaluate(run, guarded);
    expect(withHook.results).toEqual(without.results);
    expect(withHook.seenByWindow).toEqual(without.seenByWindow.filter((seen) => !isRedirect(seen)));

    const [workers, causes] = EXPECTED[policy]!;
    const threads = await collectUntil(
      page.asPuppeteer(),
      (all) => recorded(all).length >= workers.length && notRecorded(all).length >= causes.length,
      (all) => JSON.stringify([recorded(all), notRecorded(all)], null, 1),
    );
    expect(recorded(threads)).toEqual(workers);
    expect(
      notRecorded(threads).map((note, i) => note.slice(0, [...causes].sort()[i]?.length)),
    ).toEqual([...causes].sort());
    expect(threads.map((t) => [t.identity.url, t.faults, t.dropped])).toEqual(
      threads.map((t) => [t.identity.url, 0, 0]),
    );

    // a worker that closes itself continues to the end of its task
    for (const { identity, events, bye } of threads)
      if (identity.url.endsWith('closes.js')) {
        expect(bye).toBe('closed');
        expect(markedClosed(events)).toHaveLength(30);
      }

    // Safari's clock step: a millisecond, or 20 us if the page is isolated. The trace has it. A
    // thread that was delayed while it measured its clock has seen several steps as one.
    const isolated = policy === 'isolated';
    const environments = threads.flatMap((t) =>
      t.definitions.filter((d) => d.kind === 'environment'),
    );
    // one is terminated at once
    expect(environments).toHaveLength(threads.filter((t) => t.definitions.length).length);
    expect(environments.map(({ crossOriginIsolated }) => crossOriginIsolated)).toEqual(
      environments.map(() => isolated),
    );
    const steps = environments.map(
      ({ clockStepUs }) => Math.round(clockStepUs) / (isolated ? 20 : 1000),
    );
    expect(steps.filter((step) => step < 1 || !Number.isInteger(step))).toEqual([]);
    expect(Math.min(...steps)).toBe(1);
  });
});
