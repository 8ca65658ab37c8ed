// Every view in five sizes, two themes and four states, in Chromium and Firefox: `npm run
// test:long`, and a few of them in CI. It compares small stored thumbnails
// (tests/pictures/strip.ts). `npm run docs -- shots --matrix --out FOLDER` takes all pictures,
// saves them at full size for review, and stores the thumbnails again.
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grouped } from '../../src/analysis/core/maps.ts';
import { findFirefox, HOW_TO_INSTALL_FIREFOX } from '../../src/drive/find-browser.mjs';
import { FULL } from '../full.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { decodePng, fontsOf } from '../pictures/compare.ts';
import type { Pixels } from '../pictures/png.ts';
import { inOrder, matrixScenes, type Scene } from '../pictures/scenes.ts';
import {
  CELLS_MAY_DIFFER,
  cellsDiffer,
  decodeStrip,
  encodeStrip,
  thumbnailOf,
} from '../pictures/strip.ts';
import { openStudio, type Studio } from '../pictures/take.ts';
import { builtPanel } from './built-panel.ts';

const PICTURES = join(import.meta.dirname, '..', 'pictures');
const STORED = join(PICTURES, 'matrix');
const UPDATES = process.env.VFSCOPE_PICTURES === 'update';
/** Folder for pictures that differ, or for all when they are taken again. */
const LEFT =
  process.env.VFSCOPE_SHOTS ??
  join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'pictures');
const CHOSEN = process.env.VFSCOPE_SCENES?.split(',');

/** One of each width, theme, state, and browser, of several views. */
const IN_CI: Record<string, readonly string[]> = {
  chromium: [
    'answer-live-light-400',
    'answer-loaded-dark-900',
    'answer-empty-light-1400',
    'answer-loaded-light-2200',
    'timeline-huge-dark-1400',
    'locks-loaded-light-1400',
    'transactions-loaded-dark-554',
  ],
  firefox: ['answer-loaded-light-554'],
};

async function launchFirefox(): Promise<Browser> {
  const executablePath = findFirefox();
  if (!executablePath) throw new Error(HOW_TO_INSTALL_FIREFOX);
  return puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
}

/** Decodes PNGs, and reports the fonts. */
let plain: Browser;
let blank: Page;
let fonts: string;
beforeAll(async () => {
  plain = await launchPlainBrowser();
  blank = await plain.newPage();
  fonts = await fontsOf(blank);
  mkdirSync(LEFT, { recursive: true });
  mkdirSync(STORED, { recursive: true });
});
afterAll(() => plain?.close());

describe.each(['chromium', 'firefox'] as const)('the matrix of views in %s', (name) => {
  let browser: Browser;
  let studio: Studio;
  let all: Scene[];
  beforeAll(async () => {
    browser = name === 'firefox' ? await launchFirefox() : await launchPlainBrowser();
    studio = await openStudio(browser, await builtPanel());
    all = matrixScenes(await studio.views());
  }, 400_000);
  afterAll(async () => {
    await studio?.close();
    await browser?.close();
  });

  const viewOf = (scene: Scene): string => scene.view!;
  const stripOf = (view: string): string => join(STORED, `${name}-${view}.png`);
  const chosen = (scenes: readonly Scene[]): Scene[] =>
    scenes.filter((scene) =>
      CHOSEN
        ? CHOSEN.some((part) => scene.name.includes(part))
        : FULL || IN_CI[name]!.includes(scene.name),
    );

  it('has a stored strip for each view, and no other', () => {
    const stored = readdirSync(STORED).filter((file) => file.startsWith(`${name}-`));
    const wanted = new Set(all.map((scene) => `${name}-${viewOf(scene)}.png`));
    expect(stored.sort()).toEqual([...wanted].sort());
  });

  it('looks the same', async () => {
    const limit =
      readFileSync(join(PICTURES, 'fonts.json'), 'utf8') === fonts
        ? CELLS_MAY_DIFFER.sameFonts
        : CELLS_MAY_DIFFER.otherFonts;
    const faults: string[] = [];
    for (const [view, scenes] of grouped(all, viewOf)) {
      const due = inOrder(chosen(scenes));
      if (!due.length) continue;
      const was = existsSync(stripOf(view))
        ? await decodeStrip(blank, readFileSync(stripOf(view)), scenes)
        : () => null;
      const taken = new Map<string, Pixels>();
      for (const scene of due) {
        const png = await studio.take(scene);
        const now = thumbnailOf(await decodePng(blank, png));
        taken.set(scene.name, now);
        const before = was(scene);
        const { share, where } = before
          ? cellsDiffer(before, now)
          : { share: 1, where: 'nothing is stored' };
        const left = join(LEFT, `${name}-${scene.name}.png`);
        if (UPDATES || share > limit) writeFileSync(left, png);
        if (share > limit && !UPDATES)
          faults.push(
            `${scene.name}: ${(share * 100).toFixed(2)} % of its cells differ (${where}); now: ${left}`,
          );
      }
      if (UPDATES)
        writeFileSync(
          stripOf(view),
          encodeStrip(scenes, (scene) => taken.get(scene.name) ?? was(scene)),
        );
    }
    expect(
      faults,
      'look at them; to store them again: npm run docs -- shots --matrix --out FOLDER',
    ).toEqual([]);
  }, 1_800_000);
});

it('is stored in less than 3 MiB', () => {
  const sizes = readdirSync(STORED).map((file) => statSync(join(STORED, file)).size);
  expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(3 << 20);
});
