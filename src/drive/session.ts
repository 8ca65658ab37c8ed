/**
 * One recording by the real panel: Record, the page, Stop, Save. For `vfscope record`, the tests,
 * and the store pictures.
 */
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { firstTrouble } from './page-trouble.ts';
import type { Browser, Page } from 'puppeteer-core';
import type { RecordingScope } from '../protocol/messages.ts';
import { STOP_MARK } from '../analysis/report/cut.ts';
import { CAPTURE_DEFAULTS, type CaptureOptions } from '../event/capture.ts';
import { cannotWrite } from '../terminal/write-file.ts';
import { launchBrowser } from './browser.ts';
import { holdPages } from './held-pages.ts';
import { expectPage } from './panel.ts';
import { drivenHook, hookNatives, carriedText } from './native-workers.ts';
import type { DrivenBrowserBase, DrivenPanel } from './panel-control.ts';
import { browserFailed, wrongUse } from '../terminal/failure.ts';
import { launchFirefox } from './firefox.ts';
import { listenForInterrupt, type Interrupt } from './interrupt.ts';
import type { BrowserTrace } from './browser-trace.ts';
import { addLayers, asksBrowser, traceBrowser, type BrowserLayers } from './browser-layers.ts';
import { sayingHook } from './thread-marks.ts';
import { keepMarked, markMade } from './marks.ts';
import { reworkTrace } from './rework-trace.ts';

export interface RecordOptions extends BrowserLayers {
  /** Folder of the extension, built for that browser. */
  extension: string;
  browser?: 'chromium' | 'firefox';
  url: string;
  /** The .vfst file to write. */
  out: string;
  /**
   * JavaScript expression in the page: the recording ends when it is truthy (a promise is awaited).
   */
  until?: string;
  /**
   * The recording's length after the page has loaded, or with `until` the maximum wait for it. In a
   * window without `seconds`, `until`, `untilMark`, and `script`, it lasts until Ctrl+C.
   */
  seconds?: number;
  /**
   * Module whose default export drives the page: `async (page, panel) => {}`, a puppeteer Page and
   * Panel.
   */
  script?: string;
  /** PNG of the panel after the recording. */
  screenshot?: string;
  headed?: boolean;
  /**
   * With DevTools open on the page, as for users who record in their panel. Else in its own window,
   * where the browser supports it.
   */
  devtools?: boolean;
  transport?: 'port' | 'runtime';
  scope?: RecordingScope;
  /** What to capture. Missing keys have their defaults. */
  capture?: Partial<CaptureOptions>;
  /** Keep only the part between the page's own marks (analysis/report/cut.ts). */
  marks?: boolean;
  /** End when the page makes the mark `vfscope:stop`. `seconds` is the maximum wait for it. */
  untilMark?: boolean;
  dark?: boolean;
  /** Progress, line by line. */
  say?: (line: string) => void;
}

const DEFAULT_SECONDS = 5;
const DEFAULT_UNTIL_SECONDS = 120;
/** Size of the panel in the picture. */
const PICTURE = { width: 1280, height: 800 };

/** The exports of a steps module. @param panel null in a browser that was already running */
export type Steps = (page: Page, panel: DrivenPanel | null) => Promise<void>;

/**
 * Record a page.
 * @throws CommandFailure: exit code 2 for a script that can't be used or an `out` that can't be
 * written, 3 when browser or page fail. If only the condition wasn't met (in time, or because of
 * Ctrl+C), the trace up to then has been saved.
 * @returns the page's first error or failed request, as text of the page; null = none
 */
export async function recordPage(options: RecordOptions): Promise<string | null> {
  const { say = () => {} } = options;
  const steps = options.script === undefined ? null : await loadSteps(options.script);
  const interrupt = listenForInterrupt(say);
  try {
    return await recordIn({ ...options, outlivesSignals: true }, steps, interrupt);
  } finally {
    interrupt.ignore();
  }
}

