/** Where downloaded releases are stored: the platform's cache folder of the user. */
import { homedir } from 'node:os';
import { join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

/** @param platform as process.platform @param home the user's folder */
export function cacheFolder(
  platform: string = process.platform,
  variables: Variables = process.env,
  home = homedir(),
): string {
  if (platform === 'win32')
    return join(variables.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'vfscope', 'Cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'vfscope');
  return join(variables.XDG_CACHE_HOME || join(home, '.cache'), 'vfscope');
}
