/** Opens the database of a crash test on the current storage, with a VFS's published code. */
import type { SqliteApi } from '../experiments/engine/builds.ts';
import { engineFacts, type Engines } from '../experiments/engine/open-engine.ts';
import type { VfsMaker } from '../experiments/engine/open-host.ts';
import type { EngineFacts } from '../experiments/model/environment-types.ts';
import type { Config } from '../experiments/model/types.ts';
import { VfsMakers } from '../experiments/worker/vfs-makers.ts';

export interface Session {
  readonly sqlite3: Pick<SqliteApi, 'exec'>;
  readonly db: number;
  readonly close: () => Promise<void>;
  readonly engine: EngineFacts;
  /**
   * The VFS's text about its last failure, because SQLite only reports "disk I/O error". '' where
   * there is none.
   */
  readonly lastError: () => string;
}
/** Opens it as an app does at its start: new VFS, new connection. */
export type Opener = () => Promise<Session>;

export const FILE = 't.db';

/** Maximum sessions on one engine instance. The engine retains everything that a VFS registers. */
const MOST_SESSIONS = 200;

/**
 * An engine for each session. An engine whose session was closed is reused: it retains nothing of a
 * database, and a new engine takes most of the time of a recovery.
 * @param make returns a new engine
 */
export function reused<E>(make: () => Promise<E>): {
  take: () => Promise<E>;
  giveBack: (engine: E) => void;
} {
  let idle: E | null = null;
  let sessions = 0;
  return {
    async take() {
      const engine = idle;
      idle = null;
      if (engine !== null && ++sessions < MOST_SESSIONS) return engine;
      sessions = 0;
      return make();
    },
    giveBack: (engine) => void (idle = engine),
  };
}

/** @param lastError the VFS's text about it */
export function failureText(error: unknown, lastError = ''): string {
  const said = error instanceof Error ? error.message : String(error);
  return lastError && !said.includes(lastError) ? `${said} (${lastError})` : said;
}

/** @param make creates a different VFS than the configuration's */
export function waSqliteOpener(engines: Engines, config: Config, make?: VfsMaker): Opener {
  const pool = reused(() => engines.open(config, 'none'));
  return async () => {
    const engine = await pool.take();
    const { sqlite3, module } = engine;
    const makers = new VfsMakers();
    const made = await (make ?? makers.make)(config, module, 'crash');
    if (!made) throw new Error(`${config.vfs} stores nothing that a crash could leave.`);
    (sqlite3 as unknown as { vfs_register(vfs: object, asDefault: boolean): number }).vfs_register(
      made.vfs,
      true,
    );
    const db = await sqlite3.open_v2(FILE).catch((error: unknown) => {
      throw new Error(failureText(error, makers.lastError()), { cause: error });
    });
    return {
      sqlite3,
      db,
      engine: engineFacts(engine, config.build),
      lastError: () => makers.lastError(),
      close: async () => {
        await sqlite3.close(db);
        await makers.close();
        pool.giveBack(engine);
      },
    };
  };
}
