/** The sqlite3 shell, if this machine has one: an independent count. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @returns the output of these commands on a copy of the file; null = no shell on this machine */
export async function sqliteShell(file: Blob, commands: string): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-shell-'));
  const path = join(folder, 'copy.db');
  writeFileSync(path, new Uint8Array(await file.arrayBuffer()));
  try {
    return execFileSync('sqlite3', [path], { input: commands, encoding: 'utf8' });
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw e;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A number of `.stats on`, of each statement. */
export const shellStat = (out: string, name: string): number[] =>
  [...out.matchAll(new RegExp(`^${name}: +(\\d+)`, 'gm'))].map(([, n]) => Number(n));
