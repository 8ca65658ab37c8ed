// `node build.mjs <folder>` builds the app into that folder.
import { copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import resolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
import { minify } from 'rollup-plugin-esbuild';

const [, , folder] = process.argv;
const ofApp = {
  name: 'of-app',
  /** A module that exports its bytes as a data: URL. */
  async load(id) {
    if (!id.endsWith('.wasm')) return null;
    const bytes = await readFile(id, 'base64');
    return `export default 'data:application/wasm;base64,${bytes}'`;
  },
  /** by default Rollup uses the document, which a worker doesn't have */
  resolveImportMeta: (property) => (property === 'url' ? 'self.location.href' : null),
};
for (const name of ['main.js', 'worker.js']) {
  const bundle = await rollup({
    input: path.join(import.meta.dirname, name),
    plugins: [ofApp, resolve({ browser: true }), minify({ target: 'esnext' })],
    onLog: (level, { code, message }) => {
      // Emscripten's code for Node, which no browser reaches
      if (level === 'warn' && code !== 'UNRESOLVED_IMPORT') throw new Error(message);
    },
  });
  await bundle.write({ file: path.join(folder, name), format: 'iife', inlineDynamicImports: true });
}
await copyFile(
  path.join(import.meta.dirname, '../common/groceries.html'),
  path.join(folder, 'index.html'),
);
