/**
 * The check of built folders: it finds what a browser lacks in manifest and scripts, by any name,
 * and ignores third-party code.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { faultsIn, judge, type Fault, type Waiver } from '../../tools/check/compat-gate.mjs';

const MANIFEST = {
  manifest_version: 3,
  name: 'planted',
  version: '1',
  background: { scripts: ['background.js'] },
  permissions: ['storage'],
  browser_specific_settings: { safari: { strict_min_version: '18.4' } },
};
const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

/** Keys of faults found in a folder of these files, for Safari. */
function faults(files: Record<string, string>, manifest: object = {}): Fault[] {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-compat-'));
  folders.push(folder);
  const all = { 'manifest.json': JSON.stringify({ ...MANIFEST, ...manifest }), ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return faultsIn(folder, 'safari');
}
const keys = (source: string): string[] =>
  faults({ 'background.js': source }).map(({ key }) => key);

describe('planted misuse is caught', () => {
  test('a permission, and a key of the manifest', () => {
    const found = faults(
      {},
      { permissions: ['storage', 'downloads', 'debugger'], side_panel: { default_path: 'x.html' } },
    );
    expect(found.map(({ key }) => key)).toEqual([
      'manifest.permissions.downloads',
      'manifest.permissions.debugger',
      'manifest.side_panel',
      'manifest.side_panel.default_path',
    ]);
    expect(found[0]).toMatchObject({
      browser: 'safari',
      cause: 'not supported (safari 18.4)',
      where: 'manifest.json',
    });
  });

  test('an API, by every name that the bundle gives it', () => {
    const door =
      'const api = globalThis.browser ?? chrome; const api$1 = globalThis.browser ?? chrome;';
    expect(keys(`${door}\napi.tabs.get(1);\napi$1.downloads?.download({});`)).toEqual([
      'api.downloads.download',
    ]);
    expect(keys('(function () { chrome.runtime.getContexts({}); })();')).toEqual([
      'api.runtime.getContexts',
    ]);
    expect(keys('globalThis.browser.debugger.attach({});')).toEqual(['api.debugger']);
    expect(faults({ 'a/b.js': `${door}\n\napi.management.getSelf();` })[0]?.where).toBe('a/b.js:3');
  });

  test('unreadable code is a fault in itself', () => {
    expect(keys('const { downloads } = browser;')).toEqual(['browser']);
    expect(keys("browser['debugger'].attach({});")).toEqual(['browser']);
    expect(keys('const api = globalThis.browser ?? chrome; use(api);')).toEqual(['api']);
  });

  test('except the polyfill, identified by its place', () => {
    const polyfill = 'globalThis.browser = wrap(chrome);';
    expect(faults({ 'browser-polyfill.min.js': polyfill })).toEqual([]);
    expect(faults({ 'a/browser-polyfill.min.js': polyfill })).not.toEqual([]);
  });

  test('static methods that are newer than the oldest browser', () => {
    const [found] = faults({
      'background.js': 'Math.sumPrecise([1]); Promise.withResolvers(); Object.keys({});',
    });
    expect(found).toMatchObject({ key: 'Math.sumPrecise', cause: 'since 26.2 only (safari 18.4)' });
  });

  test("files that don't belong in a package, and a manifest that names no oldest browser", () => {
    expect(
      faults({ 'a.js.map': '{}', '.DS_Store': '' })
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['.DS_Store', 'a.js.map']);
    expect(faults({}, { browser_specific_settings: {} })).toHaveLength(1);
  });
});

test('names of something else are ignored', () => {
  const own = 'const browser = { chrome: 1 }; browser.downloads;';
  expect(
    keys(`(function () { ${own} })(); function f(chrome) { return chrome.debugger; }`),
  ).toEqual([]);
  expect(keys(`${own} export {};`)).toEqual([]);
  expect(
    keys(
      'const api = globalThis.browser ?? chrome; function g(api) { api.declare(); } x.browser.debugger; ({ chrome: 1 });',
    ),
  ).toEqual([]);
});

test('a waiver excuses only its browser, and an unneeded one is a fault', () => {
  const fault: Fault = { key: 'api.a', browser: 'safari', cause: 'not supported', where: 'x.js:1' };
  const waiver = (browsers: Waiver['browsers']): Waiver => ({
    key: 'api.a',
    browsers,
    reason: 'r',
  });
  expect(judge([fault], [waiver(['safari'])])).toEqual([]);
  expect(judge([fault], [waiver(['firefox'])])).toEqual([
    'api.a: not supported, used in x.js:1',
    expect.stringContaining('excuses api.a in firefox, which needs no excuse'),
  ]);
});

test('every waiver gives a reason', () => {
  const waivers = JSON.parse(readFileSync('tools/check/compat-waivers.json', 'utf8')) as Waiver[];
  for (const { key, browsers, reason } of waivers)
    expect([key, browsers.length > 0, reason.length > 15]).toEqual([key, true, true]);
});
