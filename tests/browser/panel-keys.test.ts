// Keys in the panel of the real DevTools: DevTools ignore keys that the viewer handles, and get the
// others.
import { showView } from './show-view.ts';
import path from 'node:path';
import type { Keyboard } from 'puppeteer-core';
import { afterAll, beforeAll, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import type { Panel } from '../../src/drive/panel.ts';
import { launch } from './extension-harness.ts';

const id = (name: string): string => `[data-testid="${name}"]`;
const TRACE = path.join(import.meta.dirname, '..', 'traces', 'golden', 'memory-delete.vfst');
const polling = 50;

let driven: DrivenBrowser;
let panel: Panel;
let keyboard: Keyboard;

beforeAll(async () => {
  driven = await launch();
  panel = await driven.openPanel(await driven.firstPage());
  await panel.resize(1200, 700);
  await panel.open(TRACE);
  await panel.frame.waitForSelector(id('file-name'));
  await showView(panel, 'timeline');
  await panel.frame.waitForSelector(id('timeline'));
  keyboard = panel.frame.page().keyboard;
}, 120_000);
afterAll(() => driven?.close());

/** The drawer takes its space from the panel. */
const height = (): Promise<number> => panel.frame.evaluate(() => innerHeight);
const isThere = (name: string): Promise<unknown> =>
  panel.frame.waitForSelector(id(name), { timeout: 30_000 });
const isGone = (name: string): Promise<unknown> =>
  panel.frame.waitForFunction(
    (s) => !document.querySelector(s),
    { timeout: 30_000, polling },
    id(name),
  );

test('Escape closes one thing at a time, and if nothing is open, it opens the drawer', async () => {
  const whole = await height();
  await keyboard.press('r');
  await isThere('area');
  await panel.press('notes-menu' as 'record');
  await isThere('note-list');
  await keyboard.press('Escape');
  await isGone('note-list');
  await isThere('area');
  await keyboard.press('Escape');
  await isGone('area');
  await keyboard.down('Shift');
  await keyboard.press('?');
  await keyboard.up('Shift');
  await isThere('key-help');
  await keyboard.press('Escape');
  await isGone('key-help');
  // if an earlier Escape had opened something, this one would close it, and the panel would grow,
  // not shrink
  await keyboard.press('Escape');
  await panel.frame.waitForFunction(
    (before) => innerHeight < before - 50,
    { timeout: 30_000, polling },
    whole,
  );
});
