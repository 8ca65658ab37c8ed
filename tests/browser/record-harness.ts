/**
 * Runs `vfscope record` in this process: serves the apps, provides a folder for recordings, and
 * collects the command's output.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { createServer, type AppServer } from '../server/server.mjs';

interface RecordHarness {
  readonly server: AppServer;
  /** Emptied after the tests. */
  readonly folder: string;
  /** The command's stderr since the test began. */
  readonly said: string;
}

/** Registers the setup of a test file. */
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
