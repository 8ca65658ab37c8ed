/**
 * `vfscope open`: shows a trace in the viewer in the user's browser, or in the panel's page of a
 * browser with the extension, which has the Lab.
 */
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../drive/browser.ts';
import { EXTENSION } from '../drive/extension-folders.ts';
import { listenForInterrupt } from '../drive/interrupt.ts';
import { openPanelTab } from '../drive/panel.ts';
import { readTraceFile } from '../terminal/open-file.ts';
import { serveFolders } from '../terminal/serve.ts';
import { jsonText, print } from '../terminal/stdout.ts';
import { openInUserBrowser } from '../terminal/user-browser.ts';
import { checkWritable } from '../terminal/write-file.ts';

/** The viewer is next to the built command. */
const VIEWER = fileURLToPath(new URL('../viewer/', import.meta.url));
/** The answer for ten million events takes half a minute. */
const SHOWN_WITHIN_MS = 120_000;

interface OpenArgs {
  file: string;
  /** Where Try and Replay work: a Chromium with the extension. */
  lab?: boolean;
  /** Print the address without opening a browser. */
  noBrowser?: boolean;
  /** Save a screenshot without a window, then exit. */
  screenshot?: string;
  /** Print the result as one JSON object: the file, and the address or the screenshot. */
  json?: boolean;
  extension?: string;
}

/**
 * @returns the exit code once the user is done, or the screenshot is saved @throws CommandFailure
 */
export async function open({ file, lab, noBrowser, ...rest }: OpenArgs): Promise<number> {
  // check everything first: don't start what would be refused
  await readTraceFile(file, { maxEvents: 0 });
  if (lab || rest.screenshot !== undefined) await openInExtension({ file, ...rest });
  else await serveToUser(file, noBrowser === true, rest.json === true);
  return 0;
}

async function serveToUser(file: string, noBrowser: boolean, json: boolean): Promise<void> {
  const name = basename(file);
  const served = await serveFolders({ [`/trace/${name}`]: resolve(file), '/': VIEWER });
  const interrupt = listenForInterrupt(() => {});
  try {
    const url = `${served.url}/?url=${encodeURIComponent(`trace/${encodeURIComponent(name)}`)}&once`;
    const isOpen = !noBrowser && (await openInUserBrowser(url));
    const how = isOpen
      ? `${file} is open in your browser: ${url}`
      : `Open ${url} in a browser on this machine to see ${file}.`;
    await print(
      json
        ? jsonText({ file, url, opened: isOpen })
        : `${how}\nThe page is there until you press Ctrl+C.\n`,
    );
    await interrupt.first;
  } finally {
    interrupt.ignore();
    await served.close();
  }
}

async function openInExtension({
  file,
  screenshot,
  json,
  extension = EXTENSION,
}: Pick<OpenArgs, 'file' | 'screenshot' | 'json' | 'extension'>): Promise<void> {
  if (screenshot !== undefined) await checkWritable(screenshot);
  const driven = await launchBrowser({ extension, headed: screenshot === undefined });
  try {
    const panel = await openPanelTab(await driven.firstPage(), driven.extensionId);
    await panel.open(file);
    if (screenshot === undefined) {
      await print(
        json
          ? jsonText({ file, opened: true })
          : `${file} is open in a browser window. Close it to end this command.\n`,
      );
      await new Promise<void>((done) => driven.browser.once('disconnected', () => done()));
    } else {
      await panel.find('save'); // usable once part of the trace has arrived
      await panel.frame.waitForFunction(
        () =>
          !document.querySelector('[data-testid="loading"]') &&
          document.querySelector('[data-testid="answer-view"]')?.getAttribute('aria-busy') ===
            'false',
        { polling: 50, timeout: SHOWN_WITHIN_MS },
      );
      await panel.screenshot(screenshot);
      if (json) await print(jsonText({ file, screenshot }));
    }
  } finally {
    await driven.close();
  }
}
