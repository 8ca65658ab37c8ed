/** The browser that the user has chosen on this machine. */
import { spawn } from 'node:child_process';

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** What can't open it ends sooner; what still runs then shows it. */
const FAILS_WITHIN_MS = 3000;

/** Open this address in it. @returns false where that failed, as without a display: the user gets the address to open it themselves */
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