async function recordIn(
  options: RecordOptions & { outlivesSignals: true },
  steps: Steps | null,
  interrupt: Interrupt,
): Promise<string | null> {
  const { say = () => {} } = options;
  const recorded = recordedBy(options);
  const inChromium = options.browser !== 'firefox';
  const carried = inChromium ? carriedText(options.extension, recorded.capture) : '';
  const plain = inChromium ? drivenHook(options.extension) : null;
  const hook = asksBrowser(options) && plain !== null ? sayingHook(plain, carried) : plain;
  const driven: DrivenBrowserBase = await (options.browser === 'firefox'
    ? launchFirefox(options)
    : launchBrowser({ ...options, hook }));
  const lost = ofBrowser(driven.browser);
  const over = new AbortController();
  const early = interrupt.first.then(() => {
    throw browserFailed('Interrupted before the recording began: there is nothing to save.');
  });
  early.catch(() => {}); // handled where it matters
  try {
    say('opening the panel');
    const page = await driven.firstPage();
    const trouble = firstTrouble(page, options.browser);
    let traced: BrowserTrace | null = null;
    const ready = (async () => {
      const opened = await (options.devtools || !driven.openWindow
        ? driven.openPanel(page)
        : driven.openWindow(page));
      if (hook !== null) await hookNatives(page, { ...recorded, hook, carried });
      if (inChromium) await holdPages(page, (url) => expectPage(page, url));
      traced = await traceBrowser(driven.browser, options);
      await startRecording(opened, options);
      return opened;
    })();
    const panel = await Promise.race([ready, early, lost]);
    say(`loading ${options.url}`);
    const late = await Promise.race([
      loadPage(() => driven.load(page, options.url), options.url).then(() =>
        useApp(page, panel, steps, options, over.signal),
      ),
      cutShort(page, interrupt, endsByHand(options)),
      lost,
    ]);
    say('stopping');
    const unmarked = await Promise.race([save(driven, panel, options, traced), lost]);
    if (late ?? unmarked) throw browserFailed((late ?? unmarked)!);
    return trouble();
  } finally {
    over.abort(); // all waits end
    await driven.close();
  }
}

export const recordedBy = ({
  scope = 'tab',
  capture,
}: Pick<RecordOptions, 'scope' | 'capture'>): {
  scope: RecordingScope;
  capture: CaptureOptions;
} => ({
  scope,
  capture: { ...CAPTURE_DEFAULTS, ...capture },
});

/** Never resolves. @throws CommandFailure when the browser ends, by a crash or by its user */
export function ofBrowser(browser: Browser): Promise<never> {
  const lost = new Promise<never>((_, reject) =>
    browser.once('disconnected', () =>
      reject(browserFailed('The browser ended before the recording was saved.')),
    ),
  );
  lost.catch(() => {}); // at the end we close it ourselves
  return lost;
}

/** A recording in a window that ends only by Ctrl+C. */
export const endsByHand = ({
  headed = false,
  script,
  seconds,
  until,
  untilMark = false,
}: Ending): boolean =>
  headed && script === undefined && seconds === undefined && until === undefined && !untilMark;

/** @returns why the recording ends before its condition was met; null where only Ctrl+C ends it */
export function cutShort(
  page: Page,
  interrupt: Interrupt,
  byHand: boolean,
): Promise<string | null> {
  const crashed = new Promise<string>((resolve) =>
    page.once('error', (e: Error) =>
      resolve(`The page crashed (${e.message}); the recording up to then is saved.`),
    ),
  );
  return Promise.race([
    crashed,
    interrupt.first.then(() => (byHand ? null : 'Interrupted; the recording up to then is saved.')),
  ]);
}

/** Press Stop and Save. @returns why the saved trace isn't what was requested, or null */
async function save(
  driven: DrivenBrowserBase,
  panel: DrivenPanel,
  options: RecordOptions,
  trace: BrowserTrace | null,
): Promise<string | null> {
  const { out, marks, screenshot, say = () => {} } = options;
  const traced = await trace?.end();
  await stopRecording(panel);
  const unmarked = await saveTrace(driven, panel, out, async (file) => {
    if (traced)
      say(
        await reworkTrace(file, (store) => ({ store, answer: addLayers(store, traced, options) })),
      );
    return marks ? keepMarked(file, say) : null;
  });
  if (screenshot !== undefined) {
    await panel.resize(PICTURE.width, PICTURE.height);
    await panel.hideToasts();
    await panel.screenshot(screenshot);
  }
  return unmarked;
}

/** @throws CommandFailure (exit code 2) */
export async function loadSteps(script: string): Promise<Steps> {
  let loaded: { default?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(script)).href)) as { default?: unknown };
  } catch (e) {
    throw wrongUse(`The script ${script} can't be loaded: ${(e as Error).message}`);
  }
  if (typeof loaded.default !== 'function')
    throw wrongUse(`The script ${script} must have a default export: async (page, panel) => {}`);
  return loaded.default as Steps;
}

/** Press Record; resolves when the recording runs. */
export async function startRecording(
  panel: DrivenPanel,
  {
    scope = 'tab',
    transport = 'port',
    capture,
  }: Pick<RecordOptions, 'scope' | 'transport' | 'capture'> = {},
): Promise<void> {
  if (transport === 'runtime') await panel.setTransport('runtime');
  if (capture) await panel.setStored({ ...CAPTURE_DEFAULTS, ...capture });
  if (scope === 'origin') await panel.choose('scope', 'origin');
  await panel.press('record');
  await panel.find('stop');
}

