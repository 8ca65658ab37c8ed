// MemoryVFS of @journeyapps/wa-sqlite with what it lacks: locks between this worker's connections,
// and a count of its reads.
import { MemoryVFS } from '../node_modules/@journeyapps/wa-sqlite/src/examples/MemoryVFS.js';

const [OK, BUSY] = [0, 5];
const [SHARED, RESERVED, PENDING, EXCLUSIVE] = [1, 2, 3, 4];

export class LockingMemoryVFS extends MemoryVFS {
  reads = 0;
  /** Level by open file. */
  levels = new Map();

  static async create(name, module) {
    const vfs = new LockingMemoryVFS(name, module);
    await vfs.isReady();
    return vfs;
  }

  /** The highest level that another connection holds on the same file. */
  others(fileId) {
    const file = this.mapIdToFile.get(fileId);
    let highest = 0;
    for (const [id, level] of this.levels)
      if (id !== fileId && this.mapIdToFile.get(id) === file) highest = Math.max(highest, level);
    return highest;
  }

  jRead(fileId, pData, iOffset) {
    this.reads++;
    return super.jRead(fileId, pData, iOffset);
  }
  jLock(fileId, level) {
    const held = this.levels.get(fileId) ?? 0;
    if (level <= held) return OK;
    const others = this.others(fileId);
    if (level === SHARED && others >= PENDING) return BUSY;
    if (level === RESERVED && others >= RESERVED) return BUSY;
    if (level === EXCLUSIVE && others >= SHARED) {
      if (others < RESERVED) this.levels.set(fileId, PENDING);
      return BUSY;
    }
    this.levels.set(fileId, level);
    return OK;
  }
  jUnlock(fileId, level) {
    if (level) this.levels.set(fileId, Math.min(level, this.levels.get(fileId) ?? 0));
    else this.levels.delete(fileId);
    return OK;
  }
  jCheckReservedLock(fileId, pResOut) {
    pResOut.setInt32(0, this.others(fileId) >= RESERVED ? 1 : 0, true);
    return OK;
  }
  jClose(fileId) {
    this.levels.delete(fileId);
    return super.jClose(fileId);
  }
}
