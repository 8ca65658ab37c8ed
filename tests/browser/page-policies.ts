/**
 * Page policies (CSP, Trusted Types, sandbox; as a header and in the document), and what an app under each can see of its workers: what
 * they answer, what the console says, which violations the page hears of, and which reports reach the server.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'puppeteer-core';
import { injectHook } from './hooks-harness.ts';

const NONCE = 'abc123';
/** Everything that the page itself needs, so that a policy forbids what is looked at and nothing else. */
const self = (rest: string): string => `script-src 'self' 'nonce-${NONCE}'; ${rest}`;

/** Name -> policy. */
export const PAGE_POLICIES: Record<string, string> = {
  'connect-src self': "connect-src 'self'",
  'connect-src self and blob': "connect-src 'self' blob:",
  'connect-src none': "connect-src 'none'",
  'default-src self': `default-src 'self'; script-src 'self' 'nonce-${NONCE}'`,
  'default-src self and blob': `default-src 'self' blob:; script-src 'self' blob: 'nonce-${NONCE}' 'unsafe-eval'`,
  'worker-src self': "worker-src 'self'",
  'worker-src blob': "worker-src 'self' blob:",
  'worker-src none': "worker-src 'none'",
  'child-src self': "child-src 'self'",
  'script-src self': self(''),
  'script-src self, worker-src blob': self("worker-src 'self' blob:"),
  'script-src self and eval, worker-src blob': `script-src 'self' 'unsafe-eval' 'nonce-${NONCE}'; worker-src 'self' blob:`,
  'script-src self and wasm, worker-src blob': `script-src 'self' 'wasm-unsafe-eval' 'nonce-${NONCE}'; worker-src 'self' blob:`,
  'strict-dynamic': `script-src 'strict-dynamic' 'nonce-${NONCE}'`,
  'strict-dynamic and eval': `script-src 'strict-dynamic' 'unsafe-eval' 'nonce-${NONCE}'`,
  'nonce alone, worker-src blob': `script-src 'nonce-${NONCE}'; worker-src 'self' blob:`,
  'trusted types': "require-trusted-types-for 'script'",
  'trusted types with a policy name': "require-trusted-types-for 'script'; trusted-types cases",
  'sandbox with origin': 'sandbox allow-scripts allow-same-origin',
  'sandbox without origin': 'sandbox allow-scripts',
};
/** Of `sandbox` a document cannot speak itself; everything else comes both ways. */
export const WAYS = ['header', 'meta'] as const;
export const isPossible = (name: string, way: (typeof WAYS)[number]): boolean => way === 'header' || !name.startsWith('sandbox');

const WORKER = `
const said = {};
const attempt = async (name, run) => { try { said[name] = await run(); } catch (e) { said[name] = e.name; } };
(async () => {
  await attempt('fetch', async () => (await fetch(location.protocol === 'blob:' ? origin + '/data' : '/data')).status);
  await attempt('elsewhere', async () => (await fetch('ELSEWHERE/data')).status);
  await attempt('eval', () => new Function('return 1')());
  await attempt('wasm', () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) instanceof WebAssembly.Module);
  self.postMessage(said);
})();`;
const RUN = `
const seen = [];
addEventListener('securitypolicyviolation', (e) => seen.push([e.effectiveDirective, e.blockedURI.replace(/^blob:.*/, 'blob'), e.disposition]));
const outcome = (make) => new Promise((done) => {
  try {
    const worker = make();
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = (e) => (e.preventDefault(), done('error: ' + (e.message ?? '')));
  } catch (e) { done('threw ' + e.name); }
});
const fromText = (text, type) => {
  const url = URL.createObjectURL(new Blob([text]));
  const worker = new Worker(url, { type });
  URL.revokeObjectURL(url);
  return worker;
};
window.outcomes = async () => {
  const text = document.querySelector('template').content.textContent;
  const results = {
    classic: await outcome(() => new Worker('/worker.js')),
    again: await outcome(() => new Worker('/worker.js?again')),
    module: await outcome(() => new Worker('/worker.js', { type: 'module' })),
    blob: await outcome(() => fromText(text)),
    'module from a blob': await outcome(() => fromText(text, 'module')),
  };
  await new Promise((done) => setTimeout(done)); // what was reported with the last of them
  return { results, seen };
};`;

export interface Outcome {
  results: Record<string, unknown>;
  seen: unknown[];
  console: string[];
  reports: string[];
  /** How many workers the recording holds. */
  workers: number;
}

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
      void response.writeHead(200, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*', ...headers }).end(text);
    const worker = WORKER.replace('ELSEWHERE', elsewhere);
    if (pathname === '/report')
      void body(request).then((text) => {
        const report = (JSON.parse(text) as { 'csp-report': Record<string, string> })['csp-report'];
        reports.push(`${report['effective-directive']} ${report['blocked-uri']?.replace(/^blob.*/, 'blob')}`);
        answer('text/plain', '');
      });
    else if (pathname === '/worker.js') answer('text/javascript', worker);
    else if (pathname === '/run.js') answer('text/javascript', RUN);
    else if (pathname === '/data') answer('application/json', '1');
    else {
      const policy = PAGE_POLICIES[searchParams.get('policy')!]!;
      const meta = searchParams.get('way') === 'meta';
      const page = `<!doctype html><title>policy</title>${meta ? `<meta http-equiv="Content-Security-Policy" content="${policy}">` : ''}
        <template>${worker}</template><script nonce="${NONCE}" src="/run.js"></script>`;
      answer('text/html', page, meta ? {} : { 'Content-Security-Policy': `${policy}; report-uri /report` });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  elsewhere = `http://127.0.0.1:${port}`;
  return {
    url: (policy: string, way: string) => `http://localhost:${port}/?policy=${encodeURIComponent(policy)}&way=${way}`,
    /** Reports that have come since the last call. */
    takeReports: () => reports.splice(0),
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** What the app sees under a policy. @param hook null = nothing of ours runs */
export async function underPolicy(
  browser: Browser,
  server: Awaited<ReturnType<typeof servePagePolicies>>,
  policy: string,
  way: string,
  hook: string | null,
): Promise<Outcome> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const lines: string[] = [];
  page.on('console', (message) => lines.push(`${message.type()}: ${message.text().replace(/blob:\S+/g, 'blob')}`));
  if (hook !== null) await injectHook(page, hook);
  await page.goto(server.url(policy, way));
  const { results, seen } = await page.evaluate(() =>
    (window as unknown as { outcomes(): Promise<Pick<Outcome, 'results' | 'seen'>> }).outcomes(),
  );
  const workers = await page.evaluate(() => window.vfscopeStandIn?.hellos.filter(({ kind }) => kind === 'worker').length ?? 0);
  await page.evaluate(() => fetch('/data').catch(() => null)); // behind the reports on their way
  await context.close();
  return { results, seen, console: lines.sort(), reports: server.takeReports().sort(), workers };
}
