// Apps whose packages are made for a bundler: `<file>.js?bundle` is that file and all that it imports, as one ES module. Made anew at each
// request, so that a reload shows an edit; nothing is stored. A worker's script is asked for in the same way: new Worker('worker.js?bundle').
import path from 'node:path';

/** The parts of Node that old Emscripten glue asks for behind "are we in Node?": never reached in a browser. */
const NODE_ONLY = ['fs', 'path', 'crypto'];

/**
 * @param {string} file an app's module, absolute
 * @returns {Promise<Uint8Array>} the bundle; rejects with esbuild's messages where an import is not found
 */
export async function bundle(file) {
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
    logLevel: 'silent',
    absWorkingDir: path.dirname(file),
  });
  return outputFiles[0].contents;
}
