/** `vfscope open`: a trace in the panel's page, as a tab of a browser of its own. */
import { launchBrowser } from '../drive/browser.ts';
import { openPanelTab } from '../drive/panel.ts';
import { readTraceFile } from '../terminal/open-file.ts';
import { EXTENSION } from '../drive/extension-folders.ts';
import { print } from '../terminal/stdout.ts';
import { checkWritable } from '../terminal/write-file.ts';

/** The Answer of ten million events takes half a minute. */
const SHOWN_WITHIN_MS = 120_000;

interface OpenArgs {
  file: string;
  /** Take a picture without a window, and end. */
  screenshot?: string;
  extension?: string;
}

/** Resolves to the exit code when the user closes the browser, or the picture is taken. @throws CommandFailure */
export async function open({ file, screenshot, extension = EXTENSION }: OpenArgs): Promise<number> {
  await readTraceFile(file, { maxEvents: 0 }); // a browser is not started for what it will refuse
  if (screenshot !== undefined) await checkWritable(screenshot);
  const driven = await launchBrowser({ extension, headed: screenshot === undefined });
  try {
    const panel = await openPanelTab(await driven.firstPage(), driven.extensionId);
    await panel.open(file);
    if (screenshot === undefined) {
      await print(`${file} is open in a browser window. Close it to end this command.\n`);
      await new Promise<void>((done) => driven.browser.once('disconnected', () => done()));
    } else {
      await panel.find('save'); // usable once a part of the trace is there
      await panel.frame.waitForFunction(
        () =>
          !document.querySelector('[data-testid="loading"]') &&
          document.querySelector('[data-testid="answer-view"]')?.getAttribute('aria-busy') ===
            'false',
        { polling: 50, timeout: SHOWN_WITHIN_MS },
      );
      await panel.screenshot(screenshot);
    }
  } finally {
    await driven.close();
  }
  return 0;
}
