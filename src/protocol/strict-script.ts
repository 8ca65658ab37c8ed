/** Does a script begin with 'use strict'? The directive no longer counts when the hook stands before it. */

/** What a blank, a comment, or another directive is, as a whole. */
const SKIPPED =
  /(?:\uFEFF|\s)+|\/\/.*[\n\r\u2028\u2029]|\/\*[^]*?\*\/|(["'])(?!use strict\1)[^"'\\\n\r]*\1[ \t]*(?:;|[\n\r](?=\s*["']))/y;
/** What ends the directive: its semicolon, or a line's end before what cannot go on with it. */
const STRICT =
  /^(["'])use strict\1[^\S\n\r]*(?:[;}]|(?:\/\/.*)?[\n\r]\s*(?!in(?:stanceof)?\b)[\w$"'{])/;
/** May be a comment or a directive: one that is cut off, one of a kind of its own, or one that counts at the very start only (`#!`). */
const UNSURE = /^["'/#<-]/;

/** The first words of a script. */
export function firstWords(text: string): string {
  SKIPPED.lastIndex = 0;
  let at = 0;
  while (SKIPPED.test(text)) at = SKIPPED.lastIndex;
  return text.slice(at);
}

/**
 * @param first words of a script
 * @returns undefined = not known: the words may be no directive ('use strict'.length), or be cut off
 */
export const startsStrict = (first: string): boolean | undefined =>
  STRICT.test(first) || (UNSURE.test(first) ? undefined : false);