/**
 * Press Stop, unless the user has. Resolves when the last thread has said goodbye and the trace can
 * be saved.
 */
export async function stopRecording(panel: DrivenPanel): Promise<void> {
  if (
    await Promise.race([
      panel.find('stop').then(() => true),
      panel.find('record').then(() => false),
    ])
  )
    await panel.press('stop');
  await panel.find('record');
}

/**
 * @param open opens the page and returns its HTTP status, if any
 * @throws CommandFailure (exit code 3)
 */
export async function loadPage(
  open: () => Promise<number | undefined>,
  url: string,
): Promise<void> {
  let status: number | undefined;
  try {
    status = await open();
  } catch (e) {
    throw browserFailed(`${url} doesn't load: ${(e as Error).message}. Is its server running?`);
  }
  if (status !== undefined && status >= 400)
    throw browserFailed(`${url} doesn't load: the server answered ${status}.`);
}

/** What a recording of a loaded page waits for. */
type Ending = Pick<RecordOptions, 'until' | 'seconds' | 'script' | 'untilMark' | 'headed' | 'say'>;

/**
 * @param signal ends the wait
 * @returns why the recording ended before its condition was met, or null
 */
export async function useApp(
  page: Page,
  panel: DrivenPanel | null,
  steps: Steps | null,
  options: Ending,
  signal: AbortSignal,
): Promise<string | null> {
  const { until, say = () => {} } = options;
  if (steps) {
    say(`running ${options.script}`);
    try {
      await steps(page, panel);
    } catch (e) {
      return `The script failed. The recording up to then is saved: ${(e as Error).stack ?? String(e)}`;
    }
  }
  if (until !== undefined) {
    const seconds = options.seconds ?? DEFAULT_UNTIL_SECONDS;
    say(`waiting until ${until}`);
    try {
      await page.waitForFunction(until, { timeout: seconds * 1000, polling: 100 });
    } catch (e) {
      const text = (e as Error).message;
      const cause = /timeout|exceeded/i.test(text)
        ? `was not met within ${seconds} s`
        : `failed: ${text}`;
      return `The condition ${JSON.stringify(until)} ${cause}; the recording up to then is saved.`;
    }
  } else if (options.untilMark) {
    const seconds = options.seconds ?? DEFAULT_UNTIL_SECONDS;
    say(`waiting for the mark ${STOP_MARK}`);
    if (!(await markMade(page, STOP_MARK, seconds, signal)))
      return `The page made no performance.mark('${STOP_MARK}') within ${seconds} s; the recording up to then is saved.`;
  } else if (endsByHand(options)) {
    say('recording; use the page, then press Ctrl+C here to stop and save');
    await new Promise(() => {}); // Ctrl+C comes from elsewhere
  } else if (!steps || options.seconds !== undefined) {
    const seconds = options.seconds ?? DEFAULT_SECONDS;
    say(`recording for ${seconds} s`);
    await delay(seconds * 1000, undefined, { signal });
  }
  return null;
}

/**
 * Press Save and move the file to `out`. If that fails, it stays where the browser saved it.
 * @param rework changes the file before that
 * @returns its result
 * @throws CommandFailure (exit code 2) with the file's location
 */
export async function saveTrace<T = void>(
  driven: DrivenBrowserBase,
  panel: DrivenPanel,
  out: string,
  rework?: (file: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'vfscope-'));
  let kept = false;
  try {
    await driven.downloadTo(folder);
    await panel.press('save');
    const file = join(folder, await downloaded(folder));
    const answer = (await rework?.(file)) as T;
    await copyFile(file, out).catch((e: NodeJS.ErrnoException) => {
      kept = true;
      throw wrongUse(`${cannotWrite(out, e)} The recording is in ${file}`);
    });
    return answer;
  } finally {
    if (!kept) await rm(folder, { recursive: true, force: true });
  }
}

function missing(error: NodeJS.ErrnoException): 0 {
  if (error.code !== 'ENOENT') throw error;
  return 0;
}

async function downloaded(folder: string): Promise<string> {
  for (const end = Date.now() + 60_000; Date.now() < end; await delay(50)) {
    const file = (await readdir(folder)).find((name) => name.endsWith('.vfst'));
    // the file's name appears, empty, a moment before its bytes; Firefox's first name is gone a
    // moment later
    const size = file && (await stat(join(folder, file)).then((found) => found.size, missing));
    if (file && size) return file;
  }
  throw browserFailed('The panel saved no recording within 60 s.');
}
