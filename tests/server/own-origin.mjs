// Apps that come built, as their package ships them. Their pages ask for absolute paths, so each has origins of its own: all whose label is
// its name, or begins with it and a hyphen (http://actual-1.localhost:<port>/).
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/** Name -> folder of the built app, with the headers and rewrites that it asks of a static host in `_headers` and `_redirects`. */
const APPS = { actual: '@actual-app/web/build' };

/**
 * @param {string} host of the request @param {string} pathname decoded
 * @returns {Promise<{ file: string, headers: Record<string, string> } | null>} null where that origin is not such an app's, and for /nothing, its page without the app
 */
export async function ownOrigin(host, pathname) {
  const name = /^(\w+)(-[\w-]+)?\.localhost(:|$)/.exec(host)?.[1];
  if (name === undefined || !Object.hasOwn(APPS, name) || pathname === '/nothing') return null;
  const root = path.join(PACKAGES, APPS[name]);
  const file = path.join(root, pathname);
  const found = file.startsWith(root + path.sep) && (await stat(file).catch(() => null))?.isFile();
  return {
    file: found ? file : path.join(root, 'index.html'), // _redirects: every other path is the page
    headers: { 'Cache-Control': 'no-store', ...(await headersOf(root)) },
  };
}

/** Those for all paths. What it sends for some paths only are the same policy again, and types. */
async function headersOf(root) {
  const [, all] = /^\/\*\n((?: +.*\n)+)/.exec(await readFile(path.join(root, '_headers'), 'utf8'));
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
