/** Checks before a browser is started. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { browserFailed, type CommandFailure } from '../terminal/failure.ts';

/**
 * @param executable null = not found
 * @param extension null = not needed
 * @throws CommandFailure (exit code 3) without a browser or a build
 */
export function checkInstalled(
  browser: 'Chromium' | 'Firefox',
  executable: string | null,
  howToInstall: string,
  extension: string | null,
): asserts executable is string {
  if (!executable) {
    const variable = browser.toUpperCase();
    const asked = process.env[variable];
    throw browserFailed(
      `${asked ? `There is no browser at ${asked} (from $${variable}).` : `No ${browser} found.`} ${howToInstall}`,
    );
  }
  if (extension !== null && !existsSync(join(extension, 'manifest.json')))
    throw browserFailed(
      `There is no built extension in ${extension}. Build it with: npm run build`,
    );
}

/**
 * @throws CommandFailure (exit code 3) for a file that isn't a program, or for a window without a
 * display
 */
export function checkStartable(executable: string, headed: boolean): void {
  if (
    headed &&
    process.platform === 'linux' &&
    !process.env['DISPLAY'] &&
    !process.env['WAYLAND_DISPLAY']
  )
    throw browserFailed(
      'There is no display to open a window on (neither $DISPLAY nor $WAYLAND_DISPLAY is set).',
    );
  try {
    accessSync(executable, constants.X_OK);
  } catch {
    throw browserFailed(`${executable} isn't a program that can be started.`);
  }
  if (!statSync(executable).isFile())
    throw browserFailed(`${executable} is a folder, not a program.`);
}

/**
 * Why a browser that was found didn't start, without puppeteer's links.
 * @param product with its oldest supported version
 */
export function didNotStart(executable: string, product: string, cause: Error): CommandFailure {
  const why = cause.message
    .replace(/TROUBLESHOOTING:.*/s, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/ stderr:$/, '');
  return browserFailed(`${executable} did not start: ${why}. Is it ${product} or newer?`);
}
