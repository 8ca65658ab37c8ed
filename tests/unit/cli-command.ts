/** The command as one file, for tests that call it as users do. */
import { build } from 'esbuild';

/**
 * @param name of its folder: test files run side by side
 * @returns its path, within the repository, where its packages are found
 */
export async function buildCommand(name: string): Promise<string> {
  const outfile = `node_modules/.cache/${name}/vfscope.mjs`;
  await build({
    ...{
      entryPoints: ['src/cli/vfscope.ts'],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
    },
    ...{ define: { VFSCOPE_VERSION: '"1.2.3"' }, packages: 'external', logLevel: 'error' },
  });
  return outfile;
}
