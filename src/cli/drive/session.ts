/** One recording by the real panel: Record, the page, Stop, Save. For `vfscope record`, the tests and the store pictures. */
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import type { RecordingScope } from '../../protocol/messages.ts';
import { STOP_MARK } from '../../trace/analysis/cut.ts';
import { CAPTURE_DEFAULTS, type CaptureOptions } from '../../trace/capture.ts';
import { launchBrowser } from './browser.ts';
import type { DrivenBrowserBase, DrivenPanel } from './driven.ts';
import { browserFailed, wrongUse } from './failure.ts';
import { launchFirefox } from './firefox.ts';
import { keepMarked, markMade } from './marks.ts';

export interface RecordOptions {
  /** Folder of the extension, built for that browser. */
  extension: string;
  browser?: 'chromium' | 'firefox';
  url: string;
  /** The .vfst file to write. */
  out: string;
  /** JavaScript expression in the page: the recording ends when it is truthy (a promise is awaited). */
  until?: string;
  /**
   * The recording's length after the page has loaded; with `until`, how long to wait for it at most. In a window without any
   * of `seconds`, `until`, `untilMark` and `script` it lasts until Ctrl+C.
   */
  seconds?: number;
  /** Module whose default export drives the page: `async (page, panel) => {}`, a puppeteer Page and Panel. */
  script?: string;
  /** PNG of the panel after the recording. */
  screenshot?: string;
  headed?: boolean;
  transport?: 'port' | 'runtime';
  scope?: RecordingScope;
  /** What is captured; of what is not said the default. */
  capture?: Partial<CaptureOptions>;
  /** Keep only what lies between the page's own marks (trace/analysis/cut.ts). */
  marks?: boolean;
  /** End when the page makes the mark `vfscope:stop`. `seconds` is how long to wait for it at most. */
  untilMark?: boolean;
  dark?: boolean;
  /** Progress, line by line. */
  say?: (line: string) => void;
}

export const DEFAULT_SECONDS = 5;
export const DEFAULT_UNTIL_SECONDS = 120;
/** Of the panel in the picture. */
const PICTURE = { width: 1280, height: 800 };

/** What a steps module exports. */
type Steps = (page: Page, panel: DrivenPanel) => Promise<void>;

/**
 * Record a page.
 * @throws CommandFailure: exit code 2 for a script that cannot be used, 3 when browser or page fail. When only the condition
 * was not met in time, the trace up to then has been saved.
 */
export async function recordPage(options: RecordOptions): Promise<void> {
  const { say = () => {} } = options;
  const steps = options.script === undefined ? null : await loadSteps(options.script);
  const driven: DrivenBrowserBase = await (options.browser === 'firefox' ? launchFirefox(options) : launchBrowser(options));
  try {
    say('opening DevTools');
    const page = await driven.firstPage();
    const panel = await driven.openPanel(page);
    await startRecording(panel, options);
    say(`loading ${options.url}`);
    await load(driven, page, options.url);
    const late = await useApp(page, panel, steps, options);
    say('stopping');
    await stopRecording(panel);
    await saveTrace(driven, panel, options.out);
    const unmarked = options.marks ? await keepMarked(options.out, say) : null;
    if (options.screenshot !== undefined) {
      await panel.resize(PICTURE.width, PICTURE.height);
      await panel.screenshot(options.screenshot);
    }
    if (late ?? unmarked) throw browserFailed((late ?? unmarked)!);
  } finally {
    await driven.close();
  }
}

async function loadSteps(script: string): Promise<Steps> {
  let loaded: { default?: unknown };
  try {
    loaded = (await import(pathToFileURL(resolve(script)).href)) as { default?: unknown };
  } catch (e) {
    throw wrongUse(`The script ${script} cannot be loaded: ${(e as Error).message}`);
  }
  if (typeof loaded.default !== 'function') throw wrongUse(`The script ${script} must have a default export: async (page, panel) => {}`);
  return loaded.default as Steps;
}

