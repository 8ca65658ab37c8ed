/**
 * `vfscope record --connect`: records a page of a running browser (Chrome, Edge, Electron, Android
 * by `adb forward`) over CDP, without the extension. The browser belongs to the user: it is never
 * closed, and everything is removed at the end. A tab that the command opened is closed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { listenForInterrupt } from '../drive/interrupt.ts';
import { addLayers, asksBrowser, traceBrowser } from '../drive/browser-layers.ts';
import type { BrowserTrace } from '../drive/browser-trace.ts';
import { OUR_SOURCE, sayingHook } from '../drive/thread-marks.ts';
import { keepMarked } from '../drive/marks.ts';
import { drivenHook, hookNatives, carriedText } from '../drive/native-workers.ts';
import {
  cutShort,
  endsByHand,
  loadPage,
  loadSteps,
  ofBrowser,
  recordedBy,
  useApp,
  type RecordOptions,
} from '../drive/session.ts';
import type { CaptureOptions } from '../event/capture.ts';
import { CAPTURED_LAYERS } from '../event/capture.ts';
import { CAPTURE_KEY } from '../protocol/capture.ts';
import { browserFailed } from '../terminal/failure.ts';
import { writeWhole } from '../terminal/write-file.ts';
import { TraceStore } from '../trace/store.ts';
import { originOf, saveTrace } from '../trace/file/write.ts';
import { lineOf } from '../viewer/session/line.ts';
import { unwatched, type ThreadPorts } from '../viewer/session/thread-ports.ts';
import { connectTo, pageOf } from './attach.ts';
import { chosenPage, endpointOf, openPage, pagesAt } from './endpoint.ts';
import { PageRelays } from './page-relays.ts';

/** How long threads may take to send the rest and restore the page. */
const STOP_MS = 10_000;

export interface ConnectOptions extends Pick<
  RecordOptions,
  | 'extension'
  | 'out'
  | 'until'
  | 'seconds'
  | 'script'
  | 'capture'
  | 'marks'
  | 'untilMark'
  | 'cpu'
  | 'names'
  | 'belowStorage'
  | 'say'
> {
  /** Address of the browser's debugging port. */
  connect: string;
  /**
   * Beginning of the page's address. If no tab shows it, it opens in a new tab. Undefined: the only
   * page there is.
   */
  url?: string;
  /** Record until Ctrl+C, unless something else ends the recording. */
  headed?: boolean;
}

/** A script that the build puts next to the command. @throws CommandFailure (exit code 3) */
function builtScript(extension: string, name: string): string {
  const file = join(extension, '../cli', name);
  if (!existsSync(file)) throw browserFailed(`${file} is missing: build vfscope again.`);
  return readFileSync(file, 'utf8');
}

/** Runs before the hook and sets what it captures (protocol/capture.ts). */
const captureText = ({ capture, layers, buffer, stacks }: CaptureOptions): string =>
  `globalThis[Symbol.for(${JSON.stringify(CAPTURE_KEY)})]=${JSON.stringify({
    ...{ capture, buffer, stacks },
    without: CAPTURED_LAYERS.filter((layer) => !layers.includes(layer)),
  })};`;

/**
 * Record a page of a running browser. The page reloads, because an engine that has already loaded
 * can't be recorded.
 * @throws CommandFailure: exit code 2 for wrong use, 3 if the browser or page fails. The trace up
 * to then is saved.
 */
export async function recordConnected(options: ConnectOptions): Promise<void> {
  const { say = () => {}, url } = options;
  const steps = options.script === undefined ? null : await loadSteps(options.script);
  const endpoint = endpointOf(options.connect);
  const shown = chosenPage(await pagesAt(endpoint), url);
  const target = shown ?? (await openPage(endpoint));
  const interrupt = listenForInterrupt(say);
  const over = new AbortController();
  let browser: Browser | null = null;
  let page: Page | null = null;
  try {
    browser = await connectTo(endpoint, target.id);
    const lost = ofBrowser(browser);
    page = await pageOf(browser, target.id);
    const recording = await Recording.begin(page, options);
    const address = url ?? target.url;
    say(shown ? `loading ${shown.url} again` : `loading ${address}`);
    const open = async (): Promise<number | undefined> =>
      (
        await (shown
          ? page!.reload({ waitUntil: 'load', timeout: 60_000 })
          : page!.goto(address, { waitUntil: 'load', timeout: 60_000 }))
      )?.status();
    const late = await Promise.race([
      loadPage(open, address).then(() => useApp(page!, null, steps, options, over.signal)),
      cutShort(page, interrupt, endsByHand(options)),
      lost,
    ]);
    say('stopping');
    await Promise.race([recording.end(options), lost]);
    await recording.save(options.out);
    const unmarked = options.marks ? await keepMarked(options.out, say) : null;
    if (late ?? unmarked) throw browserFailed((late ?? unmarked)!);
  } finally {
    over.abort(); // nothing keeps waiting
    interrupt.ignore();
    if (!shown) await page?.close().catch(() => {}); // it is ours, and may already be closed
    await browser?.disconnect();
  }
}

/** Records a page from the start of its next document. */
class Recording {
  private constructor(
    private readonly store: TraceStore,
    private readonly threads: ThreadPorts,
    private readonly relays: PageRelays,
    private readonly trace: BrowserTrace | null,
  ) {}

  static async begin(page: Page, options: ConnectOptions): Promise<Recording> {
    const { say = () => {}, extension } = options;
    const plain = drivenHook(extension);
    if (plain === null) throw browserFailed('The hook is missing: build vfscope again.');
    const recorded = recordedBy(options);
    const carried = carriedText(extension, recorded.capture);
    const hook = asksBrowser(options) ? sayingHook(plain, carried) : plain;
    // by the clock of the page's machine, which may be a phone
    const now = await page.evaluate(() => performance.timeOrigin + performance.now());
    const store = new TraceStore(now);
    const threads = unwatched(store, say);
    const relays = new PageRelays(
      {
        relay: builtScript(extension, 'connect-content.js'),
        // samples identify our code by its script's address
        hook:
          captureText(recorded.capture) + carried + hook + (asksBrowser(options) ? OUR_SOURCE : ''),
      },
      (port) => threads.attach(lineOf(port)),
    );
    await relays.follow(await page.createCDPSession());
    await hookNatives(page, { ...recorded, hook, carried });
    return new Recording(store, threads, relays, await traceBrowser(page.browser(), options));
  }

  async end(options: ConnectOptions): Promise<void> {
    const { say = () => {} } = options;
    const traced = await this.trace?.end();
    await this.threads.stop(STOP_MS);
    await this.relays.leave();
    this.threads.close();
    if (traced) say(addLayers(this.store, traced, options));
  }

  async save(out: string): Promise<void> {
    const file = await saveTrace(this.store, { origin: originOf(this.store) });
    await writeWhole(out, [new Uint8Array(await file.arrayBuffer())]);
  }
}
