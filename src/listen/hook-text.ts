/** The hook as pages get it from us: a classic script that is told first where its recording goes. */
import { readFile } from 'node:fs/promises';
import type { HookOptions } from '../embed/index.ts';

/** Beside the built command and the built entries of the library: both are one folder below the same. */
const SCRIPT = new URL('../lib/hook-script.js', import.meta.url);

/** @param options what the hook finds in `globalThis.vfscope`, unless the page says otherwise there @returns a classic script */
export async function hookText(options: HookOptions): Promise<string> {
  const script = await readFile(SCRIPT, 'utf8');
  return `if(!globalThis.vfscope?.save)globalThis.vfscope={...${JSON.stringify(options)},...globalThis.vfscope};${script}`;
}
