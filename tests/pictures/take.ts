/**
 * Takes pictures of scenes: serves the panel with golden traces, puts it into the scene's state,
 * and takes screenshots until two in a row are equal. Machine-dependent values (the recording time,
 * the tracer's cost) are hidden.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { saveTrace } from '../../src/trace/file/write.ts';
import { servePanel } from '../../tools/dev/panel.mjs';
import { syntheticStore } from '../traces/synthetic.ts';
import { disturbs, type Scene } from './scenes.ts';

const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');
const id = (name: string): string => `[data-testid="${name}"]`;
/** Events of the large trace. */
const HUGE_EVENTS = 1_000_000;

/** Hides what differs: carets blink, things move, rates depend on the machine. */
const STILL = `* { scrollbar-width: none !important; caret-color: transparent !important; animation: none !important; transition: none !important; scroll-behavior: auto !important }
  .still-live ${id('live-events')}, .still-live ${id('live-tracer')}, .still-live [data-testid^="spark-"] { visibility: hidden }`;

export interface Studio {
  /** A PNG of the scene. Rejects if the scene doesn't become stable, or the page failed. */
  take(scene: Scene): Promise<Uint8Array>;
  /** Ids of the panel's tabs. */
  views(): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * @param browser Chromium or Firefox @param built folder with the built panel; synthetic traces are
 * also written there
 */
export async function openStudio(browser: Browser, built: string): Promise<Studio> {
  const traces: Record<string, string> = { 'huge.vfst': join(built, 'huge.vfst') };
  const golden = (name: string): string => {
    traces[`${name}.vfst`] = join(GOLDEN, `${name}.vfst`);
    return `${name}.vfst`;
  };
  const whole = await readFile(join(GOLDEN, 'opfs-sahpool.vfst'));
  const newer = Buffer.from(whole);
  newer.writeUInt32LE(99, 8);
  for (const [name, bytes] of Object.entries({ newer, cut: whole.subarray(0, whole.length - 40) }))
    await writeFile((traces[`${name}.vfst`] = join(built, `${name}.vfst`)), bytes);
  const server = await servePanel({ out: built, traces });

  const isChromium = (await browser.version()).includes('Chrome');
  /** The page of the last scene, reused if the next one has the same trace, theme, and size. */
  let current: { key: string; page: Page; clean: boolean } | null = null;
  const failures: string[] = [];

  async function open(scene: Scene): Promise<Page> {
    if (scene.state === 'huge' && !existsSync(traces['huge.vfst']!))
      await writeFile(
        traces['huge.vfst']!,
        Buffer.from(await (await saveTrace(syntheticStore({ events: HUGE_EVENTS }))).arrayBuffer()),
      );
    const file =
      scene.state === 'huge' ? 'huge.vfst' : scene.state === 'loaded' ? golden(scene.trace!) : null;
    const query =
      scene.state === 'error'
        ? `open=/traces/${scene.trace}.vfst`
        : file
          ? `open=/traces/${file}`
          : 'live';
    const key = `${scene.state} ${query} ${scene.theme}`;
    if (current?.key !== key || !current.clean || scene.view === null) {
      await current?.page.close();
      const context = await browser.createBrowserContext(); // no recording of another scene is found
      const page = await context.newPage();
      await page.evaluateOnNewDocument(countQuestions);
      page.on('pageerror', (error) =>
        failures.push(error instanceof Error ? error.message : String(error)),
      );
      await page.setViewport({ width: scene.width, height: scene.height });
      await page.goto(`${server.url}?test&theme=${scene.theme}&${query}`);
      await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
      await page.addStyleTag({ content: STILL });
      current = { key, page, clean: true };
      if (scene.state === 'live') await record(page);
      else if (file) {
        await page.waitForSelector(id('file-name'), { timeout: 60_000 });
        await restful(page);
      }
    } else await current.page.setViewport({ width: scene.width, height: scene.height });
    return current.page;
  }

  async function pose(scene: Scene): Promise<Uint8Array> {
    const page = await open(scene);
    if (scene.view !== null) {
      await page.waitForSelector(id(`tab-${scene.view}`));
      // the tabs' scroll position must not depend on the previous scene
      await page.$eval('[role=tablist]', (tabs) => (tabs.scrollLeft = 0));
      await page.$eval(id(`tab-${scene.view}`), (tab) => (tab as HTMLElement).click());
      await page.waitForSelector(`${id(`tab-${scene.view}`)}[aria-selected=true]`);
    }
    if (scene.state === 'error' && scene.trace === 'newer') await page.waitForSelector(id('toast'));
    await restful(page);
    if (scene.against !== undefined) {
      await compareWith(
        page,
        await readFile(join(GOLDEN, `${scene.against}.vfst`)),
        `${scene.against}.vfst`,
      );
      await page.waitForSelector(id('compare-headline'));
    }
    for (const selector of scene.clicks ?? []) {
      await page.waitForSelector(`${selector}:not(:disabled)`);
      await page.$eval(selector, (element) => (element as HTMLElement).click());
    }
    for (const press of scene.keys ?? []) {
      const [modifier, key] = press.split('+') as ['Shift', '?'];
      await page.keyboard.down(modifier);
      await page.keyboard.press(key);
      await page.keyboard.up(modifier);
      await page.waitForSelector('dialog[open]');
    }
    const picture = await rest(page, isChromium);
    current!.clean = !disturbs(scene);
    if (failures.length) throw new Error(`${scene.name}: ${failures.splice(0).join('; ')}`);
    return picture;
  }

  return {
    take: (scene) =>
      pose(scene).catch(async (error: unknown) => {
        const shown = await current?.page.evaluate(
          () =>
            `${document.querySelector('[role=tab][aria-selected=true]')?.textContent}: ${document.querySelector<HTMLElement>('#view')?.innerText.slice(0, 300)}`,
        );
        throw new Error(`${scene.name} is not shown, but ${shown}`, { cause: error });
      }),
    async views() {
      const page = await open({
        name: '',
        state: 'loaded',
        trace: 'opfs-sahpool',
        view: null,
        theme: 'light',
        width: 1280,
        height: 640,
      });
      return page.$$eval('[role=tab][data-testid^=tab-]', (tabs) =>
        tabs.map((tab) => (tab as HTMLElement).dataset.testid!.replace(/^tab-/, '')),
      );
    },
    async close() {
      await current?.page.close();
      await server.close();
    },
  };
}

declare global {
  interface Window {
    /** Requests to the store's worker without an answer. */
    openQuestions: number;
  }
}
function countQuestions(): void {
  window.openQuestions = 0;
  const listening = new WeakSet<Worker>();
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (this: Worker, ...args: unknown[]) {
    if (!(typeof args[0] === 'object' && args[0] !== null && 'method' in args[0]))
      return Reflect.apply(post, this, args) as void;
    if (!listening.has(this))
      this.addEventListener(
        'message',
        ({ data }) => void ('ok' in (data as object) && window.openQuestions--),
      );
    listening.add(this);
    window.openQuestions++;
    Reflect.apply(post, this, args);
  };
}

/** A recording of invented calls on a separate clock. */
async function record(page: Page): Promise<void> {
  await page.click(id('record'));
  await page.waitForSelector(`${id('stop')}:not(:disabled)`);
  await page.evaluate(() => {
    document.body.classList.add('still-live');
    window.panel.app.work(40);
  });
  await page.waitForFunction(
    (s: string) => /[1-9]/.test(document.querySelector(s)?.textContent ?? ''),
    {},
    id('live-reads'),
  );
  // what is derived from the whole trace has arrived, because its track comes with it
  await page.$eval(id('tab-timeline'), (tab) => (tab as HTMLElement).click());
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.lane-box')].some((e) => e.textContent.includes('Transactions')),
  );
}

