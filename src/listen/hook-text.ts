/** The hook as we serve it to pages: a classic script that first sets where its recording goes. */
import { readFile } from 'node:fs/promises';
import type { HookOptions } from '../embed/index.ts';
import type { CaptureOptions } from '../event/capture.ts';
import { carriedScripts } from '../protocol/capture.ts';

/** `messages` and `instructions` are separate scripts, which pages import before the hook. */
export interface ScriptOptions
  extends HookOptions, Partial<Pick<CaptureOptions, 'messages' | 'instructions'>> {}

/**
 * Next to the built command and the built entries of the library, which are both one folder below
 * it.
 */
const built = (file: string): Promise<string> =>
  readFile(new URL(`../lib/${file}`, import.meta.url), 'utf8');

/**
 * @param options default for `globalThis.vfscope` if the page doesn't set it @returns a classic
 * script
 */
export async function hookText({
  messages = false,
  instructions = false,
  ...options
}: ScriptOptions): Promise<string> {
  const carried = carriedScripts({ messages, instructions });
  const [script, ...before] = await Promise.all(['hook-script.js', ...carried].map(built));
  return `${before.join('')}if(!globalThis.vfscope?.save)globalThis.vfscope={...${JSON.stringify(options)},...globalThis.vfscope};${script}`;
}
