// Every view looks as before: pictures of the panel in each state are compared with the stored ones
// (tests/pictures) by layout. `npm run docs -- shots --update` takes the stored ones again; `npm
// run docs -- shots --all` takes every view in every state, for review.
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { difference, decodePng, fontsOf, MAY_DIFFER } from '../pictures/compare.ts';
import { encodePng } from '../pictures/png.ts';
import {
  allScenes,
  documentScenes,
  inOrder,
  storedScenes,
  type Scene,
} from '../pictures/scenes.ts';
import { openStudio, type Studio } from '../pictures/take.ts';
import { builtPanel } from './built-panel.ts';

const STORED = join(import.meta.dirname, '..', 'pictures');
const DOCUMENTS = join(STORED, '..', '..', 'docs', 'images');
const FONTS = join(STORED, 'fonts.json');
/**
 * `update`: store; `docs`: those of docs/; `all`: save everything in VFSCOPE_SHOTS; otherwise
 * compare.
 */
const MODE = process.env.VFSCOPE_PICTURES ?? 'compare';
/** Folder for pictures that differ, or that are only for review. */
const LEFT =
  process.env.VFSCOPE_SHOTS ??
  join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'pictures');
const MIB = 1024 * 1024;

let browser: Browser;
let studio: Studio;
let blank: Page;
let scenes: Scene[];
/** Those of this machine. */
let fonts: string;

beforeAll(async () => {
  browser = await launchPlainBrowser();
  studio = await openStudio(browser, await builtPanel());
  blank = await browser.newPage();
  fonts = await fontsOf(blank);
  const views = await studio.views();
  expect(views.length).toBeGreaterThan(9);
  scenes = inOrder(
    MODE === 'docs' ? documentScenes() : (MODE === 'all' ? allScenes : storedScenes)(views),
  );
  const chosen = process.env.VFSCOPE_SCENES?.split(',');
  if (chosen) scenes = scenes.filter(({ name }) => chosen.some((part) => name.includes(part)));
  mkdirSync(LEFT, { recursive: true });
}, 400_000);
afterAll(async () => {
  await studio?.close();
  await browser?.close();
});

const small = async (png: Uint8Array): Promise<Buffer> => encodePng(await decodePng(blank, png));

describe.runIf(MODE === 'all')('every view in every state', () => {
  it('are taken for review', async () => {
    for (const scene of scenes)
      writeFileSync(join(LEFT, `${scene.name}.png`), await studio.take(scene));
    console.log(`${scenes.length} pictures in ${LEFT}`);
  }, 600_000);
});

describe.runIf(MODE === 'docs')('the pictures of docs/', () => {
  it('are taken again', async () => {
    for (const scene of scenes)
      writeFileSync(join(DOCUMENTS, `${scene.name}.png`), await small(await studio.take(scene)));
  }, 600_000);
});

describe.runIf(MODE === 'update')('the stored pictures', () => {
  it('are taken again', async () => {
    const partly = process.env.VFSCOPE_SCENES !== undefined;
    for (const scene of scenes) {
      const picture = await small(await studio.take(scene));
      writeFileSync(join(STORED, `${scene.name}.png`), picture);
    }
    if (partly) return;
    const names = new Set(scenes.map(({ name }) => `${name}.png`));
    for (const file of readdirSync(STORED))
      if (file.endsWith('.png') && !names.has(file)) rmSync(join(STORED, file));
    writeFileSync(FONTS, fonts);
  }, 600_000);
});

