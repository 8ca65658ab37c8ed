// `npm run docs -- app-picture`: records Actual Budget, used as its visitors do, with the built
// extension in a real Chromium, and takes README's picture of its Answer. Then takes the picture of
// Doctor on an app with PowerSync, which has files in OPFS and Web Locks.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { launchBrowser } from '../../src/drive/browser.ts';
import type { Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { realApp } from '../../tests/oracle/real-apps.ts';
import { WAIT } from '../../tests/oracle/waiting.ts';
import { decodePng } from '../../tests/pictures/compare.ts';
import { encodePng } from '../../tests/pictures/png.ts';
import { createServer } from '../../tests/server/server.mjs';
import { show } from './show-view.ts';

const ANSWER = 'docs/images/answer-actual.png';
const DOCTOR = 'docs/images/panel-doctor.png';
const WIDTH = 1280;
const HEIGHT = 760;

/** Resolves once the panel's counts haven't changed for 2 s. */
async function rest(panel: Panel): Promise<void> {
  const count = (): Promise<string> =>
    panel.frame.$eval('[data-testid="strip"]', (e) => e.textContent);
  for (let last = ''; ;) {
    const now = await count();
    if (now === last) return;
    last = now;
    await pause(2000);
  }
}

/** Takes the pictures and replaces existing ones. */
export async function write(): Promise<void> {
  const { name, path, use } = realApp('actual');
  const extension = join(process.env['VFSCOPE_DIST'] ?? 'dist', 'chrome');
  const server = await createServer();
  const driven = await launchBrowser({ extension });
  try {
    const page = await driven.firstPage();
    const panel = await driven.openWindow(page);
    await panel.resize(WIDTH, HEIGHT);
    await startRecording(panel);
    await driven.load(page, server.origin(name) + path);
    await use([page], () => rest(panel));
    await stopRecording(panel);
    await show(panel, 'answer');
    await panel.screenshot(ANSWER);

    const { name: list, path: listPath } = realApp('powersync-opfs');
    await startRecording(panel);
    await driven.load(page, server.origin(list) + listPath);
    await page.waitForFunction(() => document.body.dataset['state'] === 'ready', WAIT);
    await stopRecording(panel);
    await show(panel, 'doctor');
    await pause(3000); // so that locks have an age
    await panel.resize(WIDTH, 600);
    await panel.screenshot(DOCTOR);

    const blank = await driven.browser.newPage();
    for (const file of [ANSWER, DOCTOR])
      await writeFile(file, encodePng(await decodePng(blank, await readFile(file))));
  } finally {
    await driven.close();
    await server.close();
  }
}