/** Give the Compare view its second trace, as a user chooses a file. */
async function compareWith(page: Page, bytes: Buffer, name: string): Promise<void> {
  await page.waitForSelector(id('compare-input'));
  await page.$eval(
    id('compare-input'),
    (element, base64: string, title: string) => {
      const files = new DataTransfer();
      files.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], title));
      (element as HTMLInputElement).files = files.files;
      element.dispatchEvent(new Event('change', { bubbles: true }));
    },
    bytes.toString('base64'),
    name,
  );
}

/** No request is pending, no view reports to be busy, and the strip's numbers have arrived. */
function isAtRest(): boolean {
  const strip = [...document.querySelectorAll('[data-testid^="live-"]')].map((e) =>
    e.textContent?.trim(),
  );
  return (
    window.openQuestions === 0 &&
    !strip.includes('…') &&
    !document.querySelector('[aria-busy="true"], [data-testid="loading"]')
  );
}

async function restful(page: Page): Promise<void> {
  try {
    await page.waitForFunction(isAtRest, { timeout: 40_000 });
  } catch (error) {
    const busy = await page.evaluate(() => [
      window.openQuestions,
      document.querySelector('[aria-busy="true"]')?.outerHTML.slice(0, 200),
    ]);
    throw new Error(`never at rest: ${busy[0]} questions are open, busy: ${busy[1]}`, {
      cause: error,
    });
  }
}

/** The first screenshot that is equal to the one before it while nothing reports to be busy. */
async function rest(page: Page, isChromium: boolean): Promise<Uint8Array> {
  await page.mouse.move(0, 0);
  let last: Uint8Array | null = null;
  for (let n = 0; n < 100; n++) {
    await restful(page);
    await page.evaluate(
      () =>
        new Promise((done) =>
          requestAnimationFrame(() => requestIdleCallback(done, { timeout: 1000 })),
        ),
    );
    const picture = await page.screenshot(isChromium ? { optimizeForSpeed: true } : {});
    if (last && Buffer.compare(last, picture) === 0) return picture;
    last = picture;
  }
  throw new Error('the picture changes all the time');
}