describe.runIf(MODE === 'compare')('every view', () => {
  it('looks the same', async () => {
    const stored = new Set(readdirSync(STORED).filter((file) => file.endsWith('.png')));
    const limit =
      readFileSync(FONTS, 'utf8') === fonts ? MAY_DIFFER.sameFonts : MAY_DIFFER.otherFonts;
    const faults: string[] = [];
    for (const scene of scenes) {
      const file = `${scene.name}.png`;
      const now = await studio.take(scene);
      const was = stored.delete(file) ? readFileSync(join(STORED, file)) : null;
      const { share, box } = was ? await difference(blank, was, now) : { share: 1, box: null };
      if (share <= limit) continue;
      writeFileSync(join(LEFT, file), now);
      const where = box
        ? `within ${box.left},${box.top} to ${box.right},${box.bottom}`
        : 'there is no stored picture';
      faults.push(
        `${file}: ${(share * 100).toFixed(2)} % of its cells differ (${where}); what it is now: ${join(LEFT, file)}`,
      );
    }
    if (process.env.VFSCOPE_SCENES === undefined)
      for (const file of stored) faults.push(`${file} is stored and no scene`);
    expect(faults, 'look at them; to store them again: npm run docs -- shots --update').toEqual([]);
  }, 900_000);
});

describe('the comparison', () => {
  it('ignores a shade, and detects a bar, a missing word, another theme, and another size', async () => {
    const [width, height] = [400, 300];
    const draw = (change: (color: number, x: number, y: number) => number): Buffer => {
      const rgba = new Uint8Array(width * height * 4).fill(255);
      for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
          const [row, inRow] = [Math.floor(y / 20), y % 20];
          const word =
            inRow > 5 && inRow < 15 && x > 20 && x < 120 + row * 10 && (x * 7 + y * 3) % 5 < 2;
          rgba.fill(
            change(word ? 40 : row % 2 ? 250 : 255, x, y),
            4 * (y * width + x),
            4 * (y * width + x) + 3,
          );
        }
      return encodePng({ width, height, rgba }, 1);
    };
    const was = draw((c) => c);
    expect(await difference(blank, was, was)).toEqual({ share: 0, box: null });
    const shade = draw((c) => (c === 40 ? 52 : c));
    expect((await difference(blank, was, shade)).share).toBe(0);
    const bar = await difference(
      blank,
      was,
      draw((c, x, y) => (x >= 200 && x < 300 && y >= 100 && y < 120 ? 120 : c)),
    );
    expect(bar.box).toEqual({ left: 200, top: 100, right: 300, bottom: 120 });
    expect(bar.share).toBeCloseTo((25 * 5) / (100 * 75), 6);
    const word = await difference(
      blank,
      was,
      draw((c, _x, y) => (y >= 40 && y < 60 && c === 40 ? 255 : c)),
    );
    expect(word.share).toBeGreaterThan(MAY_DIFFER.sameFonts);
    const dark = draw((c, _x, y) => (y >= 160 ? 255 - c + 40 : c));
    expect((await difference(blank, was, dark)).share).toBeGreaterThan(MAY_DIFFER.otherFonts);
    const rgba = new Uint8Array(4 * 100).fill(255);
    expect((await difference(blank, was, encodePng({ width: 10, height: 10, rgba }))).share).toBe(
      1,
    );
  });

  it('small PNGs have the colors that they were given, or similar ones', async () => {
    const rgba = new Uint8Array(64 * 64 * 4).fill(255);
    for (let i = 0; i < 64 * 64; i++) rgba.set([i >> 4, 255 - (i >> 4), i % 16], 4 * i);
    const few = rgba.map((v, i) => (i % 4 === 3 ? 255 : v & 192));
    expect(
      Buffer.compare(
        (await decodePng(blank, encodePng({ width: 64, height: 64, rgba: few }, 1))).rgba,
        few,
      ),
    ).toBe(0);
    const many = (await decodePng(blank, encodePng({ width: 64, height: 64, rgba }, 1))).rgba;
    expect(Math.max(...many.map((v, i) => Math.abs(v - rgba[i]!)))).toBeLessThan(32);
  });
});

it.runIf(MODE === 'compare')(
  'the stored pictures are less than 3 MiB, those of docs/ less than 2',
  () => {
    const sizes = readdirSync(STORED)
      .filter((file) => file.endsWith('.png'))
      .map((file) => readFileSync(join(STORED, file)).length);
    expect(sizes.length).toBeGreaterThan(30);
    expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(3 * MIB);
    const documents = readdirSync(DOCUMENTS).map((file) => statSync(join(DOCUMENTS, file)).size);
    expect(documents.reduce((a, b) => a + b, 0)).toBeLessThan(2 * MIB);
  },
);
