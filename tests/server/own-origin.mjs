// Apps that come built, as their package ships them. Their pages ask for absolute paths, so each has origins of its own: all whose label is
// its name, or begins with it and a hyphen (http://actual-1.localhost:<port>/), of sites, too (http://actual.site.localhost:<port>/).
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildApp } from './build-app.mjs';

const PACKAGES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/** Name -> folder of the built app, which may ask headers and rewrites of a static host in `_headers` and `_redirects`. */
const APPS = {
  actual: () => path.join(PACKAGES, '@actual-app/web/build'),
  esbuild: () => buildApp('esbuild'),
  livestore: () => buildApp('livestore'),
  rollup: () => buildApp('rollup'),
  vite: () => buildApp('vite'),
  webpack: () => buildApp('webpack'),
};

/**
 * @param {string} host of the request @param {string} pathname decoded
 * @returns {Promise<{ file: string, headers: Record<string, string> } | null>} null where that origin is not such an app's, and for /nothing, its page without the app
 */
export async function ownOrigin(host, pathname) {
  const name = /^(\w+)(-[\w-]+)?(\.[\w-]+)?\.localhost(:|$)/.exec(host)?.[1];
  if (name === undefined || !Object.hasOwn(APPS, name) || pathname === '/nothing') return null;
  const root = await APPS[name]();
  const file = path.join(root, pathname);
  const found = file.startsWith(root + path.sep) && (await stat(file).catch(() => null))?.isFile();
  return {
    file: found ? file : path.join(root, 'index.html'), // _redirects: every other path is the page
    headers: { 'Cache-Control': 'no-store', ...(await headersOf(root)) },
  };
}

/** Those for all paths. What it sends for some paths only are the same policy again, and types. */
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
