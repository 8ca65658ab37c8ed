// Runs the vfscope command from a checkout. Builds first if dist/ is older than its sources. Prints
// nothing itself: stdout is the command's.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');
const built = join(root, 'dist/cli/vfscope.mjs');

/** When the newest of these files or folders changed, ms. */
function newest(paths) {
  let time = 0;
  for (const path of paths) {
    const stats = statSync(path);
    const inside = stats.isDirectory()
      ? newest(readdirSync(path).map((name) => join(path, name)))
      : 0;
    time = Math.max(time, stats.isDirectory() ? inside : stats.mtimeMs);
  }
  return time;
}

const sources = [
  'src',
  'manifest.json',
  'rollup.config.js',
  'package.json',
  'store-assets/icons',
].map((name) => join(root, name));
if (!existsSync(built) || statSync(built).mtimeMs < newest(sources)) {
  console.error('building ...');
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/rollup/dist/bin/rollup'), '-c', '--silent'],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
    },
  );
  if (status !== 0) {
    console.error('The build failed. To see more: npm run build');
    process.exit(3);
  }
}
// npm runs scripts in the checkout, but paths are relative to where npm was called, `npm --prefix
// CHECKOUT run vfscope -- ...`
if (process.env.npm_lifecycle_event === 'vfscope' && process.env.INIT_CWD)
  process.chdir(process.env.INIT_CWD);
// in this process: Ctrl+C reaches the command once, and the shell waits until it has saved
await import(pathToFileURL(built));
