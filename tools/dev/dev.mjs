// `npm run dev -- chrome|firefox`: builds, and opens a browser with the extension and the demo.
// After another `npm run build` web-ext reloads the extension.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findFirefox, HOW_TO_INSTALL_FIREFOX } from '../../src/drive/find-browser.mjs';
import { createServer } from '../../tests/server/server.mjs';
import { ensureChromium } from './ensure-browser.mjs';

const [browser = 'chrome'] = process.argv.slice(2);
if (browser !== 'chrome' && browser !== 'firefox') {
  console.error(`"${browser}" isn't chrome or firefox`);
  process.exit(2);
}
const binary = browser === 'firefox' ? findFirefox() : await ensureChromium();
if (!binary) {
  console.error(HOW_TO_INSTALL_FIREFOX);
  process.exit(3);
}
const root = join(import.meta.dirname, '../..');
const rollup = join(root, 'node_modules/rollup/dist/bin/rollup');
if (spawnSync(process.execPath, [rollup, '-c', '--silent'], { cwd: root, stdio: 'inherit' }).status)
  process.exit(3);
const server = await createServer();
const url = `${server.url}/demo/`;
const target =
  browser === 'firefox'
    ? ['--firefox', binary]
    : ['--target', 'chromium', '--chromium-binary', binary];
// as root, Chromium only starts this way
if (browser !== 'firefox' && process.getuid?.() === 0) target.push('--args=--no-sandbox');
const folder = join(process.env.VFSCOPE_DIST ?? 'dist', browser);
const webExt = join(root, 'node_modules/web-ext/bin/web-ext.js');
const child = spawn(
  process.execPath,
  [webExt, 'run', '--source-dir', folder, ...target, '--start-url', url],
  { stdio: 'inherit' },
);
process.on('SIGINT', () => {}); // web-ext receives it, too, and closes its browser
child.on('close', (code) => void server.close().then(() => process.exit(code ?? 3)));
