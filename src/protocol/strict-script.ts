/**
 * Does a script begin with 'use strict'? If so, a hook in front of it would disable the directive.
 */

/** A complete space, comment, or other directive. */
const SKIPPED =
  /(?:\uFEFF|\s)+|\/\/.*[\n\r\u2028\u2029]|\/\*[^]*?\*\/|(["'])(?!use strict\1)[^"'\\\n\r]*\1[ \t]*(?:;|[\n\r](?=\s*["']))/y;
/**
 * The end of the directive: its semicolon, or a line break before something that can't continue it.
 */
const STRICT =
  /^(["'])use strict\1[^\S\n\r]*(?:[;}]|(?:\/\/.*)?[\n\r]\s*(?!in(?:stanceof)?\b)[\w$"'{])/;
/**
 * Possibly a comment or a directive: cut off, of an unknown kind, or valid only at the very start
 * (`#!`).
 */
const UNSURE = /^["'/#<-]/;

/** Beginning of a script. */
export function firstWords(text: string): string {
  SKIPPED.lastIndex = 0;
  let at = 0;
  while (SKIPPED.test(text)) at = SKIPPED.lastIndex;
  return text.slice(at);
}

/**
 * @param first words of a script
 * @returns undefined = not known: they may not be a directive ('use strict'.length), or are cut off
 */
export const startsStrict = (first: string): boolean | undefined =>
  STRICT.test(first) || (UNSURE.test(first) ? undefined : false);
