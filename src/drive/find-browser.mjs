// Where a Chromium may be. Plain JavaScript: the scripts in tools/ use it before anything is built.
import { existsSync, readdirSync } from 'node:fs';

const PLACES = {
  // Debian's own binary before its wrapper script, which adds an extension of its own
  linux: [
    '/usr/lib/chromium/chromium',
    '/usr/lib/chromium-browser/chromium-browser',
    '/snap/bin/chromium',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/opt/google/chrome/chrome',
    '/usr/bin/google-chrome',
    '/opt/microsoft/msedge/msedge',
    '/usr/bin/microsoft-edge',
  ],
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA]
    .filter(Boolean)
    .flatMap((folder) => [
      `${folder}\\Chromium\\Application\\chrome.exe`,
      `${folder}\\Google\\Chrome\\Application\\chrome.exe`,
      `${folder}\\Microsoft\\Edge\\Application\\msedge.exe`,
    ]),
};

export const HOW_TO_INSTALL =
  'Install Chrome, Edge, or Chromium, 148 or newer (on Debian and Ubuntu: apt-get install chromium), or set CHROMIUM to the path of one.';

/**
 * @returns {string | null} path of a Chromium or Chrome: $CHROMIUM, else the first of the usual
 * places
 */
export function findChromium() {
  const { CHROMIUM } = process.env;
  if (CHROMIUM) return existsSync(CHROMIUM) ? CHROMIUM : null;
  return (PLACES[process.platform] ?? []).find((path) => existsSync(path)) ?? null;
}

const FIREFOX_PLACES = {
  linux: [
    '/usr/bin/firefox-esr',
    '/usr/bin/firefox',
    '/usr/lib/firefox-esr/firefox-esr',
    '/snap/bin/firefox',
  ],
  darwin: [
    '/Applications/Firefox.app/Contents/MacOS/firefox',
    '/Applications/Firefox Developer Edition.app/Contents/MacOS/firefox',
  ],
  win32: [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)']]
    .filter(Boolean)
    .map((folder) => `${folder}\\Mozilla Firefox\\firefox.exe`),
};

export const HOW_TO_INSTALL_FIREFOX =
  'Install Firefox 140 or newer (on Debian: apt-get install firefox-esr), or set FIREFOX to the path of one.';

/** @returns {string | null} path of a Firefox: $FIREFOX, else the first of the usual places */
export function findFirefox() {
  const { FIREFOX } = process.env;
  if (FIREFOX) return existsSync(FIREFOX) ? FIREFOX : null;
  return (FIREFOX_PLACES[process.platform] ?? []).find((path) => existsSync(path)) ?? null;
}

export const HOW_TO_INSTALL_WEBKIT =
  'Install WebKitGTK with its MiniBrowser and its Python bindings, and Xvfb (on Debian and Ubuntu: apt-get install webkit2gtk-driver xvfb python3-gi gir1.2-webkit2-4.1), or set MINIBROWSER to its path.';

/**
 * @returns {string | null} path of WebKitGTK's MiniBrowser: $MINIBROWSER, else where distributions
 * put it
 */
export function findMiniBrowser() {
  const { MINIBROWSER } = process.env;
  if (MINIBROWSER) return existsSync(MINIBROWSER) ? MINIBROWSER : null;
  const folders = ['/usr/lib', '/usr/libexec']
    .filter(existsSync)
    .flatMap((top) => [top, ...readdirSync(top).map((name) => `${top}/${name}`)]);
  return folders.map((folder) => `${folder}/webkit2gtk-4.1/MiniBrowser`).find(existsSync) ?? null;
}
