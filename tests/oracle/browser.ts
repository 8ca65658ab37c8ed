/** Starts Chromium without any extension: the browser of the oracle and of the untraced baseline. */
import puppeteer, { type Browser } from 'puppeteer-core';
import { NO_POPUP_PAGES } from '../../src/drive/browser.ts';

/** Debian's binary, not its wrapper script, which adds an extension of its own. */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/lib/chromium/chromium';

/** Headless Chromium with a fresh profile. The caller closes it. @param args more of its command line */
export function launchPlainBrowser(args: string[] = []): Promise<Browser> {
  return puppeteer.launch({
    executablePath: CHROMIUM,
    headless: true,
    pipe: true,
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), NO_POPUP_PAGES, ...args],
  });
}
