/** `vfscope demo`: records the demo app that ships with vfscope. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserFailed, wrongUse } from '../terminal/failure.ts';
import { serveFolders } from '../terminal/serve.ts';
import { record } from './record.ts';

/** The app and its visitor's steps are next to the built command. */
const APP = fileURLToPath(new URL('demo/', import.meta.url));
const STEPS = fileURLToPath(new URL('demo-steps.mjs', import.meta.url));
/** Its SQLite. */
const ENGINE = '@journeyapps/wa-sqlite';
/** VFSs that its page has a menu entry for. */
const VFS = ['OPFSCoopSync', 'AccessHandlePool', 'IDBBatchAtomic'];

interface DemoArgs {
  out: string;
  browser?: string;
  headed?: boolean;
  json?: boolean;
  screenshot?: string;
  /** The VFS of its database, as named in the app's menu. */
  vfs?: string;
}

/** Headed, the user uses the app until Ctrl+C. Otherwise a script does. @returns the exit code */
export async function demo({ vfs = 'OPFSCoopSync', ...args }: DemoArgs): Promise<number> {
  if (!VFS.includes(vfs)) throw wrongUse(`--vfs ${vfs}: expected ${VFS.join(', ')}.`);
  let engine: string;
  try {
    engine = dirname(fileURLToPath(import.meta.resolve(`${ENGINE}/package.json`)));
  } catch (e) {
    throw browserFailed(
      `The demo's SQLite is missing: npm install ${ENGINE}. ${(e as Error).message}`,
    );
  }
  const served = await serveFolders({ '/demo/': APP, [`/node_modules/${ENGINE}/`]: engine });
  const url = `${served.url}/demo/?vfs=${encodeURIComponent(vfs)}`;
  try {
    return await record({ ...args, url, ...(args.headed ? {} : { script: STEPS }) });
  } finally {
    await served.close();
  }
}
