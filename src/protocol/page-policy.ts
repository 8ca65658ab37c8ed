/**
 * What the policies of a page (Content Security Policy Level 3) refuse to the scripts that start
 * our workers. A violation can't be undone: the page, its console, and its report collector see it.
 * So we find out before the first worker: the background reads the response's headers, and the
 * content script reads the document's meta elements and answers the hook.
 */

/**
 * types: a script URL that is plain text (Trusted Types). blob: a worker from a blob: URL. import:
 * some script of the page's origin, as a worker or imported by one. copy: importScripts of a blob:
 * URL. wasm: WebAssembly, which a worker's own response may allow. shared: starting a SharedWorker
 * of ours, because the policy was widened in this tab only and pages in other tabs couldn't join.
 * lifted: refuses nothing; Trusted Types were required, and that requirement, which still applies
 * to the page's own code, is removed.
 */
export const REFUSALS = ['types', 'blob', 'import', 'copy', 'wasm', 'lifted', 'shared'] as const;
export type Refusal = (typeof REFUSALS)[number];
/**
 * Asked before the others. Most pages have none of them, and each answer takes a round trip to the
 * content script's world.
 */
export const ANY_REFUSAL = 'any';

/** In the content script's world: an array of what the scripts below report. */
export const REFUSED_KEY = 'vfscopeRefused';
/**
 * Runs in the content script's world of a document whose headers refuse this (rollup.config.js
 * writes these scripts).
 */
export const policyScript = (refused: Refusal): string => `policy/${refused}.js`;

/** As in the headers, each with several policies separated by commas; '' = none. */
export interface Policies {
  enforced: string;
  /** Report-only policies. */
  reported: string;
}
export const allOf = ({ enforced, reported }: Policies): string =>
  [enforced, reported].filter(Boolean).join();

/** The first of several directives with the same name counts. */
function directivesOf(policy: string): Map<string, string[]> {
  const directives = new Map<string, string[]>();
  for (const directive of policy.split(';')) {
    const [name, ...values] = directive.trim().toLowerCase().split(/\s+/);
    if (name && !directives.has(name)) directives.set(name, values);
  }
  return directives;
}

const HOST_SOURCE = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[^*:/]+)(?::(\d+|\*))?\/?$/;
const DEFAULT_PORTS: Record<string, string> = { http: '80', https: '443' };
/** A source without a scheme takes the page's scheme. A secure URL matches an insecure source. */
const sameScheme = (source: string | undefined, scheme: string): boolean =>
  source === undefined || source === scheme || (source === 'http' && scheme === 'https');

/**
 * Does a source allow every script of this origin? A source with a path may allow only some, so it
 * doesn't count.
 */
function allowsOrigin(source: string, origin: URL): boolean {
  const scheme = origin.protocol.slice(0, -1);
  if (source === "'self'" || source === '*') return true;
  if (/^https?:$/.test(source)) return sameScheme(source.slice(0, -1), scheme);
  const [, sourceScheme, host, port] = HOST_SOURCE.exec(source) ?? [];
  if (!host || !sameScheme(sourceScheme, scheme)) return false;
  const sameHost = host.startsWith('*')
    ? origin.hostname.endsWith(host.slice(1))
    : origin.hostname === host;
  const own = origin.port || DEFAULT_PORTS[scheme];
  return sameHost && (port === '*' || own === (port ?? DEFAULT_PORTS[scheme]));
}

/**
 * Report-only policies count as refusals, because we would cause their reports.
 * @param policies as in a header, separated by commas
 * @param origin of the page
 */
export function refusalsOf(policies: string, origin: string): Refusal[] {
  const page = URL.canParse(origin) ? new URL(origin) : null;
  const refused = new Set<Refusal>();
  for (const policy of policies.split(',')) {
    const directives = directivesOf(policy);
    const sourcesOf = (...names: string[]): string[] | undefined =>
      directives.get(names.find((name) => directives.has(name)) ?? '');
    const workers = sourcesOf('worker-src', 'child-src', 'script-src', 'default-src');
    const scripts = sourcesOf('script-src-elem', 'script-src', 'default-src');
    const has = (sources: string[] | undefined, ...any: string[]): boolean =>
      !sources || any.some((source) => sources.includes(source));
    // scripts that scripts ask for are allowed with 'strict-dynamic', workers among them
    const allows = (sources: string[] | undefined, source: string): boolean =>
      has(sources, "'strict-dynamic'", source);
    if (directives.get('require-trusted-types-for')?.includes("'script'")) refused.add('types');
    if (!allows(workers, 'blob:')) refused.add('blob');
    if (!allows(scripts, 'blob:')) refused.add('copy');
    // what a worker of the page's origin needs natively, and its import in ours
    for (const sources of [workers, scripts])
      if (!allows(sources, '*') && !(page && sources!.some((source) => allowsOrigin(source, page))))
        refused.add('import');
    const code = sourcesOf('script-src', 'default-src');
    if (!has(code, "'unsafe-eval'", "'wasm-unsafe-eval'")) refused.add('wasm');
  }
  return [...refused];
}

/** A value that may change at the next load. A replacement would be outdated. */
const CHANGES = /'nonce-/i;
const NAMES = ['worker-src', 'child-src', 'script-src', 'default-src'];

/**
 * One policy, widened so that blob: workers start, from plain text addresses. Nothing else changes.
 */
function widen(policy: string): string {
  const directives = policy.split(';').map((directive) => directive.trim());
  const nameOf = (directive: string): string => directive.split(/\s/, 1)[0]!.toLowerCase();
  const found = NAMES.map((name) => directives.find((d) => nameOf(d) === name)).find(Boolean);
  const sources = found?.split(/\s+/).slice(1) ?? [];
  const kept = directives.filter(
    (d) =>
      d !== '' &&
      nameOf(d) !== 'worker-src' &&
      !(nameOf(d) === 'require-trusted-types-for' && /'script'/i.test(d)),
  );
  if (!found) return kept.join('; ');
  const others = sources.filter((source) => source.toLowerCase() !== "'none'");
  return [...kept, ['worker-src', ...new Set([...others, 'blob:'])].join(' ')].join('; ');
}

/**
 * The same policies with `blob:` in worker-src and without the Trusted Types requirement.
 * @param origin of the page
 * @returns null where that isn't needed, isn't enough, or may be wrong at the next load
 */
export function widened(policies: Policies, origin: string): Policies | null {
  const before = refusalsOf(allOf(policies), origin);
  if (!before.some((what) => what === 'blob' || what === 'types') || CHANGES.test(allOf(policies)))
    return null;
  const all = (text: string): string =>
    text && text.split(',').map(widen).filter(Boolean).join(', ');
  const after = { enforced: all(policies.enforced), reported: all(policies.reported) };
  const refused = refusalsOf(allOf(after), origin);
  return refused.some((what) => what !== 'copy') ? null : after;
}
