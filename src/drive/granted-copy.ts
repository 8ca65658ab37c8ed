/**
 * A driven browser has no user to answer the question for access to a site. What it loads is a copy of the built extension whose
 * manifest requires what the shipped one makes optional.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Of a manifest: what is optional, and what it becomes part of. */
const GRANTED = {
  optional_host_permissions: 'host_permissions',
  optional_permissions: 'permissions',
};

/**
 * Folders to copy, one over the other. The npm package has of Firefox's extension what differs from Chromium's alone: the rest is 20 MB, and the
 * same (tests/browser/package-files.test.ts).
 */
const partsOf = (extension: string): string[] =>
  existsSync(join(extension, 'devtools')) ? [extension] : [join(extension, '../chrome'), extension];

type Manifest = Record<string, unknown>;

function granted(manifest: Manifest): Manifest {
  const copy = { ...manifest };
  for (const [optional, required] of Object.entries(GRANTED)) {
    if (!copy[optional]) continue;
    copy[required] = [
      ...((copy[required] as string[] | undefined) ?? []),
      ...(copy[optional] as string[]),
    ];
    delete copy[optional];
  }
  return copy;
}

/**
 * @param extension folder of the built extension, which stays as it is
 * @param userDataDir a profile that is to be used again: the copy lies in it, since Chromium names an extension after its folder
 * @param hook script to have in the place of the extension's own hook
 * @returns the copy's folder, and what removes it; the end of this process removes it, too. A copy in a profile stays.
 */
export function grantedCopy(
  extension: string,
  userDataDir?: string,
  hook?: string,
): { folder: string; remove: () => void } {
  const folder = userDataDir
    ? join(resolve(userDataDir), 'vfscope-extension')
    : mkdtempSync(join(tmpdir(), 'vfscope-extension-'));
  for (const part of partsOf(extension)) cpSync(part, folder, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(extension, 'manifest.json'), 'utf8')) as Manifest;
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(granted(manifest), null, 2));
  if (hook !== undefined) writeFileSync(join(folder, 'hooks.js'), hook);
  if (userDataDir) return { folder, remove: () => undefined };
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', remove);
  return { folder, remove };
}
