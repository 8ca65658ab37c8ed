/** Error messages that a trace may store. */
import type { CaptureLevel } from '../event/capture.ts';
import { apply, dataProperty, getterOf, textOf } from './reflect.ts';

/**
 * Text that browsers quote, as in "Failed to execute 'open' on 'IDBFactory'"; otherwise quoted
 * text, and words that start like a number.
 */
const WORDS =
  /(Failed to (?:construct|(?:execute|read the|set the) '\w+'(?: property)? (?:on|from)) '[A-Z]\w+')|(['"`])(?:(?!\2).)*(?:\2|$)|\b\d[\w.]*/gs;

/**
 * The part of an error message that may be stored. SQLite and libraries quote statements in their
 * messages, including values. Below the level that stores literals, quoted text and numbers become
 * `?`. If SQL isn't stored, only the kind of error remains.
 */
export function messageAt(level: CaptureLevel, message: string): string {
  if (level >= 2) return message;
  if (level === 0) return /^(?:Uncaught )?(\w*(?:Error|Exception))\b/.exec(message)?.[1] ?? 'Error';
  return message.replace(WORDS, (_, browsersOwn: string | undefined) => browsersOwn ?? '?');
}

const { getPrototypeOf } = Object;
const { isError = (value: unknown) => value instanceof Error } = Error as {
  isError?(value: unknown): boolean;
};

/**
 * What was thrown, without running the app's code: it may have getters, or be a Proxy. Never
 * throws.
 */
export function wordsOf(reason: unknown): string {
  const read = (name: string): string => {
    try {
      return apply(getterOf(DOMException.prototype, name), reason, []) as string;
    } catch {
      // another kind of error
    }
    let of = reason as object | null;
    while (of && dataProperty(of, name) === undefined) of = getPrototypeOf(of) as object | null;
    return of ? textOf(dataProperty(of, name)) : '';
  };
  try {
    return isError(reason) ? `${read('name')}: ${read('message')}` : typeof reason;
  } catch {
    return 'object'; // if isError is our replacement, a Proxy can throw
  }
}
