// Builds apps for production with their own build.mjs, or else with Vite: tests/apps/<name>, into
// .vfscope/apps/<name>. Each is built at the first request for one of its pages, once per process.
// If the app has its own package.json, its packages are installed first.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
/** @type {Map<string, Promise<string>>} */
const built = new Map();

/**
 * @param {string} name of a folder of tests/apps
 * @returns {Promise<string>} the folder of the built app; rejects with the output of npm or the
 * bundler
 */
export function buildApp(name) {
  let folder = built.get(name);
  if (!folder) built.set(name, (folder = build(name)));
  return folder;
}

async function build(name) {
  const root = path.join(REPOSITORY, 'tests', 'apps', name);
  if (existsSync(path.join(root, 'package.json')) && !existsSync(path.join(root, 'node_modules')))
    await run('npm', ['ci', '--include=dev', '--ignore-scripts'], root);
  const outDir = path.join(REPOSITORY, '.vfscope', 'apps', name);
  const own = path.join(root, 'build.mjs');
  const vite = path.join(REPOSITORY, 'node_modules', 'vite', 'bin', 'vite.js');
  const options = [
    '--outDir',
    outDir,
    '--emptyOutDir',
    '--target',
    'esnext',
    '--logLevel',
    'error',
  ];
  await run(process.execPath, existsSync(own) ? [own, outDir] : [vite, 'build', ...options], root);
  return outDir;
}

/** @throws Error with the command's stderr if it fails */
function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    let said = '';
    child.stderr.on('data', (text) => (said += text));
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`${command} ${args[0]} in ${cwd} failed: ${said.trim()}`)),
    );
  });
}
