/**
 * The extension's builds for the Lab's worker: wa-sqlite's, and those with their own VFSs and
 * JavaScript.
 */
import { buildOf, type Build, type BuildSource } from '../engine/builds.ts';
import { apiOfRaw } from '../engine/plain-loader.ts';
import { sqliteOrgFactory, type SqliteOrgInit } from '../engine/sqlite-org.ts';
import { ABSURD_SQL_JS, SQLITE_ORG } from '../model/engine-names.ts';
import type { EngineBuild } from '../model/types.ts';
import { sqlJsFactory } from './absurd-sql.ts';

type Own = Pick<Build, 'wasm'> & { readonly factory: (vfs: string | null) => Promise<Factory> };
type Factory = Awaited<ReturnType<Build['load']>>['factory'];
const OWN: Partial<Record<EngineBuild, Own>> = {
  [SQLITE_ORG]: {
    wasm: '@sqlite.org/sqlite-wasm/dist/sqlite3.wasm',
    async factory(vfs) {
      const { default: init } = await import('@sqlite.org/sqlite-wasm');
      return sqliteOrgFactory(init as unknown as SqliteOrgInit, vfs);
    },
  },
  [ABSURD_SQL_JS]: {
    wasm: '@jlongster/sql.js/dist/sql-wasm.wasm',
    factory: () => Promise.resolve(sqlJsFactory),
  },
};

export const buildHere: BuildSource = (config) => {
  const { engine, build, vfs = null } = config;
  const own = OWN[engine];
  if (!own) return buildOf(config);
  if (build !== 'sync') throw new Error(`${engine} has no ${build} build.`);
  const [, name, version] = /^(.+)@(.+)$/.exec(engine)!;
  return {
    generation: 2,
    wasm: own.wasm,
    source: { package: name!, version: version! },
    load: async () => ({ factory: await own.factory(vfs), api: apiOfRaw }),
  };
};
