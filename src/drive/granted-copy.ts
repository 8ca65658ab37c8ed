/**
 * A driven browser has no user to answer the prompt for site access. It loads a copy of the built
 * extension whose manifest requires the permissions that are optional in the shipped one.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** In a manifest: the optional keys, and the keys that they are moved to. */
const GRANTED = {
  optional_host_permissions: 'host_permissions',
  optional_permissions: 'permissions',
};

/**
 * Folders to copy, one over the other. For Firefox, the npm package has only the files that differ
 * from Chromium's extension. The rest is 20 MB of identical files
 * (tests/browser/package-files.test.ts).
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
 * @param extension folder of the built extension, which stays unchanged
 * @param userDataDir a profile to reuse. The copy is stored in it, since Chromium derives an
 * extension's id from its folder
 * @param hook script that replaces the extension's hook
 * @returns the copy's folder, and a function that removes it. The copy is also removed when this
 * process ends, except in a profile
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
