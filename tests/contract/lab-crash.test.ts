/** Crash tests of published VFSs on emulated storage, and of VFSs with planted defects, which must be found at the right call. */
import { describe, expect, it } from 'vitest';
import { crashOrder, openerOf } from '../../src/lab/command/crash.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { configOf, crashTest } from '../../src/lab/crash/crash-test.ts';
import { DEFAULT_OPTIONS, type CrashConfig, type CrashResult } from '../../src/lab/crash/model.ts';
import { waSqliteOpener } from '../../src/lab/crash/open.ts';

const of = (words: string): CrashConfig => crashOrder(words.split(' ')).configs[0]!;
const crash = async (words: string, commits = 3): Promise<CrashResult> => {
  const config = of(words);
  return crashTest(config, await openerOf(config), { ...DEFAULT_OPTIONS, commits });
};
const { engines } = nodeSurroundings();

interface Pool {
  jOpen(name: string | null, id: number, flags: number, out: DataView): number;
  jWrite(id: number, data: Uint8Array, at: number): number;
  jSync(id: number, flags: number): number;
  jClose(id: number): number;
  jLock?(id: number, level: number): number;
}
const { AccessHandlePoolVFS: PoolVfs } =
  (await import('@journeyapps/wa-sqlite/src/examples/AccessHandlePoolVFS.js')) as unknown as {
    AccessHandlePoolVFS: new (name: string, module: object) => Pool & { isReady(): Promise<boolean> };
  };
const MAIN_DB = 0x100;

/** Holds back some files' writes, and makes them later. */
abstract class Late extends PoolVfs {
  protected readonly isMain = new Set<number>();
  private held: (() => void)[] = [];
  override jOpen(name: string | null, id: number, flags: number, out: DataView): number {
    if (flags & MAIN_DB) this.isMain.add(id);
    return super.jOpen(name, id, flags, out);
  }
  protected hold(id: number, data: Uint8Array, at: number): number {
    const copy = data.slice();
    this.held.push(() => void super.jWrite(id, copy, at));
    return 0;
  }
  protected release(): void {
    const { held } = this;
    this.held = [];
    for (const make of held) make();
  }
}
/** Its xSync of the database answers before the pages are written: the next xLock writes them. */
class EarlySync extends Late {
  override jWrite(id: number, data: Uint8Array, at: number): number {
    return this.isMain.has(id) ? this.hold(id, data, at) : super.jWrite(id, data, at);
  }
  override jSync(id: number, flags: number): number {
    return this.isMain.has(id) ? 0 : super.jSync(id, flags);
  }
  override jLock(): number {
    this.release();
    return 0;
  }
  override jClose(id: number): number {
    if (this.isMain.has(id)) this.release();
    return super.jClose(id);
  }
}
/** Writes its journal when the database is synced: behind the pages that the journal should bring back. */
class JournalLast extends Late {
  override jWrite(id: number, data: Uint8Array, at: number): number {
    return this.isMain.has(id) ? super.jWrite(id, data, at) : this.hold(id, data, at);
  }
  override jSync(id: number, flags: number): number {
    if (this.isMain.has(id)) this.release();
    return super.jSync(id, flags);
  }
}
/** Never flushes. */
class NoFlush extends PoolVfs {
  override jSync(): number {
    return 0;
  }
}
async function planted(Vfs: typeof PoolVfs, commits = 3): Promise<CrashResult> {
  const config = of('vfs=AccessHandlePool journalMode=delete synchronous=full');
  const open = waSqliteOpener(engines, configOf(config), async (_config, module) => {
    const vfs = new Vfs('crash', module);
    await vfs.isReady();
    return { vfs: vfs as unknown as Record<string, unknown> };
  });
  return crashTest(config, open, { ...DEFAULT_OPTIONS, commits });
}

/** A file of the pool has a random name; SQLite's name stands behind it. */
const page = (at: number): RegExp => new RegExp(`^write 4096 bytes at ${at} of \\S+ \\(t\\.db\\)$`);
const levels = ({ processDeath, powerLoss }: CrashResult): string[] => [
  processDeath.level,
  powerLoss.level,
];

describe('a planted defect is found at its call', () => {
  it('an xSync that answers before it has written', async () => {
    const { processDeath } = await planted(EarlySync);
    // SQLite deleted the journal and acknowledged the commit; its pages come with the next lock
    const { lost } = processDeath.first;
    expect(lost).toMatchObject({ afterCall: 0, acknowledged: 1, recovered: 0, cause: null });
    expect(lost!.call).toMatch(/^truncate \S+ to 4096 bytes$/);
    expect(lost!.nextCall).toMatch(page(4096));
    expect(processDeath.level).toBe('corrupt'); // later, in the middle of these pages
    expect(processDeath.first.corrupt!.call).toMatch(page(4096));
    expect(processDeath.first.corrupt!.afterCall).toBe(lost!.afterCall + 1);
  });

  it('a journal that is written behind the database', async () => {
    const { processDeath } = await planted(JournalLast);
    const { corrupt } = processDeath.first;
    expect(corrupt).toMatchObject({ afterCall: 40, phase: 'commit 1', acknowledged: 0 });
    expect([corrupt!.call, corrupt!.nextCall]).toEqual([
      expect.stringMatching(page(4096)),
      expect.stringMatching(page(8192)),
    ]);
  });

  it('an xSync that flushes nothing: only power loss breaks it', async () => {
    const result = await planted(NoFlush);
    expect(levels(result)).toEqual(['kept', 'corrupt']);
    const { corrupt, lost } = result.powerLoss.first;
    expect(corrupt).toMatchObject({ afterCall: 40, phase: 'commit 1' });
    expect(corrupt!.call).toMatch(page(4096));
    expect(corrupt!.lost).toEqual([
      expect.stringMatching(/^call 39: write 12 bytes at 4096 of \S+ \(t\.db-journal\)$/),
    ]);
    expect(lost).toMatchObject({ afterCall: 48, acknowledged: 1, recovered: 0 });
  });
});

void crash;
