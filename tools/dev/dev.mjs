// `npm run dev:firefox`, `npm run dev:chrome`: a browser with the built extension and the demo in it. After another `npm run build`
// web-ext loads the extension anew.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findFirefox, HOW_TO_INSTALL_FIREFOX } from '../../src/drive/find-browser.mjs';
import { createServer } from '../../tests/server/server.mjs';
import { ensureChromium } from './ensure-browser.mjs';

const [browser = 'firefox'] = process.argv.slice(2);
const binary = browser === 'firefox' ? findFirefox() : await ensureChromium();
if (!binary) {
  console.error(HOW_TO_INSTALL_FIREFOX);
  process.exit(3);
}
const server = await createServer();
const url = `${server.url}/demo/`;
const target =
  browser === 'firefox'
    ? ['--firefox', binary]
    : ['--target', 'chromium', '--chromium-binary', binary];
// as root Chromium starts in no other way
if (browser !== 'firefox' && process.getuid?.() === 0) target.push('--args=--no-sandbox');
const folder = join(process.env.VFSCOPE_DIST ?? 'dist', browser);
const webExt = join(import.meta.dirname, '../..', 'node_modules/web-ext/bin/web-ext.js');
const child = spawn(
  process.execPath,
  [webExt, 'run', '--source-dir', folder, ...target, '--start-url', url],
  { stdio: 'inherit' },
);
process.on('SIGINT', () => {}); // web-ext hears it, too, and closes its browser
child.on('close', (code) => void server.close().then(() => process.exit(code ?? 3)));
