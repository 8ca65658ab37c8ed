// `npm run docs -- app-picture`: records Actual Budget, used as its visitors do, with the built extension in a real Chromium. Takes the pictures
// of its Answer that README shows, and of Doctor on its page.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { launchBrowser } from '../../src/drive/browser.ts';
import type { Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { realApp } from '../../tests/oracle/real-apps.ts';
import { decodePng } from '../../tests/pictures/compare.ts';
import { encodePng } from '../../tests/pictures/png.ts';
import { createServer } from '../../tests/server/server.mjs';
import { show } from './show-view.ts';

/** Views with their file and height. */
const PICTURES = [
  ['answer', 'docs/images/answer-actual.png', 760],
  ['doctor', 'docs/images/panel-doctor.png', 640],
] as const;
const WIDTH = 1280;

/** Resolves once the panel has counted nothing more for 2 s. */
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

/** Takes the pictures; those that are there are replaced. */
export async function write(): Promise<void> {
  const { name, path, use } = realApp('actual');
  const extension = join(process.env['VFSCOPE_DIST'] ?? 'dist', 'chrome');
  const server = await createServer();
  const driven = await launchBrowser({ extension });
  try {
    const page = await driven.firstPage();
    const panel = await driven.openWindow(page);
    await panel.resize(WIDTH, PICTURES[0][2]);
    await startRecording(panel);
    await driven.load(page, server.origin(name) + path);
    await use([page], () => rest(panel));
    await stopRecording(panel);
    for (const [view, file, height] of PICTURES) {
      await panel.resize(WIDTH, height);
      await show(panel, view);
      await panel.screenshot(file);
    }
    const blank = await driven.browser.newPage();
    for (const [, file] of PICTURES)
      await writeFile(file, encodePng(await decodePng(blank, await readFile(file))));
  } finally {
    await driven.close();
    await server.close();
  }
}
