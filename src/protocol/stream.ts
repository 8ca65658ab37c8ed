/**
 * A recording that leaves its page as it goes, without the extension: the hook in a page or worker (src/embed) posts what its threads say, and
 * whatever listens (src/listen) answers with commands for them. One post at a time; a post that got no answer is sent again, with the same
 * number. The text is JSON, with bytes as json-wire.ts writes them.
 */
import { checkedThreadCommand, checkedThreadMessage } from './messages.ts';
import type { ThreadCommand, ThreadMessage } from './messages.ts';
import { PartReader, toParts } from './json-wire.ts';

/** What a thread said on a line; `child` names the line that came with it. */
export interface Said {
  line: number;
  message: ThreadMessage;
  child?: number;
}
export interface StreamPost {
  /** Names a page, frame, or worker that imports the hook: drawn at random. */
  source: string;
  /** Counts from 1. */
  n: number;
  said: Said[];
}
export interface StreamAnswer {
  commands: { line: number; command: ThreadCommand }[];
}

/** Characters of a post: one of a page that had 32 MiB to say comes as several. */
export const MAX_POST_CHARS = 64 << 20;
/** Messages and lines of a post. */
const MOST_SAID = 100_000;

type Loose = Record<string, unknown>;
const isObject = (v: unknown): v is Loose => typeof v === 'object' && v !== null;
const isLine = (v: unknown): v is number => typeof v === 'number' && Number.isInteger(v) && v >= 0;

/** As text, whole. */
export function streamText(message: StreamPost | StreamAnswer): string {
  const [part] = toParts(message, Infinity);
  return part!.json;
}

function parsed(json: string): unknown {
  return new PartReader().take({ json, more: false })?.message;
}

/** A post, copied field by field. @returns null where it is not well-formed */
export function checkedPost(text: string): StreamPost | null {
  const v = attempt(text);
  if (!isObject(v)) return null;
  const { source, n, said } = v;
  if (typeof source !== 'string' || source.length > 64 || !isLine(n)) return null;
  if (!Array.isArray(said) || said.length > MOST_SAID) return null;
  const all: Said[] = [];
  for (const one of said as unknown[]) {
    if (!isObject(one) || !isLine(one.line)) return null;
    const message = checkedThreadMessage(one.message);
    if (!message || !(one.child === undefined || isLine(one.child))) return null;
    all.push({
      line: one.line,
      message,
      ...(one.child === undefined ? {} : { child: one.child }),
    });
  }
  return { source, n, said: all };
}

/** An answer, copied field by field. @returns null where it is not well-formed */
export function checkedAnswer(text: string): StreamAnswer | null {
  const v = attempt(text);
  if (!isObject(v) || !Array.isArray(v.commands)) return null;
  const commands: StreamAnswer['commands'] = [];
  for (const one of v.commands as unknown[]) {
    const command = isObject(one) ? checkedThreadCommand(one.command) : null;
    if (!command || !isObject(one) || !isLine(one.line)) return null;
    commands.push({ line: one.line, command });
  }
  return { commands };
}

/** @returns undefined where it isn't JSON */
function attempt(text: string): unknown {
  try {
    return parsed(text);
  } catch {
    return undefined; // what is malformed is refused by its guard
  }
}
