/** `vfscope open`: a trace in the panel's page, as a tab of a browser of its own. */
import { readFile } from 'node:fs/promises';
import { TraceFileError } from '../trace/file/format.ts';
import { readTrace } from '../trace/file/read.ts';
import { launchBrowser } from '../drive/browser.ts';
import { CommandFailure, wrongUse } from '../terminal/failure.ts';
import { openPanelTab } from '../drive/panel.ts';
import { cannotRead, complain } from '../terminal/open-file.ts';
import { EXTENSION } from '../drive/extension-folders.ts';
import { checkWritable } from '../terminal/write-file.ts';

interface OpenArgs {
  file: string;
  /** Take a picture without a window, and end. */
  screenshot?: string;
  extension?: string;
}

/** Resolves to the exit code when the user closes the browser, or the picture is taken. */
export async function open({ file, screenshot, extension = EXTENSION }: OpenArgs): Promise<number> {
  try {
    await checkTrace(file);
    if (screenshot !== undefined) await checkWritable(screenshot);
    const driven = await launchBrowser({ extension, headed: screenshot === undefined });
    try {
      const panel = await openPanelTab(await driven.firstPage(), driven.extensionId);
      await panel.open(file);
      if (screenshot === undefined)
        await new Promise<void>((done) => driven.browser.once('disconnected', () => done()));
      else {
        await panel.find('save'); // usable once a trace is there
        await panel.screenshot(screenshot);
      }
    } finally {
      await driven.close();
    }
    return 0;
  } catch (e) {
    if (!(e instanceof CommandFailure)) throw e;
    complain(e.message);
    return e.exitCode;
  }
}

/** A browser is not started for what it will refuse. @throws CommandFailure (exit code 2) */
async function checkTrace(file: string): Promise<void> {
  const bytes = await readFile(file).catch((e: unknown) => {
    throw wrongUse(cannotRead(file, e, 'a trace file'));
  });
  await readTrace(bytes, { maxEvents: 0 }).catch((e: unknown) => {
    throw e instanceof TraceFileError ? wrongUse(`${file}: ${e.message}`) : e;
  });
}
