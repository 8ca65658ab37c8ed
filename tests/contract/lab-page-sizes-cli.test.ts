/**
 * `vfscope lab replay FILE --page-sizes` and `--checkpoints`: text and JSON of a stored recording,
 * and what is rejected.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { CommandFailure } from '../../src/terminal/failure.ts';
import { replayCommand, type ReplayOptions } from '../../src/lab/command/replay.ts';
import { whatIfCommand } from '../../src/lab/command/what-if.ts';
import { TraceStore } from '../../src/trace/store.ts';

afterEach(() => void vi.restoreAllMocks());

async function run(name: string, more: Partial<ReplayOptions> = {}, exit = 0): Promise<string> {
  let out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
    out += String(text);
    const done = rest.find((r): r is () => void => typeof r === 'function');
    done?.();
    return true;
  });
  const file = join(import.meta.dirname, '..', 'traces', 'golden', `${name}.vfst`);
  const code = await replayCommand({
    ...{
      file,
      config: [],
      node: false,
      json: false,
      headed: false,
      out: undefined,
      pageSizes: true,
      checkpoints: false,
    },
    ...more,
  });
  vi.restoreAllMocks();
  expect(code).toBe(exit);
  return out;
}

it('a table for each database, with its assumption, and the same as JSON', async () => {
  const text = await run('memory-delete');
  expect(text).toMatch(/pages of 4,096 bytes were recorded/);
  expect(
    text.match(/^ *(?:512|1,024|2,048|4,096 recorded|8,192|16,384|32,768|65,536) /gm),
  ).toHaveLength(8);
  expect(text).toMatch(/An estimate: pages that adjoin become one/);
  const { databases } = JSON.parse(await run('memory-delete', { json: true })) as {
    databases: { sizes: { recorded: boolean; writes: object; writeBytes: object }[] }[];
  };
  const [recorded] = databases[0]!.sizes.filter((s) => s.recorded);
  // the bytes in the recording
  expect(recorded!.writeBytes).toEqual({ least: 8_228_864, most: 8_228_864 });
});

it('as files: a page that loads nothing, its charts, every number', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-what-if-'));
  const files = {
    html: join(folder, 'w.html'),
    svg: join(folder, 'w.svg'),
    csv: join(folder, 'w.csv'),
  };
  try {
    await run('memory-delete', { files });
    const html = readFileSync(files.html, 'utf8');
    expect(html).toMatch(/4,096 bytes, recorded: 7\.85 MiB/);
    expect(html).not.toMatch(/bytes read|<script|https?:/); // it reads no page
    expect(readFileSync(files.csv, 'utf8')).toMatch(/,4096,1,writeBytes,8228864,8228864\n/);
    await run('checkpoint-storm', { ...counted, files });
    expect(readFileSync(files.svg, 'utf8')).toMatch(/wal_autocheckpoint 1,000/);
    expect(readFileSync(files.csv, 'utf8')).toMatch(/,1000,\d,dbWrites,\d+\n/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const counted = { pageSizes: false, checkpoints: true };
interface Logs {
  logs: { differing: unknown[]; choices: Record<string, unknown>[] }[];
}
const choicesOf = async (name: string): Promise<Logs['logs'][number]> =>
  (JSON.parse(await run(name, { ...counted, json: true })) as Logs).logs[0]!;

it('other values of wal_autocheckpoint, with the recorded one marked', async () => {
  const text = await run('checkpoint-storm', counted);
  expect(text).toMatch(/^ *4 \(recorded\) /m);
  expect(text).toMatch(/^ *100 to off {2,}/m); // values with the same counts share a row
  expect(text).toMatch(/For the recorded value, all counts are those of the recording\./);
});

it('two recordings of one load, without checkpoints and with: each predicts what the other counted', async () => {
  const [without, with1000] = [
    await choicesOf('wal-never-shrinks'),
    await choicesOf('wal-begins-anew'),
  ];
  // the recorded values give the recorded counts
  expect([without.differing, with1000.differing]).toEqual([[], []]);
  const counts = ({ choices }: Logs['logs'][number], autocheckpoint: number): object => {
    const {
      recorded: _,
      hotReads: _hot,
      ...numbers
    } = choices.find((c) => c['autocheckpoint'] === autocheckpoint)!;
    return numbers;
  };
  expect(without.choices.find((c) => c['recorded'])).toMatchObject({ autocheckpoint: 0 });
  for (const value of [0, 1000]) expect(counts(without, value)).toEqual(counts(with1000, value));
  expect(counts(without, 1000)).toMatchObject({ checkpoints: 4, dbWrites: 198, frames: 4218 });
});

it('an engine whose VFS calls were not recorded is reported', async () => {
  expect(await run('turso-wal', counted)).toMatch(
    /n\/a: the engine's VFS calls were not recorded\./,
  );
});

it('an interrupted replay prints the completed calls, and exits with 3', async () => {
  const listeners = process.listenerCount('SIGINT');
  // while it runs, because earlier nothing listens
  const heard = new Promise<void>((resolve) =>
    process.once('newListener', (signal: string) => {
      if (signal === 'SIGINT') setImmediate(() => resolve(void process.emit('SIGINT')));
    }),
  );
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const out = await run(
    'memory-delete',
    { pageSizes: false, node: true, config: ['vfs=MemoryVFS'] },
    3,
  );
  await heard;
  expect(out).toMatch(/Interrupted after [\d,]+ of [\d,]+ calls\./);
  expect(process.listenerCount('SIGINT')).toBe(listeners);
});

it('invalid options are reported', async () => {
  const refused = async (name: string, more: Partial<ReplayOptions>): Promise<CommandFailure> => {
    const error: unknown = await run(name, more).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(CommandFailure);
    return error as CommandFailure;
  };
  expect((await refused('memory-delete', { config: ['vfs=MemoryVFS'] })).message).toMatch(
    /runs nothing: leave --config, --out, and the other one away/,
  );
  expect((await refused('memory-delete', { pageSizes: false })).message).toMatch(/Choose a VFS/);
  await expect(whatIfCommand('pages', new TraceStore(0), false)).rejects.toThrow(
    /no read or write of a database page/,
  );
});
