// The worker side of every engine app: answers the page's calls with the app's engine.
import { runWorkload } from './workload.js';

/**
 * An engine as an app uses it: loaded once, with any number of databases.
 * @typedef {object} Engine
 * @property {(config: Record<string, string>) => Promise<Record<string, unknown>>} load  what was loaded: version, VFS, build
 * @property {(name: string) => Promise<import('./workload.js').Connection>} open
 */

/**
 * Calls by name: `prepare` loads the engine and opens a database, `run` runs a workload on it and
 * closes it, unless an option leaves it open.
 * @param {Engine} engine
 */
export function createSession(engine) {
  let about = null;
  let open = null;

  async function prepare(config, name) {
    about ??= await engine.load(config);
    if (open && open.name !== name) throw new Error(`"${open.name}" is still open`);
    open ??= { name, db: await engine.open(name) };
    return about;
  }

  async function run(config, name, workload, options) {
    await prepare(config, name);
    const { db } = open;
    try {
      return { ...(await runWorkload(db, workload, options)), engine: about };
    } finally {
      open = null;
      if (!options?.leaveOpen) await db.close();
    }
  }

  return { prepare, run };
}

/**
 * Serves a session to the page that started this worker. Messages: {id, call, args} -> {id, result} or {id, error}.
 * @param {Engine} engine
 */
export function serve(engine) {
  const session = createSession(engine);
  self.onmessage = async ({ data: { id, call, args } }) => {
    if (!session[call]) return; // a package's own message, for its own listener
    try {
      self.postMessage({ id, result: await session[call](...args) });
    } catch (error) {
      self.postMessage({ id, error: String(error?.stack ?? error) });
    }
  };
  self.postMessage({ loaded: true });
}
