/**
 * External engines, in Node: finds the build for the name of a release or a wasm file, or the
 * reason why it can't run.
 */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Build, BuildSource } from '../../experiments/engine/builds.ts';
import { buildOf } from '../../experiments/engine/builds.ts';
import {
  compiledWasm,
  missingImports,
  plainBuild,
  sourceOfFile,
} from '../../experiments/engine/plain-build.ts';
import { apiOfRaw as api } from '../../experiments/engine/plain-loader.ts';
import { isOutside, releaseNamed } from '../../experiments/model/engine-names.ts';
import type { Config } from '../../experiments/model/types.ts';
import { cannotRead, complain } from '../../../terminal/open-file.ts';
import { cacheFolder } from './cache-folder.ts';
import { glueFactory, ownApi } from './glue.ts';
import { runNpm } from './npm.ts';
import { packageFolder, type PackageSource } from './packages.ts';

type Asked = Pick<Config, 'engine' | 'build'>;
type Source = Build['source'];

/** For the VFSs of an engine. */
const generation = 2;

/** wa-sqlite's files by kind of build. */
const SUFFIX = { sync: '', asyncify: '-async', jspi: '-jspi' } as const;

const message = (e: unknown): string => (e instanceof Error ? e.message : String(e));

async function read(path: string): Promise<[Uint8Array<ArrayBuffer>, WebAssembly.Module]> {
  const bytes = await readFile(path).catch((e: unknown) => {
    throw new Error(cannotRead(path, e, 'a wasm file').replace(/\.$/, ''));
  });
  const whole = new Uint8Array(bytes);
  return [whole, await compiledWasm(whole, path)];
}

function glueBuild(wasm: string, glue: string, source: Source): Build {
  return {
    ...{ generation, wasm, source },
    load: () => Promise.resolve({ factory: glueFactory(glue), api }),
  };
}

/** @param folder of the package */
function waSqlite(folder: string, build: Config['build'], source: Source): Build {
  const file = (name: string): string => needed(folder, name);
  const wasm = file(`dist/wa-sqlite${SUFFIX[build]}.wasm`);
  const glue = file(`dist/wa-sqlite${SUFFIX[build]}.mjs`);
  const own = file('src/sqlite-api.js');
  const second = existsSync(join(folder, 'src', 'FacadeVFS.js'));
  return { ...{ generation: second ? 2 : 1, wasm, source }, load: () => ownApi(glue, own) };
}

function needed(folder: string, name: string): string {
  const path = join(folder, ...name.split('/'));
  if (!existsSync(path)) throw new Error(`this release has no ${name}`);
  return path;
}

/** sqlite.org's file has moved between releases. */
async function fileNamed(folder: string, name: string): Promise<string> {
  const all = await readdir(folder, { recursive: true });
  const found = all
    .filter((path) => basename(path) === name && !path.split(/[\\/]/).includes('node_modules'))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  if (!found[0]) throw new Error(`this release has no ${name}`);
  return join(folder, found[0]);
}

function onlySync({ build }: Asked, name: string): void {
  if (build !== 'sync') throw new Error(`${name} has no ${build} build`);
}

/**
 * A wasm file: by itself if that is enough, else with the JavaScript file of the same name beside
 * it.
 */
async function fileBuild(asked: Asked): Promise<Build> {
  const wasm = resolve(asked.engine);
  const both = await read(wasm);
  const [bytes, module] = both;
  const source = await sourceOfFile(bytes, basename(wasm));
  const name = basename(wasm, '.wasm');
  const above = dirname(dirname(wasm));
  const own = Object.entries(SUFFIX).find(([, suffix]) => name === `wa-sqlite${suffix}`);
  if (own && existsSync(join(above, 'src', 'sqlite-api.js'))) {
    if (own[0] !== asked.build)
      throw new Error(`${wasm} is the ${own[0]} build: add build=${own[0]}`);
    return waSqlite(above, asked.build, source);
  }
  onlySync(asked, wasm);
  const missing = missingImports(module, wasm);
  if (!missing) return plainBuild(both, wasm, source, wasm);
  const beside = ['.mjs', '.js', '.cjs']
    .map((end) => join(dirname(wasm), name + end))
    .find((path) => existsSync(path));
  if (beside !== undefined) return glueBuild(wasm, beside, source);
  throw new Error(`${missing}, and there is no ${name}.js or ${name}.mjs beside it`);
}

/** @throws Error with the reason where it can't run */
async function outsideBuild(asked: Asked, packages: PackageSource): Promise<Build> {
  const release = releaseNamed(asked.engine);
  if (!release) return fileBuild(asked);
  const { folder, version } = await packageFolder(release, packages);
  const source = { package: release.package, version };
  if (release.package === 'wa-sqlite' || release.package === '@journeyapps/wa-sqlite')
    return waSqlite(folder, asked.build, source);
  onlySync(asked, release.package);
  if (release.package === 'sql.js')
    return glueBuild(
      needed(folder, 'dist/sql-wasm.wasm'),
      needed(folder, 'dist/sql-wasm.js'),
      source,
    );
  const wasm = await fileNamed(folder, 'sqlite3.wasm');
  return plainBuild(await read(wasm), wasm, source, 'sqlite3.wasm');
}

const keyOf = ({ engine, build }: Asked): string => `${build} ${engine}`;

/** Engines that were looked up, each found or rejected. */
export class OutsideEngines {
  private readonly builds = new Map<string, Build | string>();
  constructor(private readonly packages: PackageSource) {}

  /** Looks up engines that aren't bundled. Downloads missing releases. */
  async prepare(asked: readonly Asked[]): Promise<void> {
    for (const each of asked) {
      const key = keyOf(each);
      if (!isOutside(each.engine) || this.builds.has(key)) continue;
      this.builds.set(key, await outsideBuild(each, this.packages).catch(message));
    }
  }

  /** Why it can't run; null: it can. Only for looked-up engines. */
  readonly refused = (config: Asked): string | null => {
    const found = this.builds.get(keyOf(config));
    if (found === undefined) return `${config.engine} was not looked for`;
    return typeof found === 'string' ? found : null;
  };

  readonly buildOf: BuildSource = (config) => {
    if (!isOutside(config.engine)) return buildOf(config);
    const found = this.builds.get(keyOf(config));
    if (found === undefined || typeof found === 'string')
      throw new Error(found ?? `${config.engine} was not looked for`);
    return found;
  };
}

/** @param cache where downloaded releases are stored; undefined: the user's cache folder */
export const outsideEngines = (cache: string | undefined): OutsideEngines =>
  new OutsideEngines({ cache: cache ?? cacheFolder(), npm: runNpm, say: complain });
