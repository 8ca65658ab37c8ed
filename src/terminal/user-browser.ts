/** The user's default browser on this machine. */
import { spawn } from 'node:child_process';

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/**
 * If the command can't open it, it exits sooner. If it still runs after this time, the browser is
 * open.
 */
const FAILS_WITHIN_MS = 3000;

/**
 * Open this address in it. @returns false if that failed, for example without a display; the user
 * then gets the address
 */
export function openInUserBrowser(url: string): Promise<boolean> {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((done) => {
    const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true });
    child.unref();
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
    setTimeout(done, FAILS_WITHIN_MS, true).unref();
  });
}
