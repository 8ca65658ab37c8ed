// `node build.mjs <folder>` builds the app into that folder.
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import webpack from 'webpack';

const [, , folder] = process.argv;
await mkdir(folder, { recursive: true });
const stats = await new Promise((resolve, reject) => {
  webpack(
    {
      mode: 'production',
      context: import.meta.dirname,
      entry: './main.js',
      output: { path: folder, filename: 'main.js', clean: true },
      performance: false,
    },
    (error, result) => (error ? reject(error) : resolve(result)),
  );
});
if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
await copyFile(
  path.join(import.meta.dirname, '../common/groceries.html'),
  path.join(folder, 'index.html'),
);
