// A TypeScript module for a tool: Node takes no types, so it is bundled into node_modules/.cache and imported from there.
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/**
 * @param {string} name of the tool: its bundle's, too
 * @param {string | { contents: string }} entry a source file, or TypeScript whose imports begin at the checkout's root
 * @returns {Promise<any>} what the module exports
 * @throws where it does not compile: esbuild has said why on stderr
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
  await rm(outfile); // one a process, or two tools at once would read each other's
  return loaded;
}

/** The servers and tools find their folders by their own place. */
const modulesInPlace = {
  name: 'modules-in-place',
  setup(b) {
    b.onResolve({ filter: /^\..*\.mjs$/ }, ({ path, resolveDir }) => ({
      path: pathToFileURL(join(resolveDir, path)).href,
      external: true,
    }));
  },
};
