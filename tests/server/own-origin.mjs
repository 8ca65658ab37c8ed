// Apps that come prebuilt, as their package ships them. Their pages request absolute paths, so each
// app has its own origins: every host whose label is the app's name, or begins with it and a hyphen
// (http://actual-1.localhost:<port>/), also as a site (http://actual.site.localhost:<port>/).
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildApp } from './build-app.mjs';

const PACKAGES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/**
 * Name -> folder of the built app, whose `_headers` and `_redirects` files set a static host's
 * headers and rewrites.
 */
const APPS = {
  actual: () => path.join(PACKAGES, '@actual-app/web/build'),
  esbuild: () => buildApp('esbuild'),
  livestore: () => buildApp('livestore'),
  rollup: () => buildApp('rollup'),
  vite: () => buildApp('vite'),
  webpack: () => buildApp('webpack'),
};

/**
 * @param {string} host of the request
 * @param {string} pathname decoded
 * @returns {Promise<{ file: string, headers: Record<string, string> } | null>} null if the origin
 * belongs to no such app, and for /nothing, its page without the app
 */
export async function ownOrigin(host, pathname) {
  const name = /^(\w+)(-[\w-]+)?(\.[\w-]+)?\.localhost(:|$)/.exec(host)?.[1];
  if (name === undefined || !Object.hasOwn(APPS, name) || pathname === '/nothing') return null;
  const root = await APPS[name]();
  const file = path.join(root, pathname);
  const found = file.startsWith(root + path.sep) && (await stat(file).catch(() => null))?.isFile();
  return {
    // _redirects: every other path gets the page
    file: found ? file : path.join(root, 'index.html'),
    headers: { 'Cache-Control': 'no-store', ...(await headersOf(root)) },
  };
}

/** Headers for all paths. Those for single paths only repeat the policy, or set types. */
async function headersOf(root) {
  const file = path.join(root, '_headers');
  if (!existsSync(file)) return {};
  const [, all] = /^\/\*\n((?: +.*\n)+)/.exec(await readFile(file, 'utf8'));
  return Object.fromEntries(
    all
      .trim()
      .split('\n')
      .map((line) => {
        const [, name, value] = /^ *([\w-]+): (.*)$/.exec(line);
        return [name, value];
      }),
  );
}
