/**
 * `vfscope record --connect`: a page of a browser that runs already (Chrome, Edge, Electron, Android by `adb forward`), recorded over CDP without
 * the extension. The browser is its user's: it is never closed, and nothing stays in it. A tab that we open is closed at the end.
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

/** For threads to send the rest and give the page back. */
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
  /** Begins the address of the page. It is opened in a new tab where no tab shows it. Undefined: the only page there is. */
  url?: string;
  /** Until Ctrl+C, where nothing else ends it. */
  headed?: boolean;
}

/** A script that the build puts beside the command. @throws CommandFailure (exit code 3) */
function builtScript(extension: string, name: string): string {
  const file = join(extension, '../cli', name);
  if (!existsSync(file)) throw browserFailed(`${file} is missing: build vfscope again.`);
  return readFileSync(file, 'utf8');
}

/** In front of the hook: what it is to capture (protocol/capture.ts). */
const captureText = ({ capture, layers, buffer, stacks }: CaptureOptions): string =>
  `globalThis[Symbol.for(${JSON.stringify(CAPTURE_KEY)})]=${JSON.stringify({
    ...{ capture, buffer, stacks },
    without: CAPTURED_LAYERS.filter((layer) => !layers.includes(layer)),
  })};`;

/**
 * Record a page of a running browser. The page is loaded again, because an engine that was loaded before can't be recorded.
 * @throws CommandFailure: exit code 2 for wrong use, 3 when browser or page fail; the trace up to then has been saved
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
    over.abort(); // nothing goes on waiting
    interrupt.ignore();
    if (!shown) await page?.close().catch(() => {}); // it is ours, and may have gone
    await browser?.disconnect();
  }
}

/** One of a page, from the moment that its next document begins. */
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
        // samples know our code by the address of its script
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
