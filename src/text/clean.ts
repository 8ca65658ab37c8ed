/**
 * Makes texts of a trace safe to show on a page or in a terminal, because the traced page chose
 * them.
 */

/**
 * At most `most` characters: the start of a statement, the end of a path, and both ends if texts
 * differ at either.
 */
export function cut(text: string, most: number, keep: 'begin' | 'end' | 'both' = 'begin'): string {
  const units = Array.from(text.slice(0, 100_000)); // never half a character
  if (units.length <= most) return text;
  const head = { begin: most - 1, end: 0, both: (most - 1) >> 1 }[keep];
  return `${units.slice(0, head).join('')}…${units.slice(units.length - (most - 1 - head)).join('')}`;
}

/**
 * Control characters of a trace, and those that change text direction, must reach no terminal and
 * no page. Line ends and tabs, which are common in SQL, become spaces.
 */
export const plain = (text: string): string =>
  text
    .replace(/[\t-\r][\t-\r ]*/g, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '?');

/**
 * No name or address of an app should be longer. Text that is cut here is complete in the summary
 * as JSON.
 */
const LONGEST = 1000;
/**
 * A trace's text, safe for display: no control characters, no direction overrides, and a maximum
 * length.
 */
export const shown = (text: string, most = LONGEST): string => cut(plain(text), most);

/** The same line by line. */
export const shownLines = (text: string, most = LONGEST): string =>
  text
    .split('\n')
    .map((line) => shown(line, most))
    .join('\n');

/** Lines without the indentation that all except the first share, which SQL within a script has. */
export function unindented(text: string): string {
  const [first, ...rest] = text.split('\n');
  const shared = rest.reduce(
    (least, line) => (line.trim() ? Math.min(least, line.search(/[^ \t]/)) : least),
    Infinity,
  );
  return [first, ...rest.map((line) => line.slice(shared))].join('\n');
}

/** A statement on one line: replacing its line ends does no harm. */
export const oneLine = (text: string): string => plain(text.replace(/\s+/g, ' ').trim());
/**
 * Shown for SQL with unknown text: it wasn't seen, or the time was spent on opening and closing.
 */
export const UNKNOWN_SQL = '(opening, closing, or unknown SQL)';

/** The file of a script's URL; its scheme if it has no file. */
export function scriptName(url: string): string {
  const scheme = /^(data|blob):/.exec(url);
  return scheme ? `a ${scheme[0]} URL` : url.replace(/[?#].*$/, '').replace(/^.*\//, '') || url;
}

/** A path of several folders, not part of a URL or a fraction. */
const PATH = /(?<![\p{L}\d/:])(?:\/[^\s/,:;()"']+){2,}/gu;
/**
 * A sentence with each path shortened to its last part: `/a/b/app.db` reads `app.db`. Show the
 * whole on hover.
 */
export const shortPaths = (text: string): string =>
  text.replace(PATH, (path) => path.slice(path.lastIndexOf('/') + 1));
