/**
 * Runs the user's npm as a child process. It knows the registry, the proxy, and the passwords;
 * vfscope knows none of them.
 */
import { spawn } from 'node:child_process';
import type { PackageName } from '../../experiments/model/engine-names.ts';

/** Timeout of one npm command. */
const PATIENCE_MS = 180_000;

/** Without a network, npm would retry silently for more than a minute. */
const RETRIES = '--fetch-retry-maxtimeout=10000';

/** @returns what it prints @throws Error with npm's own reason */
export type Npm = (args: readonly string[], folder: string) => Promise<string>;

/**
 * The reason that npm printed, without its period. The last lines of that kind only name log files.
 */
function reasonOf(stderr: string): string {
  const lines = stderr
    .split('\n')
    .flatMap((line) => /^npm (?:error|ERR!) +(.*)$/.exec(line.trim())?.[1] ?? [])
    .filter((line) => !/^(?:code|errno|syscall|path|A complete log|\s*\/)/i.test(line));
  const reason = lines[0] ?? stderr.trim().split('\n').at(-1) ?? '';
  return reason.replace(/\.$/, '');
}

/** @param args words that are safe in a shell: names and exact versions */
export const runNpm: Npm = (args, folder) =>
  new Promise((resolve, reject) => {
    // npm is a script on Windows and needs a shell to start
    const child = spawn('npm', [...args, RETRIES], {
      cwd: folder,
      shell: process.platform === 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => out.push(piece));
    child.stderr.on('data', (piece: Buffer) => err.push(piece));
    const timer = setTimeout(() => {
      child.kill();
      reject(new Error(`npm did not answer within ${PATIENCE_MS / 1000} s`));
    }, PATIENCE_MS);
    child.on('error', (e: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(new Error(e.code === 'ENOENT' ? 'npm is not installed' : e.message));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(out).toString('utf8'));
      else
        reject(
          new Error(
            `npm ${args[0]} failed: ${reasonOf(Buffer.concat(err).toString('utf8')) || `exit code ${code}`}`,
          ),
        );
    });
  });

/** All releases of a package in the registry. @throws Error with npm's reason */
export async function releasesOf(name: PackageName, npm: Npm, folder: string): Promise<string[]> {
  const answer: unknown = JSON.parse(await npm(['view', name, 'versions', '--json'], folder));
  const all = typeof answer === 'string' ? [answer] : answer;
  if (!Array.isArray(all) || !all.every((each) => typeof each === 'string'))
    throw new Error(`npm view ${name} gave no list of versions`);
  return all;
}
