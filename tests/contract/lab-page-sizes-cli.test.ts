/** `vfscope lab replay FILE --page-sizes`: text and JSON of a stored recording, and what is refused. */
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { CommandFailure } from '../../src/terminal/failure.ts';
import {
  pageSizesCommand,
  replayCommand,
  type ReplayOptions,
} from '../../src/lab/command/replay.ts';
import { TraceStore } from '../../src/trace/store.ts';

afterEach(() => void vi.restoreAllMocks());

async function run(name: string, more: Partial<ReplayOptions> = {}): Promise<string> {
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
    },
    ...more,
  });
  vi.restoreAllMocks();
  expect(code).toBe(0);
  return out;
}

it('a table a database, with its assumption; the same as JSON', async () => {
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
  expect(recorded!.writeBytes).toEqual({ least: 8_228_864, most: 8_228_864 }); // the bytes that the recording has
});

it('what it does not take says so', async () => {
  const refused = async (name: string, more: Partial<ReplayOptions>): Promise<CommandFailure> => {
    const error: unknown = await run(name, more).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(CommandFailure);
    return error as CommandFailure;
  };
  expect((await refused('memory-delete', { config: ['vfs=MemoryVFS'] })).message).toMatch(
    /runs nothing: leave --config and --out away/,
  );
  expect((await refused('memory-delete', { pageSizes: false })).message).toMatch(
    /Say on which VFS/,
  );
  await expect(pageSizesCommand(new TraceStore(0), false)).rejects.toThrow(
    /no read or write of a database page/,
  );
});
