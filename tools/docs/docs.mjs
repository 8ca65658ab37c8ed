// `npm run docs`: generates what can be generated without a browser: the tables of docs/support.md,
// docs/findings.md, the columns of docs/trace-format.md, and the tables of docs/fleet.md. Then
// wraps all pages.
// `npm run docs -- NAME ...`: only that one, or one of those that need a browser.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { loadTs } from '../dev/load-ts.mjs';

const root = join(import.meta.dirname, '../..');
/** Modules with a `write()`. */
const PAGES = ['engines', 'matrix', 'findings', 'trace-format', 'tables', 'wrap'];
/** Scripts that take their own arguments. */
const PICTURES = ['goldens', 'shots', 'store-pictures', 'app-picture', 'icons'];
/** These use the built extension. */
const NEED_BUILD = ['goldens', 'store-pictures', 'app-picture'];

process.chdir(root);
const [name] = process.argv.splice(2, 1);
if (name !== undefined && !PAGES.includes(name) && !PICTURES.includes(name)) {
  console.error(`"${name}" isn't one of ${[...PAGES, ...PICTURES].join(', ')}`);
  process.exit(2);
}
if (NEED_BUILD.includes(name)) {
  const rollup = join(root, 'node_modules/rollup/dist/bin/rollup');
  const { status } = spawnSync(process.execPath, [rollup, '-c', '--silent'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
for (const page of name === undefined ? PAGES : [name])
  if ([...PAGES, 'store-pictures', 'app-picture'].includes(page))
    await (await loadTs(page, `tools/docs/${page}.ts`)).write();
  else await import(`./${page}.mjs`);
