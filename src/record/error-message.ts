/** Error messages that a trace may store. */
import type { CaptureLevel } from '../event/capture.ts';
import { apply, dataProperty, getterOf, textOf } from './reflect.ts';

/** What a browser quotes itself, "Failed to execute 'open' on 'IDBFactory'", else what is quoted and what begins as a number. */
const WORDS =
  /(Failed to (?:construct|(?:execute|read the|set the) '\w+'(?: property)? (?:on|from)) '[A-Z]\w+')|(['"`])(?:(?!\2).)*(?:\2|$)|\b\d[\w.]*/gs;

/**
 * What may be kept of an error's message. SQLite and the libraries around it quote statements in theirs, values and all: below the level that
 * keeps literals, what is quoted and numbers become `?`; where no SQL is wanted only the kind of error stays.
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

/** What was thrown, without running what the app has made of it: it may have getters, or be a Proxy. Never throws. */
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
    return 'object'; // where isError is ours, a Proxy can throw
  }
}
