/** Recovers the states that crashes leave, and checks which commits survived. */
import { diskKey } from './disk-key.ts';
import { failureText, type Opener } from './open.ts';
import type { Disk } from './storage/disk.ts';
import { LiveStorage } from './storage/live-storage.ts';
import { emulate } from './storage/realm.ts';
import { inspect } from './workload.ts';

export interface Verdict {
  /** Surviving commits; null where the database is damaged or can't be read. */
  readonly recovered: number | null;
  /** The problem, such as the output of integrity_check; null: none. */
  readonly cause: string | null;
}

/**
 * Timeout for a VFS that never answers, as after a lock that nothing releases. Opening takes
 * milliseconds.
 */
const PATIENCE_MS = 20_000;

export class Judge {
  private readonly known = new Map<string, Verdict>();
  /** @param before PRAGMAs that a connection needs before it can read */
  constructor(
    private readonly open: Opener,
    private readonly before: string,
  ) {}

  /** Number of different states so far. */
  get states(): number {
    return this.known.size;
  }

  async verdictOn(disk: Disk): Promise<Verdict> {
    const key = diskKey(disk);
    let verdict = this.known.get(key);
    if (!verdict) this.known.set(key, (verdict = await this.recover(disk)));
    return verdict;
  }

  private async recover(disk: Disk): Promise<Verdict> {
    const restore = emulate(new LiveStorage(disk.copy()));
    let lastError = (): string => '';
    const look = async (): Promise<Verdict> => {
      const session = await this.open();
      ({ lastError } = session);
      if (this.before) await session.sqlite3.exec(session.db, this.before);
      const { commits, fault } = await inspect(session);
      await session.close();
      return { recovered: commits, cause: fault };
    };
    try {
      return await withPatience(look());
    } catch (error) {
      return { recovered: null, cause: `it can't be read: ${failureText(error, lastError())}` };
    } finally {
      restore();
    }
  }
}

function withPatience<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`no answer within ${PATIENCE_MS / 1000} seconds`)),
      PATIENCE_MS,
    );
    work.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