/** Press Record; resolves when the recording runs. */
export async function startRecording(
  panel: DrivenPanel,
  { scope = 'tab', transport = 'port', capture }: Pick<RecordOptions, 'scope' | 'transport' | 'capture'> = {},
): Promise<void> {
  if (transport === 'runtime') await panel.setTransport('runtime');
  if (capture) await panel.setStored({ ...CAPTURE_DEFAULTS, ...capture });
  if (scope === 'origin') await panel.choose('scope', 'origin');
  await panel.press('record');
  await panel.find('stop');
}

/** Press Stop; resolves when the last thread has said goodbye and the trace can be saved. */
export async function stopRecording(panel: DrivenPanel): Promise<void> {
  await panel.press('stop');
  await panel.find('record');
}

async function load(driven: DrivenBrowserBase, page: Page, url: string): Promise<void> {
  let status: number | undefined;
  try {
    status = await driven.load(page, url);
  } catch (e) {
    throw browserFailed(`${url} does not load: ${(e as Error).message}. Is its server running?`);
  }
  if (status !== undefined && status >= 400) throw browserFailed(`${url} does not load: the server answered ${status}.`);
}

/** @returns why the recording ended before its condition was met, or null */
async function useApp(page: Page, panel: DrivenPanel, steps: Steps | null, options: RecordOptions): Promise<string | null> {
  const { until, say = () => {} } = options;
  if (steps) {
    say(`running ${options.script}`);
    try {
      await steps(page, panel);
    } catch (e) {
      return `The script failed, the trace up to then is saved: ${(e as Error).stack ?? String(e)}`;
    }
  }
  if (until !== undefined) {
    const seconds = options.seconds ?? DEFAULT_UNTIL_SECONDS;
    say(`waiting until ${until}`);
    try {
      await page.waitForFunction(until, { timeout: seconds * 1000, polling: 100 });
    } catch (e) {
      const text = (e as Error).message;
      const cause = /timeout|exceeded/i.test(text) ? `was not met within ${seconds} s` : `failed: ${text}`;
      return `The condition ${JSON.stringify(until)} ${cause}; the trace up to then is saved.`;
    }
  } else if (options.untilMark) {
    const seconds = options.seconds ?? DEFAULT_UNTIL_SECONDS;
    say(`waiting for the mark ${STOP_MARK}`);
    if (!(await markMade(page, STOP_MARK, seconds)))
      return `The page made no performance.mark('${STOP_MARK}') within ${seconds} s; the trace up to then is saved.`;
  } else if (options.headed && !steps && options.seconds === undefined) {
    say('recording; use the page, then press Ctrl+C here to stop and save');
    await interrupted(page.browser());
  } else if (!steps || options.seconds !== undefined) {
    const seconds = options.seconds ?? DEFAULT_SECONDS;
    say(`recording for ${seconds} s`);
    await delay(seconds * 1000);
  }
  return null;
}

/** Ctrl+C. @throws CommandFailure when the browser goes first */
function interrupted(browser: Browser): Promise<void> {
  return new Promise((done, failed) => {
    process.once('SIGINT', () => done());
    browser.once('disconnected', () => failed(browserFailed('The browser was closed before the recording was saved.')));
  });
}

/** Press Save and put the file to `out`. */
export async function saveTrace(driven: DrivenBrowserBase, panel: DrivenPanel, out: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vfscope-'));
  try {
    await driven.downloadTo(folder);
    await panel.press('save');
    await copyFile(join(folder, await downloaded(folder)), out);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function missing(error: NodeJS.ErrnoException): 0 {
  if (error.code !== 'ENOENT') throw error;
  return 0;
}

async function downloaded(folder: string): Promise<string> {
  for (const end = Date.now() + 60_000; Date.now() < end; await delay(50)) {
    const file = (await readdir(folder)).find((name) => name.endsWith('.vfst'));
    // the name is there, empty, a moment before its bytes are; Firefox's first name is gone the moment after
    const size = file && (await stat(join(folder, file)).then((found) => found.size, missing));
    if (file && size) return file;
  }
  throw browserFailed('The panel saved no trace within 60 s.');
}
