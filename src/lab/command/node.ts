/** The Lab's environment in Node: SQLite builds from node_modules, in-memory databases only. */
import { NODE_VFS } from '../experiments/model/vfs-facts.ts';
import nodeCrypto from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { isAbsolute } from 'node:path';
import { Engines } from '../experiments/engine/open-engine.ts';
import type { Surroundings } from '../experiments/run.ts';
import { wrongUse } from '../../terminal/failure.ts';
import type { OutsideEngines } from './engines/outside.ts';
import { nodeEnvironment } from './node-environment.ts';

/** Where a file of an npm package is. @throws CommandFailure where the package is not installed */
export function packageFile(path: string): string {
  try {
    return createRequire(import.meta.url).resolve(path);
  } catch (e) {
    const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(path)!;
    throw wrongUse(
      `${path} is not installed: npm install ${name} (${e instanceof Error ? e.message.split('\n')[0] : String(e)})`,
    );
  }
}

const wasmOf = async (path: string): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await readFile(isAbsolute(path) ? path : packageFile(path)));

/** @param outside engines that aren't bundled, already looked up */
export const nodeSurroundings = (
  progress?: Surroundings['progress'],
  outside?: OutsideEngines,
  interrupted?: () => Promise<boolean>,
): Surroundings => ({
  engines: new Engines(wasmOf, outside?.buildOf),
  nodeCrypto,
  vfs: NODE_VFS,
  builds: ['sync', 'asyncify'],
  environment: nodeEnvironment(),
  progress,
  ...(interrupted ? { interrupted } : {}),
  ...(outside ? { refused: outside.refused } : {}),
});
