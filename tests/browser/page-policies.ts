/**
 * Page policies (CSP, Trusted Types, sandbox; enforced by header, report-only, and in the
 * document), and what an app under each can see of its workers, which start with the page's first
 * script: their answers, the console, violation events and reports in the page, and reports at the
 * server.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'puppeteer-core';

const NONCE = 'abc123';
/** The page's own scripts, so that a policy only blocks what is tested. */
const NONCED = `'nonce-${NONCE}'`;
const HASH = 'sha256-of-the-script';
const BLOB = "worker-src 'self' blob:";
const WASM = "'wasm-unsafe-eval'";

/** Name -> policy. */
const PAGE_POLICIES: Record<string, string> = {
  'connect-src self': "connect-src 'self'",
  'connect-src self and blob': "connect-src 'self' blob:",
  'connect-src none': "connect-src 'none'",
  'default-src self': `default-src 'self'; script-src 'self' ${NONCED}`,
  'default-src none': `default-src 'none'; script-src 'self' ${NONCED}`,
  'default-src self and wasm': `default-src 'self' ${WASM} ${NONCED}`,
  'default-src self and blob': `default-src 'self' blob:; script-src 'self' blob: ${NONCED} 'unsafe-eval'`,
  'default-src self, worker-src blob': `default-src 'self' ${WASM} ${NONCED}; ${BLOB}`,
  'default-src any, blob and eval': `default-src * blob: 'unsafe-eval' ${NONCED}`,
  'default-src of the scheme': `default-src http: blob: 'unsafe-eval' ${NONCED}`,
  'worker-src self': "worker-src 'self'",
  'worker-src blob': BLOB,
  'worker-src blob alone': 'worker-src blob:',
  'worker-src none': "worker-src 'none'",
  'worker-src any': 'worker-src *',
  'worker-src strict-dynamic': "worker-src 'strict-dynamic'",
  'worker-src by host': 'worker-src localhost:* blob:',
  'child-src self': "child-src 'self'",
  'child-src self and blob': "child-src 'self' blob:",
  'child-src blob, worker-src self': "child-src blob:; worker-src 'self'",
  'script-src self': `script-src 'self' ${NONCED}`,
  'script-src any': `script-src * ${NONCED}`,
  'script-src self and blob': `script-src 'self' blob: 'unsafe-eval' ${NONCED}`,
  'script-src self, worker-src blob': `script-src 'self' ${NONCED}; ${BLOB}`,
  'script-src self and eval, worker-src blob': `script-src 'self' 'unsafe-eval' ${NONCED}; ${BLOB}`,
  'script-src self and wasm, worker-src blob': `script-src 'self' ${WASM} ${NONCED}; ${BLOB}`,
  'script-src by host, worker-src blob': `script-src localhost:* 'unsafe-eval' ${NONCED}; ${BLOB}`,
  'script-src by path, worker-src blob': `script-src localhost:*/run.js localhost:*/worker.js 'unsafe-eval' ${NONCED}; ${BLOB}`,
  'script-src of another host, worker-src blob': `script-src other.test 'unsafe-eval' ${NONCED}; ${BLOB}`,
  'script-src-elem self': `script-src-elem 'self' ${NONCED}`,
  'script-src-elem self, script-src blob and eval': `script-src 'self' blob: 'unsafe-eval' ${NONCED}; script-src-elem 'self' ${NONCED}`,
  'script-src-elem nonce, worker-src self and blob': `script-src-elem ${NONCED}; ${BLOB}`,
  'script-src-elem self, script-src eval, worker-src blob': `script-src 'unsafe-eval'; script-src-elem 'self' ${NONCED}; ${BLOB}`,
  'strict-dynamic': `script-src 'strict-dynamic' ${NONCED}`,
  'strict-dynamic and eval': `script-src 'strict-dynamic' 'unsafe-eval' ${NONCED}`,
  'strict-dynamic and wasm, worker-src self': `script-src 'strict-dynamic' ${WASM} ${NONCED}; worker-src 'self'`,
  'nonce alone': `script-src ${NONCED}`,
  'nonce alone, worker-src blob': `script-src ${NONCED}; ${BLOB}`,
  'nonce and eval, worker-src blob': `script-src ${NONCED} 'unsafe-eval'; ${BLOB}`,
  'hash alone': `script-src '${HASH}'`,
  'hash and eval, worker-src blob': `script-src '${HASH}' 'unsafe-eval'; ${BLOB}`,
  'hash and strict-dynamic': `script-src '${HASH}' 'strict-dynamic' 'unsafe-eval'`,
  'trusted types': "require-trusted-types-for 'script'",
  'trusted types with a policy name': "require-trusted-types-for 'script'; trusted-types cases",
  'trusted types and worker-src self': "require-trusted-types-for 'script'; worker-src 'self'",
  'two policies, of which the second refuses': `${BLOB}, worker-src 'self'`,
  'sandbox with origin': 'sandbox allow-scripts allow-same-origin',
  'sandbox without origin': 'sandbox allow-scripts',
  'sandbox with origin and worker-src self':
    "sandbox allow-scripts allow-same-origin; worker-src 'self'",
};
const WAYS = ['header', 'report-only', 'meta'] as const;
export type Way = (typeof WAYS)[number];
/** Documents can't set `sandbox` or two policies themselves; report-only policies can't sandbox. */
const isPossible = (name: string, way: Way): boolean =>
  way === 'header' || !(name.startsWith('sandbox') || (way === 'meta' && name.startsWith('two')));

