/** Crash tests of published VFSs on emulated storage, and of VFSs with planted defects, which must be found at the right call. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { crashCommand, crashOrder, openerOf } from '../../src/lab/command/crash.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { nodeEnvironment } from '../../src/lab/command/node-environment.ts';
import { configOf, crashTest } from '../../src/lab/crash/crash-test.ts';
import { DEFAULT_OPTIONS, type CrashConfig, type CrashResult } from '../../src/lab/crash/model.ts';
import { waSqliteOpener } from '../../src/lab/crash/open.ts';
import { guaranteeText } from '../../src/lab/results/crash.ts';
import { CommandFailure } from '../../src/terminal/failure.ts';

const around = { environment: nodeEnvironment() };
const of = (words: string): CrashConfig => crashOrder(words.split(' ')).configs[0]!;
const crash = async (words: string, commits = 2): Promise<CrashResult> => {
  const config = of(words);
  return crashTest(config, await openerOf(config), { ...DEFAULT_OPTIONS, commits }, around);
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
    AccessHandlePoolVFS: new (
      name: string,
      module: object,
    ) => Pool & { isReady(): Promise<boolean> };
  };
const MAIN_DB = 0x100;

/** Delays some files' writes. */
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
/** Its xSync of the database returns before the pages are written. The next xLock writes them. */
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
/**
 * Writes its journal when the database is synced, after the pages that the journal should restore.
 */
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
async function planted(Vfs: typeof PoolVfs, commits = 2): Promise<CrashResult> {
  const config = of('vfs=AccessHandlePool journalMode=delete synchronous=full');
  const open = waSqliteOpener(engines, configOf(config), async (_config, module) => {
    const vfs = new Vfs('crash', module);
    await vfs.isReady();
    return { vfs: vfs as unknown as Record<string, unknown> };
  });
  return crashTest(config, open, { ...DEFAULT_OPTIONS, commits }, around);
}

/** A pool's file has a random name, followed by SQLite's name. */
const page = (at: number): RegExp => new RegExp(`^write 4096 bytes at ${at} of \\S+ \\(t\\.db\\)$`);
const levels = ({ processDeath, powerLoss }: CrashResult): string[] => [
  processDeath.level,
  powerLoss.level,
];

