// Apps whose packages are made for a bundler: `<file>.js?bundle` is that file and all that it imports, as one ES module. Made anew at each
// request, so that a reload shows an edit; nothing is stored. A worker's script is asked for in the same way: new Worker('worker.js?bundle').
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The parts of Node that old Emscripten glue asks for behind "are we in Node?": never reached in a browser. */
const NODE_ONLY = ['fs', 'path', 'crypto'];

/** Packages that find their workers and modules by their own address, as Vite lets them. */
const BY_ADDRESS = /[/\\]node_modules[/\\](sqlocal|@evolu)[/\\].*\.m?js$/;

/**
 * `import.meta.url` of those is where the server has the module, and not where the bundle is; a module worker's script is bundled in its turn.
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
 * @param {string} file an app's module, or a worker's of a package, absolute
 * @param {string} base path of the server's variant: '' or '/coi'
 * @returns {Promise<Uint8Array>} the bundle; rejects with esbuild's messages where an import is not found
 */
export async function bundle(file, base) {
  // Loaded when the first app asks: most tests that use the server need no bundler.
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
