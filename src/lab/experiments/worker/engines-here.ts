/** The builds that the extension brings, for the Lab's worker: wa-sqlite's, and sqlite.org's with its JavaScript. */
import { buildOf, type BuildSource } from '../engine/builds.ts';
import { apiOfRaw } from '../engine/plain-loader.ts';
import { sqliteOrgFactory, type SqliteOrgInit } from '../engine/sqlite-org.ts';
import { SQLITE_ORG } from '../model/engine-names.ts';

const [, PACKAGE, VERSION] = /^(.+)@(.+)$/.exec(SQLITE_ORG)!;

export const buildHere: BuildSource = (config) => {
  const { engine, build, vfs = null } = config;
  if (engine !== SQLITE_ORG) return buildOf(config);
  if (build !== 'sync') throw new Error(`${engine} has no ${build} build.`);
  return {
    generation: 2,
    wasm: '@sqlite.org/sqlite-wasm/dist/sqlite3.wasm',
    source: { package: PACKAGE!, version: VERSION! },
    async load() {
      const { default: init } = await import('@sqlite.org/sqlite-wasm');
      return { factory: sqliteOrgFactory(init as unknown as SqliteOrgInit, vfs), api: apiOfRaw };
    },
  };
};
