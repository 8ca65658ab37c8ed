// `npm run check -- compat`: compares every manifest key, every extension API, and every static
// member of the web platform and the language in the built folders with MDN's compatibility data,
// for the oldest browser that each manifest admits. Whatever the data lacks or forbids needs a line
// in tools/check/compat-waivers.json with the reason why it is correct. Unused lines are faults,
// too.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import bcd from '@mdn/browser-compat-data' with { type: 'json' };
import { usesIn } from './compat-uses.mjs';

/** The oldest version that a manifest admits. */
const OLDEST = {
  chrome: (m) => m.minimum_chrome_version,
  firefox: (m) => m.browser_specific_settings?.gecko?.strict_min_version,
  safari: (m) => m.browser_specific_settings?.safari?.strict_min_version,
};
/**
 * Not checked: it passes on the whole of `chrome`, and checks for every method before it wraps it.
 * It uses nothing itself.
 */
const POLYFILL = 'browser-polyfill.min.js';
const at = (root, keys) =>
  keys.reduce((o, k) => (o && Object.hasOwn(o, k) ? o[k] : undefined), root)?.__compat;
const extension = (keys) => at(bcd.webextensions, keys);

function compare(a, b) {
  const [x, y] = [a, b].map((v) => String(v).replace('≤', '').split('.').map(Number));
  for (let i = 0; i < 3; i++) if ((x[i] ?? 0) !== (y[i] ?? 0)) return (x[i] ?? 0) - (y[i] ?? 0);
  return 0;
}

/** null if a browser of this version has it; otherwise the reason why not. */
function missing(record, browser, version) {
  const support = record?.support?.[browser];
  if (!support) return 'unknown to the compatibility data';
  let cause = 'not supported';
  for (const s of [support].flat()) {
    if (
      s.flags ||
      s.version_added === 'preview' ||
      (typeof s.version_removed === 'string' && compare(s.version_removed, version) <= 0)
    )
      continue;
    if (typeof s.version_added !== 'string' && s.version_added !== true) continue;
    if (s.version_added === true || compare(s.version_added, version) <= 0) return null;
    cause = `since ${s.version_added} only`;
  }
  return cause;
}

/** The keys of a manifest, as the data names them. */
function* manifestKeys(value, keys = ['manifest']) {
  if (Array.isArray(value)) {
    const permissions = /(?<!host_)permissions$/.test(keys.at(-1)); // those of hosts are patterns
    for (const item of value)
      if (typeof item === 'object') yield* manifestKeys(item, keys);
      else if (permissions) yield ['manifest', 'permissions', item];
  } else if (value !== null && typeof value === 'object')
    for (const [key, inner] of Object.entries(value)) {
      const mine = [...keys, key];
      // nothing to look up below the data's depth, or if the keys are image sizes
      if (keys.length === 1 || extension(mine)) yield mine;
      yield* manifestKeys(inner, mine);
    }
}

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

/**
 * The record of something used in a script; for `api.tabs.onRemoved.addListener`, the longest known
 * part.
 */
function recordOf({ kind, keys }) {
  if (kind === 'extension') {
    let known = ['api', ...keys];
    while (known.length > 2 && !extension(known)) known = known.slice(0, -1);
    // devtools.panels is under `api.devtools`; a namespace has no record
    return { key: known.join('.'), record: extension(known) };
  }
  const [object, member] = keys;
  return {
    key: keys.join('.'),
    record:
      at(bcd.javascript.builtins, [object, member]) ?? at(bcd.api, [object, `${member}_static`]),
  };
}

/**
 * What a built folder uses and its oldest browser lacks.
 * @param {string} folder with manifest.json
 * @param {'chrome' | 'firefox' | 'safari'} browser
 * @returns {{ key: string, browser: string, cause: string, where: string }[]} each key once;
 * without waivers
 */
export function faultsIn(folder, browser) {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const version = OLDEST[browser](manifest);
  if (!version)
    return [
      { key: 'manifest', browser, cause: 'no oldest version is declared', where: 'manifest.json' },
    ];
  const found = new Map();
  const look = (key, cause, where) =>
    cause &&
    !found.has(key) &&
    found.set(key, { key, browser, cause: `${cause} (${browser} ${version})`, where });
  for (const keys of manifestKeys(manifest))
    look(keys.join('.'), missing(extension(keys), browser, version), 'manifest.json');
  for (const file of filesIn(folder)) {
    const name = relative(folder, file);
    if (/(^|\/)\.|\.map$/.test(name)) look(name, 'does not belong into a package', name);
    if (!file.endsWith('.js') || name === POLYFILL) continue;
    for (const use of usesIn(readFileSync(file, 'utf8'))) {
      const where = `${name}:${use.line}`;
      if (use.kind === 'unreadable')
        look(
          use.keys.join('.'),
          'the extension API is used in a way that cannot be checked: write out its members',
          where,
        );
      else {
        const { key, record } = recordOf(use);
        if (record || use.kind === 'extension') look(key, missing(record, browser, version), where);
      }
    }
  }
  return [...found.values()];
}

/** Faults without a waiver, and waivers without a fault. @returns {string[]} for people */
export function judge(faults, waivers) {
  const excuses = ({ key, browser }) =>
    waivers.find((w) => w.key === key && w.browsers.includes(browser));
  const stale = waivers.flatMap((w) =>
    w.browsers
      .filter((b) => !faults.some((f) => f.key === w.key && f.browser === b))
      .map((b) => `${w.key} in ${b}`),
  );
  return [
    ...faults
      .filter((f) => !excuses(f))
      .map(({ key, cause, where }) => `${key}: ${cause}, used in ${where}`),
    ...stale.map(
      (text) =>
        `tools/check/compat-waivers.json excuses ${text}, which needs no excuse: take that out`,
    ),
  ];
}

function main(dist) {
  const browsers = Object.keys(OLDEST);
  const absent = browsers.filter((b) => !existsSync(join(dist, b, 'manifest.json')));
  if (absent.length) {
    console.error(`${join(dist, absent[0])} is not built; to fix it: npm run build`);
    return 1;
  }
  const waivers = JSON.parse(
    readFileSync(join(import.meta.dirname, 'compat-waivers.json'), 'utf8'),
  );
  const faults = browsers.flatMap((b) => faultsIn(join(dist, b), b));
  const open = judge(faults, waivers);
  for (const text of open) console.error(text);
  console.log(
    `${browsers.join(', ')}: ${open.length} faults, ${faults.length - open.filter((t) => t.includes('used in')).length} waived`,
  );
  return open.length ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exit(main(process.argv[2] ?? process.env.VFSCOPE_DIST ?? 'dist'));
