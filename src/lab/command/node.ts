/** The Lab's surroundings in Node: SQLite's builds from node_modules, in-memory databases only. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Engines } from '../experiments/engine/open-engine.ts';
import type { Surroundings } from '../experiments/run.ts';
import { wrongUse } from '../../terminal/failure.ts';

/** @throws CommandFailure where the engine's npm package is not installed */
async function wasmOf(path: string): Promise<Uint8Array<ArrayBuffer>> {
  let file: string;
  try {
    file = createRequire(import.meta.url).resolve(path);
  } catch (e) {
    throw wrongUse(
      `${path} is not installed: npm install ${path.split('/dist/')[0]} (${e instanceof Error ? e.message.split('\n')[0] : String(e)})`,
    );
  }
  return new Uint8Array(await readFile(file));
}

export const nodeSurroundings = (progress?: Surroundings['progress']): Surroundings => ({
  engines: new Engines(wasmOf),
  vfs: ['memory', 'MemoryVFS', 'MemoryAsyncVFS'],
  builds: ['sync', 'asyncify'],
  environment: {
    runtime: `Node ${process.versions.node}`,
    engine: `V8 ${process.versions.v8}`,
    platform: `${process.platform} ${process.arch}`,
  },
  progress,
});
