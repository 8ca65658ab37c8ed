// `npm start`: builds, finds or installs a browser, and opens the demo with DevTools and the panel
// recording. Without a display, it records the demo headless and leaves a trace and a screenshot in
// .vfscope/. Completed steps are skipped.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
const out = join(root, '.vfscope');
const cli = join(root, 'dist/cli/vfscope.mjs');

/** Runs a command. If it fails, ends this process with its exit code. */
function run(command, args) {
  return new Promise((done) => {
    const shell = process.platform === 'win32' && command === 'npm';
    const child = spawn(command, args, {
      cwd: root,
      shell,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('error', (e) => {
      console.error(`${command}: ${e.message}`);
      process.exit(3);
    });
    child.on('close', (code) => {
      if (code !== 0) process.exit(code ?? 3);
      done();
    });
  });
}

if (!existsSync(join(root, 'node_modules'))) await run('npm', ['ci']);
console.log('building ...');
await run(process.execPath, [join(root, 'node_modules/rollup/dist/bin/rollup'), '-c', '--silent']);

const { ensureChromium } = await import('./ensure-browser.mjs');
try {
  process.env.CHROMIUM = await ensureChromium();
} catch (e) {
  console.error(e.message);
  process.exit(3);
}

mkdirSync(out, { recursive: true });
const trace = join(out, 'demo.vfst');
const display = process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;

if (display) {
  console.log('\nA window of vfscope records the demo: use the demo, and watch.');
  console.log(`Ctrl+C here ends the recording and saves it as ${relative(root, trace)}\n`);
  process.on('SIGINT', () => {}); // the command below receives it, saves, and ends
  await run(process.execPath, [cli, 'demo', '--out', trace, '--headed']);
} else {
  const picture = join(out, 'demo.png');
  console.log('no display: recording the demo headless ...');
  await run(process.execPath, [cli, 'demo', '--out', trace, '--screenshot', picture]);
  console.log(`
${relative(root, trace)}  the recording; open it with: npm run --silent vfscope -- open ${relative(root, trace)}`);
  console.log(`${relative(root, picture)}  the panel`);
}
