// `node build.mjs <folder>` builds the app into that folder.
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const [, , folder] = process.argv;
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ['main.js', 'worker.js'],
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'esnext',
  loader: { '.wasm': 'file' },
  logLevel: 'error',
});
await copyFile(
  path.join(import.meta.dirname, '../common/groceries.html'),
  path.join(folder, 'index.html'),
);
