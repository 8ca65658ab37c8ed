/** sqlite.org's own VFSs, on its own build. */
import { CVfs } from '../engine/c-vfs.ts';
import type { EngineModule } from '../engine/builds.ts';
import type { OpenVfs } from '../engine/open-host.ts';
import type { SqliteOrgModule } from '../engine/sqlite-org.ts';
import { whyNoSharedMemory } from '../model/shared-memory.ts';
import type { Config } from '../model/types.ts';
import { LAB } from './storage.ts';

interface Made extends OpenVfs {
  readonly close: () => Promise<void>;
}

/** @throws Error with a message for the user where it can't run here */
export async function sqliteOrgVfs({ vfs }: Config, module: EngineModule): Promise<Made> {
  const { sqlite3, workers } = module as SqliteOrgModule;
  const pool =
    vfs === 'opfs-sahpool'
      ? await sqlite3.installOpfsSAHPoolVfs({
          name: vfs,
          directory: `${LAB}-sahpool`,
          verbosity: 0,
          clearOnInit: true,
        })
      : null;
  const pVfs = sqlite3.capi.sqlite3_vfs_find(vfs);
  if (!pVfs) throw new Error(`${vfs} could not be installed. ${whyNot(vfs)}`);
  sqlite3.capi.sqlite3_vfs_register(pVfs, 1);
  const found = new CVfs(module as SqliteOrgModule, pVfs);
  return {
    vfs: found.methods,
    attach: () => found.attach(),
    async close() {
      await pool?.removeVfs();
      for (const worker of workers) worker.terminate();
    },
  };
}

/** Their requirements, as their own code checks them. */
function whyNot(vfs: Config['vfs']): string {
  const unshared = whyNoSharedMemory('It');
  if (unshared !== null) return `${unshared}.`;
  if (vfs === 'opfs-wl' && !('waitAsync' in Atomics))
    return 'It needs Atomics.waitAsync, which this browser does not have.';
  return 'Its worker did not start.';
}
