// Modules in src as rollup.config.js transforms them for shipping, for a benchmark's esbuild.
import { readFileSync } from 'node:fs';
import { inlineConstants } from './inline-constants.mjs';

/** @type {import('esbuild').Plugin} */
export const asShipped = {
  name: 'as-shipped',
  setup(esbuild) {
    const { transform } = inlineConstants();
    esbuild.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const shipped = transform(readFileSync(path, 'utf8'), path);
      return shipped && { contents: shipped.code, loader: 'ts' };
    });
  },
};
