/**
 * Names of engines: two are bundled. All others are external: a release of an npm package or the
 * path of a wasm file.
 */
import type { BundledEngine, EngineBuild, OutsideEngine } from './types.ts';

export const BUNDLED: readonly BundledEngine[] = ['wa-sqlite-2.0.6', 'wa-sqlite-1.0.0'];

/** sqlite.org's build. The extension contains it for its VFSs. Node takes it from npm. */
export const SQLITE_ORG = '@sqlite.org/sqlite-wasm@3.54.1-build1';

/** absurd-sql's build. The extension contains it for that VFS. */
export const ABSURD_SQL_JS = '@jlongster/sql.js@1.6.7';

/** npm packages whose releases can all run. */
export const PACKAGES = [
  'sql.js',
  '@sqlite.org/sqlite-wasm',
  'wa-sqlite',
  '@journeyapps/wa-sqlite',
] as const;
export type PackageName = (typeof PACKAGES)[number];
export const isPackage = (name: string): name is PackageName =>
  PACKAGES.some((known) => known === name);

/** A release of a package; null: the installed one. */
export interface Release {
  readonly package: PackageName;
  readonly version: string | null;
}

/** An example release in npm, for messages. */
export const EXAMPLE_RELEASE = 'sql.js@1.13.0';
/**
 * An exact version, not a range or a tag, whose meaning changes every month. It is part of a file
 * name and of a command line.
 */
const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]*)?$/;

export const isBundled = (engine: string): engine is BundledEngine =>
  BUNDLED.some((known) => known === engine);
/** Whether the extension contains it. */
export const isInExtension = (engine: EngineBuild): boolean =>
  isBundled(engine) || engine === SQLITE_ORG || engine === ABSURD_SQL_JS;
export const isOutside = (engine: EngineBuild): engine is OutsideEngine =>
  !isBundled(engine) && engine !== 'native';

/**
 * The release for an engine's name; null where it is a path.
 * @throws Error with a message for the user where it is neither
 */
export function releaseNamed(engine: string): Release | null {
  if (engine.endsWith('.wasm')) return null;
  const at = engine.indexOf('@', 1);
  const name = at < 0 ? engine : engine.slice(0, at);
  if (/turso/i.test(name))
    throw new Error(
      `engine ${engine}: Turso doesn't run in the Lab. Its wasm file exports none of SQLite's functions that the Lab calls. You can record an app that uses it.`,
    );
  if (!isPackage(name))
    throw new Error(
      `engine ${engine}: expected ${BUNDLED.join(', ')}, a path that ends in .wasm, or a release of ${PACKAGES.join(', ')}, as in ${EXAMPLE_RELEASE}.`,
    );
  if (at < 0) return { package: name, version: null };
  const version = engine.slice(at + 1);
  if (!VERSION.test(version))
    throw new Error(`engine ${engine}: expected an exact version, as in ${EXAMPLE_RELEASE}.`);
  return { package: name, version };
}
