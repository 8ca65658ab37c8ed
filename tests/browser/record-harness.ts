/** `vfscope record` in this process: the apps served, a folder for what is recorded, and what the command says. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { createServer, type AppServer } from '../server/server.mjs';

interface RecordHarness {
  readonly server: AppServer;
  /** Emptied behind the tests. */
  readonly folder: string;
  /** What the command has said on stderr since the test began. */
  readonly said: string;
}

/** Registers what the tests of a file need. */
export function recordHarness(): RecordHarness {
  let server: AppServer | undefined;
  let folder = '';
  let said = '';
  beforeAll(async () => {
    server = await createServer();
    folder = await mkdtemp(path.join(tmpdir(), 'vfscope-'));
  });
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    said = '';
    vi.spyOn(console, 'error').mockImplementation((line: string) => void (said += `${line}\n`));
    vi.spyOn(console, 'log').mockImplementation(() => {});
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((said += String(text))));
  });
  afterEach(() => vi.restoreAllMocks());
  return {
    get server() {
      return server!;
    },
    get folder() {
      return folder;
    },
    get said() {
      return said;
    },
  };
}