/** For a worker that doesn't answer. */
const SILENCE = 'silence';
/**
 * Next to an open toolbox, Firefox sometimes permanently stops a worker that creates another one,
 * including its timers, even if nothing is recorded. A page with such a worker is reloaded.
 */
const FIREFOX_LOADS = 5;

const WORKER = `
const said = {};
const attempt = async (name, run) => { try { said[name] = await run(); } catch (e) { said[name] = e.name; } };
(async () => {
  await attempt('fetch', async () => (await fetch(location.protocol === 'blob:' ? origin + '/data' : '/data')).status);
  await attempt('elsewhere', async () => (await fetch('ELSEWHERE/data')).status);
  await attempt('eval', () => new Function('return 1')());
  await attempt('wasm', () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof WebAssembly.Module);
  await attempt('worker', () => new Promise((done) => {
    const worker = new Worker(origin + '/nested.js');
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = () => done('error');
  }));
  self.postMessage(said);
})();`;
const RUN = `
const seen = [];
const bare = (url) => url?.replace(/^blob:.*/, 'blob');
addEventListener('securitypolicyviolation', (e) => seen.push([e.effectiveDirective, bare(e.blockedURI), e.disposition]));
const observes = typeof ReportingObserver === 'function'; // Firefox has none
if (observes) new ReportingObserver((reports) => {
  for (const { type, body } of reports) seen.push([type, body.effectiveDirective, bare(body.blockedURL), body.disposition]);
}, { buffered: true }).observe();
const outcome = (make) => new Promise((done) => {
  setTimeout(done, 10000, '${SILENCE}');
  try {
    const worker = make();
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = (e) => (e.preventDefault(), done('error: ' + (e.message ?? '')));
  } catch (e) { done('threw ' + e.name); }
});
const from = (part, type) => {
  const url = URL.createObjectURL(new Blob([part], { type: 'text/javascript' }));
  const worker = new Worker(url, { type });
  URL.revokeObjectURL(url);
  return worker;
};
window.outcomes = (async () => {
  const text = document.querySelector('template').content.textContent;
  const bytes = new TextEncoder().encode(text);
  const cases = {
    classic: () => new Worker('/worker.js'),
    again: () => new Worker('/worker.js?again'),
    module: () => new Worker('/worker.js', { type: 'module' }),
    blob: () => from(text),
    'module from a blob': () => from(text, 'module'),
    'from bytes': () => from(bytes),
    'module from bytes': () => from(bytes, 'module'),
  };
  const results = {};
  for (const [name, make] of Object.entries(cases)) if ((results[name] = await outcome(make)) === '${SILENCE}') break;
  // an observer is notified later than the page's listeners
  const observed = () => seen.filter(([type]) => type === 'csp-violation').length;
  for (let i = 0; observes && i < 50 && observed() * 2 < seen.length; i++) await new Promise((done) => setTimeout(done, 10));
  return { results, seen };
})();
outcomes.then(() => (window.settled = true));`;

