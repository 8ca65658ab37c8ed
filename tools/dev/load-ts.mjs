// Loads a TypeScript module for a tool: bundles it into node_modules/.cache, because Node doesn't
// run TypeScript, and imports it from there.
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/**
 * @param {string} name of the tool, also used for its bundle
 * @param {string | { contents: string }} entry a source file, or TypeScript whose imports start at
 * the checkout's root
 * @returns {Promise<any>} what the module exports
 * @throws if it doesn't compile: esbuild has printed why on stderr
 */
export async function loadTs(name, entry) {
  const outfile = join(
    root,
    'node_modules/.cache',
    `vfscope-${name}`,
    `${name}-${process.pid}.mjs`,
  );
  await build({
    ...(typeof entry === 'string'
      ? { entryPoints: [resolve(root, entry)] }
      : { stdin: { contents: entry.contents, resolveDir: root, loader: 'ts' } }),
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    plugins: [modulesInPlace],
    logLevel: 'warning',
  });
  const loaded = await import(pathToFileURL(outfile).href);
  await rm(outfile); // one per process, because two tools would overwrite each other's
  return loaded;
}

/** The servers and tools find their folders relative to themselves. */
const modulesInPlace = {
  name: 'modules-in-place',
  setup(b) {
    b.onResolve({ filter: /^\..*\.mjs$/ }, ({ path, resolveDir }) => ({
      path: pathToFileURL(join(resolveDir, path)).href,
      external: true,
    }));
  },
};
