// Apps that are built for production, by their own build.mjs or else by Vite: tests/apps/<name>, into .vfscope/apps/<name>. Built when the
// first page asks, once a process; an app with packages of its own (package.json) gets them first.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
/** @type {Map<string, Promise<string>>} */
const built = new Map();

/** @param {string} name of a folder of tests/apps @returns {Promise<string>} the folder of the built app; rejects with what npm or the bundler say */
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

/** @throws Error with what the command wrote to stderr, where it fails */
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
