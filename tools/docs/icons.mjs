// `npm run docs -- icons`: draws store-assets/icons/*.png from icon.svg, the recording ones with a
// red dot; the larger ones are for stores. Run it after changing the drawing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { ensureChromium } from '../dev/ensure-browser.mjs';

const folder = join(import.meta.dirname, '../../store-assets/icons');
const icon = readFileSync(join(folder, 'icon.svg'), 'utf8');
const dot =
  '<circle cx="98" cy="98" r="27" fill="#fff"/><circle cx="98" cy="98" r="22" fill="#e5383b"/></svg>';
const ALWAYS = [16, 32, 48, 128];
const drawings = [
  ['icon', icon, [...ALWAYS, 64, 96, 256, 300, 512]],
  ['recording', icon.replace('</svg>', dot), ALWAYS],
  // app stores round the corners themselves and take no transparency
  [
    'icon',
    icon.replace('x="4" y="4" width="120" height="120" rx="26"', 'width="128" height="128"'),
    [1024],
  ],
];

const browser = await puppeteer.launch({
  executablePath: await ensureChromium(),
  pipe: true,
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  const page = await browser.newPage();
  for (const [name, svg, sizes] of drawings)
    for (const size of sizes) {
      await page.setViewport({ width: size, height: size });
      await page.setContent(
        `<style>body { margin: 0 } svg { display: block; width: ${size}px }</style>${svg}`,
      );
      writeFileSync(
        join(folder, `${name}-${size}.png`),
        await page.screenshot({ omitBackground: size < 1024 }),
      );
    }
} finally {
  await browser.close();
}
