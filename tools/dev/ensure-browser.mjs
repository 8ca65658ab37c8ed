// Finds Chromium, Firefox, and WebKitGTK, or installs Debian's if possible.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  findChromium,
  findFirefox,
  findMiniBrowser,
  HOW_TO_INSTALL,
  HOW_TO_INSTALL_FIREFOX,
  HOW_TO_INSTALL_WEBKIT,
} from '../../src/drive/find-browser.mjs';

/** Runs apt-get, as root or by sudo without a password; its output goes to stderr. */
function apt(...args) {
  const root = process.getuid?.() === 0;
  const command = [
    ...(root ? [] : ['sudo', '-n']),
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    '-q',
    ...args,
  ];
  return spawnSync(command[0], command.slice(1), { stdio: ['ignore', 2, 2] }).status === 0;
}

/**
 * Finds a Chromium or installs it with apt.
 * @returns {Promise<string>} its path
 * @throws {Error} with what to do, if there is none and none can be installed
 */
export const ensureChromium = () =>
  ensure({
    name: 'Chromium',
    variable: 'CHROMIUM',
    find: findChromium,
    how: HOW_TO_INSTALL,
    debian: 'chromium',
  });

/** The same for Firefox. */
export const ensureFirefox = () =>
  ensure({
    name: 'Firefox',
    variable: 'FIREFOX',
    find: findFirefox,
    how: HOW_TO_INSTALL_FIREFOX,
    debian: 'firefox-esr',
  });

/**
 * The same for WebKitGTK's MiniBrowser, its display server, and what its window with isolated
 * worlds needs. @returns null on other systems than Linux
 */
export const ensureWebKit = () =>
  process.platform === 'linux'
    ? ensure({
        ...{
          name: 'MiniBrowser of WebKitGTK with Xvfb',
          variable: 'MINIBROWSER',
          how: HOW_TO_INSTALL_WEBKIT,
        },
        find: () => (canStart('Xvfb') && hasWebKitForPython() ? findMiniBrowser() : null),
        debian: ['webkit2gtk-driver', 'xvfb', 'python3-gi', 'gir1.2-webkit2-4.1'],
      })
    : Promise.resolve(null);

/** Whether this program is installed. */
const canStart = (command) =>
  spawnSync(command, ['-help'], { stdio: 'ignore' }).error === undefined;

/** Debian's own Python: others lack its modules. */
const hasWebKitForPython = () =>
  spawnSync('/usr/bin/python3', ['-c', "import gi; gi.require_version('WebKit2', '4.1')"], {
    stdio: 'ignore',
  }).status === 0;

async function ensure({ name, variable, find, how, debian }) {
  const found = find();
  if (found) return found;
  const asked = process.env[variable];
  if (asked) throw new Error(`There is no browser at ${asked} (from $${variable}). ${how}`);
  if (process.platform === 'linux' && existsSync('/etc/debian_version')) {
    console.error(`No ${name} found: installing it with apt-get ...`);
    if (apt('update') && apt('install', '-y', '--no-install-recommends', ...[debian].flat())) {
      const installed = find();
      if (installed) return installed;
    }
    throw new Error(`${name} could not be installed with apt-get. ${how}`);
  }
  throw new Error(`No ${name} found. ${how}`);
}
