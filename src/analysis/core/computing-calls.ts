/**
 * VFS calls that only compute: synchronous ones without a storage call inside. The VFS found the
 * page in its own cache, or has its files in memory. Their time counts as CPU everywhere
 * (time-partition.ts, rule 3), whatever their operation.
 *
 *   xRead [opfs.read]     reads           xRead [        ]     computes           xLock ~~~~~~~~     waits
 */
import { isVfsOp } from '../../event/operations.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import { appDatabases } from './app-databases.ts';
import { threadFact } from './graph.ts';
import { storageIsUnseen } from './layers.ts';
import { owners } from './owners.ts';
import { Calls, Stack } from './time-calls.ts';
import { Role, ROLE_OF_OP } from './time-parts.ts';

/**
 * By row of a thread: 1 = such a call. If storage calls weren't recorded, none is known to be one.
 */
export const computingCalls = threadFact(
  'computingCalls',
  'calls that only compute',
  { owners, appDatabases },
  (thread, known): Uint8Array => {
    const { events } = thread;
    const computes = new Uint8Array(events.count);
    if (storageIsUnseen(thread)) return computes;
    const calls = new Calls(thread, known.appDatabases.of(thread));
    const of = known.owners.of(thread);
    for (let row = 0; row < events.count; row++) {
      const stacks = calls.stacksOf(row); // called for each row, because they must ascend
      if (isVfsOp(events.op[row]!))
        computes[row] = (stacks & (1 << Stack.running)) !== 0 && !isInMemory(events, row) ? 1 : 0;
      else if (ROLE_OF_OP[events.op[row]!] === Role.web) {
        const vfs = of.vfs(row);
        if (vfs >= 0) computes[vfs] = 0;
      }
    }
    return computes;
  },
);
