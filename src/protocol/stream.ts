/**
 * A recording that is sent while it runs, without the extension. The hook in a page or worker
 * (src/embed) posts its threads' messages, and the receiver (src/listen) answers with commands for
 * them. One post at a time: a post without an answer is sent again with the same number. The text
 * is JSON, with bytes as in json-wire.ts.
 */
import { checkedThreadCommand, checkedThreadMessage } from './messages.ts';
import type { ThreadCommand, ThreadMessage } from './messages.ts';
import { PartReader, toParts } from './json-wire.ts';

/** A thread's message on a line; `child` identifies the line that came with it. */
export interface Said {
  line: number;
  message: ThreadMessage;
  child?: number;
}
export interface StreamPost {
  /** Random id of a page, frame, or worker that imports the hook. */
  source: string;
  /** Counts from 1. */
  n: number;
  said: Said[];
}
export interface StreamAnswer {
  commands: { line: number; command: ThreadCommand }[];
}

/** Maximum characters of a post. A page with 32 MiB to send makes several posts. */
export const MAX_POST_CHARS = 64 << 20;
/** Maximum messages and lines of a post. */
const MOST_SAID = 100_000;

type Loose = Record<string, unknown>;
const isObject = (v: unknown): v is Loose => typeof v === 'object' && v !== null;
const isLine = (v: unknown): v is number => typeof v === 'number' && Number.isInteger(v) && v >= 0;

/** As complete text. */
export function streamText(message: StreamPost | StreamAnswer): string {
  const [part] = toParts(message, Infinity);
  return part!.json;
}

function parsed(json: string): unknown {
  return new PartReader().take({ json, more: false })?.message;
}

/** A post, copied field by field. @returns null where it isn't well-formed */
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

/** An answer, copied field by field. @returns null where it isn't well-formed */
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
    return undefined; // the guard rejects malformed values
  }
}
