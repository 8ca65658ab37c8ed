// Screenshots of the viewer's views in an ordinary tab, for inspection.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import puppeteer from 'puppeteer-core';
import { ensureChromium } from '../dev/ensure-browser.mjs';
import { buildPanel, servePanel } from '../dev/panel.mjs';

function parseArgsOr(help, config) {
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${error.message}\n\n${help}`);
    process.exit(2);
  }
}
const HELP = `npm run docs -- shots --out FOLDER [--trace FILE.vfst] [--views a,b] [--sizes 400x700,1280x800] [--themes light,dark] [--click SELECTOR]

--all     every view in every state, theme, and size
--update  store the pictures again that the tests compare (tests/pictures)
--docs    make those of docs/ again
--matrix  every view in five sizes, both themes and four states, in Chromium and Firefox; stores their thumbnails
          of these four, with --scenes a,b, only those whose names hold one of the words`;
const { values } = parseArgsOr(HELP, {
  options: {
    help: { type: 'boolean', short: 'h' },
    out: { type: 'string', default: '.vfscope/shots' },
    trace: { type: 'string', default: 'tests/traces/golden/opfs-coop-sync.vfst' },
    views: { type: 'string' },
    sizes: { type: 'string', default: '1280x800' },
    themes: { type: 'string', default: 'light,dark' },
    click: { type: 'string', multiple: true, default: [] },
    built: { type: 'string' },
    all: { type: 'boolean' },
    update: { type: 'boolean' },
    docs: { type: 'boolean' },
    matrix: { type: 'boolean' },
    scenes: { type: 'string' },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
if (values.all || values.update || values.docs || values.matrix) {
  const { status } = spawnSync(
    'npx',
    values.matrix
      ? ['vitest', 'run', '--project', 'long', 'tests/browser/view-matrix.test.ts']
      : ['vitest', 'run', '--project', 'views', 'tests/browser/view-pictures.test.ts'],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        VFSCOPE_PICTURES: values.update || values.matrix ? 'update' : values.docs ? 'docs' : 'all',
        VFSCOPE_SHOTS: out,
        ...(values.scenes !== undefined && { VFSCOPE_SCENES: values.scenes }),
      },
    },
  );
  process.exit(status ?? 1);
}
const built = values.built ?? 'node_modules/.cache/shots';
if (!values.built) await buildPanel(built);
const name = basename(values.trace);
const server = await servePanel({ out: built, traces: { [name]: resolve(values.trace) } });
const browser = await puppeteer.launch({
  executablePath: await ensureChromium(),
  args: ['--no-sandbox', '--force-device-scale-factor=1'],
});
try {
  for (const theme of values.themes.split(','))
    for (const size of values.sizes.split(',')) {
      const [width, height] = size.split('x').map(Number);
      const page = await browser.newPage();
      page.on('pageerror', (error) => console.error(error));
      await page.setViewport({ width, height });
      await page.goto(
        `${server.url}?test&theme=${theme}&open=${encodeURIComponent(`/traces/${name}`)}`,
      );
      await page.waitForSelector('[data-testid="file-name"], [data-testid="tabs-more"]');
      const views =
        values.views?.split(',') ??
        (await page.$$eval('[data-testid^="tab-"]', (all) =>
          all.map((e) => e.dataset.testid.slice(4)),
        ));
      for (const view of views) {
        await page.$eval(`[data-testid="tab-${view}"]`, (tab) => tab.click());
        await page.waitForNetworkIdle({ idleTime: 300 });
        await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'), {
          timeout: 20_000,
        });
        for (const selector of values.click) await page.$(selector).then((found) => found?.click());
        await new Promise((done) => setTimeout(done, 700)); // let canvases settle
        const file = join(out, `${view}-${theme}-${size}.png`);
        await page.screenshot({ path: file });
        console.log(file);
      }
      await page.close();
    }
} finally {
  await browser.close();
  await server.close();
}
