// Apps whose packages need a bundler: `<file>.js?bundle` is that file with all of its imports, as
// one ES module. It is built again at each request, so that a reload shows an edit, and never
// stored. A worker's script is requested the same way: new Worker('worker.js?bundle').
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Node modules that old Emscripten glue requests behind "are we in Node?", which browsers never
 * reach.
 */
const NODE_ONLY = ['fs', 'path', 'crypto'];

/** Packages that find their workers and modules by their own URL, as Vite supports. */
const BY_ADDRESS = /[/\\]node_modules[/\\](sqlocal|@evolu)[/\\].*\.m?js$/;

/**
 * In these packages, `import.meta.url` is the module's URL on the server instead of the bundle's. A
 * module worker's script is bundled, too.
 * @param {string} base path before /node_modules/
 */
const byAddress = (base) => ({
  name: 'by-address',
  setup({ onLoad }) {
    onLoad({ filter: BY_ADDRESS }, async ({ path: file }) => {
      const url = `${base}/${file.slice(file.indexOf('node_modules')).replaceAll(path.sep, '/')}`;
      const text = await readFile(file, 'utf8');
      const contents = text
        .replace(
          /(new Worker\(\s*new URL\()(['"])([^'"]+)\2(?=, import\.meta\.url\),\s*\{\s*type: ['"]module)/g,
          (_, start, quote, script) => {
            const whole = existsSync(path.join(path.dirname(file), script))
              ? script
              : `${script}.js`;
            return `${start}${quote}${whole}?bundle${quote}`;
          },
        )
        .replaceAll('import.meta.url', `(location.origin + ${JSON.stringify(url)})`);
      return { contents };
    });
  },
});

/**
 * @param {string} file absolute path of an app's module, or of a package's worker
 * @param {string} base path of the server's variant: '' or '/coi'
 * @returns {Promise<Uint8Array>} the bundle; rejects with esbuild's messages if an import isn't
 * found
 */
export async function bundle(file, base) {
  // Loaded at the first request, because most tests that use the server need no bundler.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: NODE_ONLY,
    plugins: [byAddress(base)],
    logLevel: 'silent',
    absWorkingDir: path.dirname(file),
  });
  return outputFiles[0].contents;
}
