/** The browser that the user has chosen on this machine. */
import { spawn } from 'node:child_process';

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Open this address in it. @returns false where nothing could be started: the user gets the address to open it themselves */
export function openInUserBrowser(url: string): Promise<boolean> {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((done) => {
    const child = spawn(program!, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => done(false));
    child.once('spawn', () => {
      child.unref();
      done(true);
    });
  });
}
