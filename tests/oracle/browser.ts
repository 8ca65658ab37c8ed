/** Starts Chromium without any extension, for the oracle and the untraced baseline. */
import puppeteer, { type Browser } from 'puppeteer-core';
import { NO_POPUP_PAGES } from '../../src/drive/browser.ts';

/** Debian's binary, not its wrapper script, which adds another extension. */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/lib/chromium/chromium';

/**
 * Headless Chromium with a fresh profile. The caller closes it. @param args additional arguments
 */
export function launchPlainBrowser(args: string[] = []): Promise<Browser> {
  return puppeteer.launch({
    executablePath: CHROMIUM,
    headless: true,
    pipe: true,
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), NO_POPUP_PAGES, ...args],
  });
}