/** What a page sees of its workers. */
interface Outcome {
  results: Record<string, unknown>;
  seen: unknown[];
  console: string[];
  reports: string[];
}
const SCRIPT_HASH = `sha256-${createHash('sha256').update(RUN).digest('base64')}`;

/** The page, or the same in a frame, which has the policies of its parent. */
export type Place = 'page' | 'srcdoc';

/** Serves pages under these policies. */
export async function servePagePolicies() {
  const reports: string[] = [];
  let elsewhere = '';
  const body = async (request: IncomingMessage): Promise<string> => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    return text;
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const answer = (type: string, text: string, headers: Record<string, string> = {}): void =>
      void response
        .writeHead(200, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*', ...headers })
        .end(text);
    const worker = WORKER.replace('ELSEWHERE', elsewhere);
    if (pathname === '/report')
      void body(request).then((text) => {
        const report = (JSON.parse(text) as { 'csp-report': Record<string, string> })['csp-report'];
        reports.push(
          `${report['effective-directive']} ${report['blocked-uri']?.replace(/^blob.*/, 'blob')}`,
        );
        answer('text/plain', '');
      });
    else if (pathname === '/worker.js') answer('text/javascript', worker);
    else if (pathname === '/nested.js') answer('text/javascript', 'postMessage(1)');
    else if (pathname === '/run.js') answer('text/javascript', RUN);
    else if (pathname === '/data') answer('application/json', '1');
    else if (!searchParams.has('policy')) answer('text/html', '');
    else {
      const name = searchParams.get('policy')!;
      const policy = PAGE_POLICIES[name]!.replace(HASH, SCRIPT_HASH);
      const way = searchParams.get('way') as Way;
      const script = name.startsWith('hash')
        ? `<script>${RUN}</script>`
        : `<script nonce="${NONCE}" src="/run.js"></script>`;
      const head = `<title>policy</title>${way === 'meta' ? `<meta http-equiv="Content-Security-Policy" content="${policy}">` : ''}`;
      const app = `<template>${worker}</template>${script}`;
      const quoted = app.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      const reported = policy
        .split(',')
        .map((one) => `${one}; report-uri /report`)
        .join();
      answer(
        'text/html',
        `<!doctype html>${head}${searchParams.get('place') === 'srcdoc' ? `<iframe srcdoc="${quoted}"></iframe>` : app}`,
        {
          ...(way === 'header' && { 'Content-Security-Policy': reported }),
          ...(way === 'report-only' && { 'Content-Security-Policy-Report-Only': reported }),
        },
      );
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  elsewhere = `http://127.0.0.1:${port}`;
  return {
    /** A page without a policy. */
    plain: `http://localhost:${port}/`,
    url: (policy: string, way: Way, place: Place = 'page') =>
      `http://localhost:${port}/?policy=${encodeURIComponent(policy)}&way=${way}&place=${place}`,
    /** Reports since the last call; waits a short time for more until there are enough. */
    async takeReports(enough: (reports: readonly string[]) => boolean) {
      for (let i = 0; i < 100 && !enough(reports); i++)
        await new Promise((done) => setTimeout(done, 20));
      return reports.splice(0).sort();
    },
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
export type PolicyServer = Awaited<ReturnType<typeof servePagePolicies>>;

/**
 * What the app sees in this tab when it is loaded at this address. @param enough whether these are
 * all reports of what the page has seen
 */
async function outcomeOfLoad(
  page: Page,
  server: PolicyServer,
  url: string,
  enough: (reports: readonly string[], seen: unknown[]) => boolean,
): Promise<Outcome> {
  const lines: string[] = [];
  const onLine = (message: { type(): string; text(): string }): void =>
    void lines.push(`${message.type()}: ${message.text().replace(/blob:[^'"\s]+/g, 'blob')}`);
  page.on('console', onLine);
  await page.goto(url);
  type App = {
    settled?: boolean;
    outcomes: Promise<Pick<Outcome, 'results' | 'seen'>>;
  };
  const app = page.frames().find((frame) => frame.url() === 'about:srcdoc') ?? page;
  await app.waitForFunction(() => (globalThis as unknown as App).settled, {
    polling: 50,
    timeout: 30_000,
  });
  const { results, seen } = await app.evaluate(() => (globalThis as unknown as App).outcomes);
  const reports = await server.takeReports((came) => enough(came, seen));
  page.off('console', onLine);
  return { results, seen, console: lines.sort(), reports };
}

/** @throws if a worker doesn't report */
async function outcomeOf(...of: Parameters<typeof outcomeOfLoad>): Promise<Outcome> {
  const inFirefox = /firefox/i.test(await of[0].browser().version());
  for (let left = inFirefox ? FIREFOX_LOADS : 1; ;) {
    const outcome = await outcomeOfLoad(...of);
    if (!Object.values(outcome.results).includes(SILENCE)) return outcome;
    if (--left === 0) throw new Error(`a worker says nothing: ${JSON.stringify(outcome.results)}`);
  }
}

/** One of these pages, and how it gets its policy. */
export type PolicyCase = [policy: string, way: Way, place?: Place];
/** Every policy in every way. */
export const POLICY_CASES: PolicyCase[] = Object.keys(PAGE_POLICIES).flatMap((policy) =>
  WAYS.filter((way) => isPossible(policy, way)).map((way): PolicyCase => [policy, way]),
);

/** What an app sees in an unrecorded tab. */
export const seenWithout = (page: Page, server: PolicyServer, of: PolicyCase): Promise<Outcome> =>
  outcomeOf(page, server, server.url(...of), (came, seen) => {
    if (of[1] === 'meta') return true; // sends no reports to a server
    // if the page has an observer, it gets each of its own reports twice
    const own = seen.filter((one) => (one as string[])[0] !== 'csp-violation');
    return came.length >= own.length;
  });

/** Differences that an app sees in a recorded tab, one line each. */
export async function differencesFrom(
  without: Outcome,
  page: Page,
  server: PolicyServer,
  of: PolicyCase,
): Promise<string[]> {
  const during = await outcomeOf(
    page,
    server,
    server.url(...of),
    (came) => missingOf(without.reports, came).length === 0,
  );
  return differencesOf(without, during);
}

export async function differencesUnder(
  tabs: { native: Page; recorded: Page },
  server: PolicyServer,
  ...of: PolicyCase
): Promise<string[]> {
  return differencesFrom(await seenWithout(tabs.native, server, of), tabs.recorded, server, of);
}

/** Open DevTools request this from the page's server, on behalf of the page. */
const OF_DEVTOOLS = '/.well-known/appspecific/com.chrome.devtools.json';

/** The elements of `lines` that `others` lacks, with their multiplicity. */
function missingOf(lines: readonly string[], others: readonly string[]): string[] {
  const rest = [...others];
  return lines.filter((line) => {
    const at = rest.indexOf(line);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

function differencesOf(without: Outcome, during: Outcome): string[] {
  const differ: string[] = [];
  for (const key of Object.keys(without.results)) {
    const [a, b] = [JSON.stringify(without.results[key]), JSON.stringify(during.results[key])];
    if (a !== b) differ.push(`${key}: ${a} -> ${b}`);
  }
  for (const key of ['seen', 'console', 'reports'] as const) {
    const [a, b] = [
      without[key].map((v) => JSON.stringify(v)),
      during[key].map((v) => JSON.stringify(v)),
    ];
    differ.push(...missingOf(a, b).map((line) => `${key} lacks ${line}`));
    const more = missingOf(b, a).filter((line) => !line.includes(OF_DEVTOOLS));
    differ.push(...more.map((line) => `${key} has ${line}`));
  }
  return differ;
}