describe('a planted defect is found at its call', () => {
  it('an xSync that returns before it has written', async () => {
    const { processDeath } = await planted(EarlySync);
    // SQLite deleted the journal and acknowledged the commit, whose pages are written at the next
    // lock
    const { lost } = processDeath.first;
    expect(lost).toMatchObject({ afterCall: 46, acknowledged: 1, recovered: 0, cause: null });
    expect(lost!.call).toMatch(/^truncate \S+ to 4096 bytes$/);
    expect(lost!.nextCall).toMatch(page(4096));
    expect(processDeath.level).toBe('corrupt'); // later, in the middle of these pages
    expect(processDeath.first.corrupt!.call).toMatch(page(4096));
    expect(processDeath.first.corrupt!.afterCall).toBe(lost!.afterCall + 1);
  });

  it('a journal that is written after the database', async () => {
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

const KEPT = 'all commits kept';
const lost = (n: number): string =>
  `last ${n === 1 ? 'commit' : `${n} commits`} can be lost, database intact`;

// npm run test:long has every configuration
describe('published VFSs', () => {
  it.each([
    ['vfs=AccessHandlePool journalMode=delete synchronous=full', KEPT, KEPT],
    ['vfs=AccessHandlePool journalMode=wal synchronous=full', KEPT, KEPT],
    ['vfs=AccessHandlePool journalMode=wal synchronous=normal', KEPT, lost(1)],
    ['vfs=opfs-sahpool journalMode=delete synchronous=full', KEPT, KEPT],
    ['vfs=opfs-sahpool journalMode=wal synchronous=full', KEPT, KEPT],
    ['vfs=OPFSWriteAhead journalMode=delete synchronous=full', KEPT, KEPT],
    ['vfs=BlockIDB journalMode=delete synchronous=full durability=strict', KEPT, KEPT],
    ['vfs=BlockIDB journalMode=delete synchronous=full durability=relaxed', KEPT, lost(2)],
    // it requests no strict transaction
    ['vfs=IDBMirror journalMode=delete synchronous=full', KEPT, lost(2)],
    // documented by SQLite: with one sync of the journal, its header can be stored without its
    // pages
    ['vfs=AccessHandlePool journalMode=delete synchronous=normal', KEPT, 'corrupt'],
  ])('%s: %s; %s', async (words, processDeath, powerLoss) => {
    const result = await crash(words);
    expect(guaranteeText(result.processDeath)).toBe(processDeath);
    expect(guaranteeText(result.powerLoss)).toBe(powerLoss);
  });

  it('OPFSCoopSync truncates the journal to commit, and never flushes that', async () => {
    const { processDeath, powerLoss } = await crash(
      'vfs=OPFSCoopSync journalMode=delete synchronous=full',
    );
    expect(processDeath.level).toBe('kept');
    expect(powerLoss).toMatchObject({ level: 'lost', mostLost: 1, lostCommits: [1, 2] });
    expect(powerLoss.first.lost).toMatchObject({
      afterCall: 24,
      call: 'truncate t.db-journal to 0 bytes',
      lost: ['call 24: truncate t.db-journal to 0 bytes'],
      acknowledged: 1,
      recovered: 0,
    });
  });

  it('OPFSCoopSync in WAL mode: the journal of the change to WAL returns', async () => {
    const { processDeath, powerLoss } = await crash(
      'vfs=OPFSCoopSync journalMode=wal synchronous=full',
    );
    expect(processDeath.level).toBe('kept');
    expect(powerLoss).toMatchObject({ level: 'lost', mostLost: 2 });
    expect(powerLoss.first.lost!.lost).toEqual(['call 21: truncate t.db-journal to 0 bytes']);
  });

  it("IDBBatchAtomic doesn't wait for the end of the first commit, which has a journal", async () => {
    const result = await crash('vfs=IDBBatchAtomic journalMode=delete synchronous=full');
    for (const { level, lostCommits, first } of [result.processDeath, result.powerLoss]) {
      expect([level, lostCommits]).toEqual(['lost', [1]]);
      expect(first.lost).toMatchObject({
        afterCall: 7,
        call: 'commit vfscope-lab (strict: 6 puts, 0 deletes)',
        nextCall: 'commit vfscope-lab (relaxed: 0 puts, 2 deletes)',
      });
    }
  });

  it('without a journal a killed process damages the database', async () => {
    const result = await crash('vfs=AccessHandlePool journalMode=off synchronous=full', 2);
    expect(levels(result)).toEqual(['corrupt', 'corrupt']);
  });

  it('finds more if a truncate alone can be lost', async () => {
    const words = 'vfs=OPFSCoopSync journalMode=delete synchronous=full';
    const config = of(words);
    const any = { truncates: 'any', commits: 4 } as const;
    const result = await crashTest(config, await openerOf(config), any, around);
    expect(levels(result)).toEqual(['kept', 'corrupt']);
  });

  it('has the same answer and the same counts each time', async () => {
    const words = 'vfs=opfs-sahpool journalMode=delete synchronous=full';
    const [first, second] = [await crash(words, 2), await crash(words, 2)];
    expect(second).toEqual(first);
    const { calls, processDeath, powerLoss } = first;
    expect([calls, processDeath.states, powerLoss.states]).toEqual([84, 85, 642]);
  });
});

describe('the command', () => {
  afterEach(() => vi.restoreAllMocks());
  async function run(
    words: string,
    more: { json?: boolean; require?: string } = {},
    onLine: (line: string) => void = () => {},
  ): Promise<{ code: number; out: string; said: string }> {
    let [out, said] = ['', ''];
    vi.spyOn(process.stdout, 'write').mockImplementation((text, done?: unknown) => {
      out += String(text);
      if (typeof done === 'function') (done as () => void)();
      return true;
    });
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text);
      onLine(String(text));
      return true;
    });
    const asked = { json: false, require: undefined, ...more };
    const code = await crashCommand({ config: words.split(' '), ...asked });
    vi.restoreAllMocks();
    return { code, out, said };
  }
  const RELAXED = 'vfs=BlockIDB journalMode=delete synchronous=full durability=relaxed commits=2';

  it('prints a table, the first call that breaks a guarantee, and its assumptions', async () => {
    const { code, out } = await run(RELAXED);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^ {2}BlockIDB +delete +full +relaxed +all commits kept +last 2 commits can be lost, database intact$/m,
    );
    expect(out).toContain('Power loss loses a commit, first after call 5');
    expect(out).toMatch(/^Assumptions\n {2}Process death/m);
  });
  it('exits with 1 if less is kept than required', async () => {
    expect((await run(RELAXED, { require: 'intact' })).code).toBe(0);
    expect((await run(RELAXED, { require: 'kept' })).code).toBe(1);
  });
  it("prints everything as JSON, with the cause if a configuration can't run", async () => {
    const { out } = await run('vfs=OPFSCoopSync journalMode=persist synchronous=full', {
      json: true,
    });
    const { assumptions, outcomes } = JSON.parse(out) as {
      assumptions: string[];
      outcomes: { cause: string }[];
    };
    expect(assumptions.length).toBeGreaterThan(5);
    expect(outcomes[0]!.cause).toMatch(/journal_mode must be/);
  });
  it('exits soon on Ctrl+C, even within a configuration, with the completed ones', async () => {
    const { code, out, said } = await run(RELAXED.replace('delete', 'delete,wal'), {}, (line) => {
      if (line.includes('2 of 2')) process.emit('SIGINT');
    });
    expect(code).toBe(3);
    expect(said).toContain('interrupted: 1 of 2 configurations done.');
    expect(out).toMatch(/^ {2}BlockIDB +delete +full +relaxed +all commits kept/m);
    expect(out).toMatch(/^ {2}BlockIDB +wal +full +relaxed +n\/a +n\/a$/m);
    expect(out).toContain(
      'BlockIDB, wal, synchronous=full, relaxed: n/a, interrupted after 1 crash.',
    );
  });
  it.each([
    ['vfs=nope', /expected some of OPFSCoopSync/],
    ['pageSize=512', /expected vfs, journalMode/],
    ['commits=0', /expected 1 to 50/],
    ['truncates=any,ordered', /expected ordered or any/],
  ])('refuses %s', (words, message) => {
    expect(() => crashOrder([words])).toThrow(CommandFailure);
    expect(() => crashOrder([words])).toThrow(message);
  });
});
