/** The hook as pages get it from us: a classic script that is told first where its recording goes. */
import { readFile } from 'node:fs/promises';
import type { HookOptions } from '../embed/index.ts';
import type { CaptureOptions } from '../event/capture.ts';
import { carriedScripts } from '../protocol/capture.ts';

/** `messages` and `instructions` are scripts of their own, which pages that import the hook import before it. */
export interface ScriptOptions
  extends HookOptions, Partial<Pick<CaptureOptions, 'messages' | 'instructions'>> {}

/** Beside the built command and the built entries of the library: both are one folder below the same. */
const built = (file: string): Promise<string> =>
  readFile(new URL(`../lib/${file}`, import.meta.url), 'utf8');

/** @param options what the hook finds in `globalThis.vfscope`, unless the page says otherwise there @returns a classic script */
export async function hookText({
  messages = false,
  instructions = false,
  ...options
}: ScriptOptions): Promise<string> {
  const carried = carriedScripts({ messages, instructions });
  const [script, ...before] = await Promise.all(['hook-script.js', ...carried].map(built));
  return `${before.join('')}if(!globalThis.vfscope?.save)globalThis.vfscope={...${JSON.stringify(options)},...globalThis.vfscope};${script}`;
}
