// The table of what works in which browser. A cell names a test by its file and title. The test's
// environment determines how the result is known, and deleting a test deletes its cell.
import { existsSync, readFileSync } from 'node:fs';
import { markdown, writeTable } from './support-page.ts';

/** A test, or what the cell reads without one; null if nothing tests the feature. */
type Cell = { file: string; title: string } | { no: string } | null;
type Feature = [name: string, ...cells: Cell[]];

const BROWSERS = ['Chromium', 'Firefox', 'Safari'];
const NO_DRIVER = { no: "not tested: our tests can't run extensions in Safari" };
const NOTED = { no: 'no: noted in the panel with the cause' };
const browser = (file: string, title: string) => ({ file: `tests/browser/${file}.test.ts`, title });
const webkit = (file: string, title: string) => ({ file: `tests/webkit/${file}.test.ts`, title });

/** Each feature, with one cell for each browser. */
const FEATURES: Feature[] = [
  [
    'Record from the panel in DevTools',
    browser(
      'extension',
      'registers its scripts, then removes them and restores everything that they changed',
    ),
    browser('firefox-engines', 'recorded by the panel in the toolbox'),
    NO_DRIVER,
  ],
  [
    'SQLite builds on IndexedDB and OPFS, with the same counts and stored bytes',
    browser('engines', 'recorded by the panel'),
    browser('firefox-engines', 'recorded by the panel in the toolbox'),
    webkit('engines', "on the browser's own storage"),
  ],
  [
    'Dedicated workers: classic, module, blob, nested',
    browser('threads', 'each is recorded, or noted with its cause'),
    browser('firefox', 'each is recorded, or noted with its cause; transport %s'),
    webkit('workers', 'the app sees the same'),
  ],
  [
    'Shared workers, one for all tabs of the origin',
    browser('shared-workers', 'one for two tabs of an origin, %s %s'),
    browser('firefox', 'each is recorded, or noted with its cause; transport %s'),
    webkit('isolated', 'a SharedWorker stays a single one, and is recorded'),
  ],
  [
    'Service workers: in Chromium by `vfscope record`, in its panel noted with the cause',
    browser('record-workers', 'workers of all kinds under %s are recorded, and none notices'),
    browser('firefox', 'each is recorded, or noted with its cause; transport %s'),
    NOTED,
  ],
  [
    'Workers of pages whose policy forbids blob workers',
    browser('closed-workers', '%s'),
    browser('firefox', '%s: each script runs as without a recording, and each worker is recorded'),
    NOTED,
  ],
  [
    'All tabs of an origin',
    browser('extension', 'of an origin includes its other tabs, open and new ones'),
    browser('firefox-panel', 'a recording of an origin includes its other tabs, open and new ones'),
    NO_DRIVER,
  ],
  [
    'Nothing is left in pages after a recording, [with exceptions](limits.md)',
    browser(
      'extension',
      'registers its scripts, then removes them and restores everything that they changed',
    ),
    browser(
      'firefox',
      'after the recording, pages contain nothing of vfscope, and new workers run unchanged',
    ),
    webkit('isolated', 'the hook long after the content script, in an open page'),
  ],
  [
    'Access to web pages not granted, or revoked',
    browser(
      'permissions',
      'access revoked during a recording: reported, and the recording is intact',
    ),
    browser(
      'firefox-recording',
      'access to web pages revoked during a recording: reported, the recording is intact, the app continues',
    ),
    NO_DRIVER,
  ],
  [
    'A recording continues when the background dies',
    browser(
      'extension',
      'continues when the service worker dies, over ports and relays, with the same counts',
    ),
    browser(
      'firefox-recording',
      'a recording continues when the event page is suspended, and the next page and its worker are recorded',
    ),
    webkit('isolated', 'while the background repeatedly dies'),
  ],
  [
    'A recording is offered again after an update or a restart',
    browser('update', 'the browser is killed'),
    browser('firefox-update', 'the browser is killed'),
    NO_DRIVER,
  ],
  [
    "A recording is offered again after a crash of the extension's process",
    browser('update', 'crashed and reloaded'),
    browser('firefox-update', "the extension's process crashes"),
    NO_DRIVER,
  ],
  [
    'Flight recorder',
    browser(
      'flight',
      'contention between two connections: frozen at SQLITE_BUSY, with the last second before it',
    ),
    browser(
      'firefox-flight',
      'contention between two connections: frozen at SQLITE_BUSY, with the last second before it',
    ),
    NO_DRIVER,
  ],
  [
    'Flight recorder: an exception of the app freezes it',
    browser('flight', 'an exception of the app freezes it; Stop saves the last seconds'),
    browser('firefox-flight', 'an exception of the app freezes it: in the %s'),
    NO_DRIVER,
  ],
  [
    'Capture options: level, layers, buffer, stacks',
    browser(
      'record-marks',
      'level 2 keeps literals; stacks name the place in the app, and no function of vfscope',
    ),
    browser(
      'firefox-recording',
      'level 2 and stacks: literals, and the place in the app that prepared each statement',
    ),
    NO_DRIVER,
  ],
  [
    'Timeline, files, events, notes',
    browser('viewer', 'zooms and pans by wheel, keys, drag, and overview'),
    browser('firefox-recording', 'every view shows a recording, with the numbers of its summary'),
    null,
  ],
  [
    'Exports from the panel',
    browser(
      'view-overview',
      'every format is offered and written; an anonymized copy has no words of the app',
    ),
    browser('firefox-panel', 'every format is written, and contains the recording'),
    null,
  ],
  [
    'The Lab',
    browser(
      'lab-page',
      'a grid over IndexedDB and OPFS resumes after a cancel, shows counts with ratios, and leaves storage clean',
    ),
    browser('firefox-lab', "the browser's storage: IndexedDB, OPFS, and actors in workers"),
    null,
  ],
  [
    'Welcome page after an installation',
    browser('first-contact', 'opens once, after an installation'),
    browser('firefox-welcome', 'the welcome page opens once, after an installation'),
    NO_DRIVER,
  ],
  [
    'Popup, settings, welcome, and access page by keyboard alone, with names and a visible focus',
    browser(
      'keyboard',
      'Tab reaches each control once, forward and backward, with a focus ring, and leaves the page',
    ),
    browser(
      'firefox-keyboard',
      'Tab reaches each control once, forward and backward, with a focus ring and a name, and leaves the page',
    ),
    NO_DRIVER,
  ],
  [
    '`vfscope record`',
    browser('extension-record', 'writes a trace of the page, and a picture of the panel'),
    browser('firefox', 'vfscope record --browser firefox records the demo'),
    NO_DRIVER,
  ],
  [
    'The package passes the checks of its browser or store',
    browser('extension', 'the browser reports no error in the extension'),
    { file: 'tools/check/test.mjs', title: 'lint of the Firefox package' },
    null,
  ],
];

/**
 * How a test knows: from the real browser, from the engine without its browser, or by reading
 * files.
 */
function kindOf({ file }: { file: string }, column: string): string | null {
  if (file.startsWith('tests/webkit/'))
    return column === 'Safari' ? 'on the engine (WebKitGTK)' : null;
  if (!file.startsWith('tests/browser/')) return 'checked statically';
  return (/\/firefox[\w-]*\.test/.test(file) ? 'Firefox' : 'Chromium') === column
    ? 'in the real browser'
    : null;
}

/** Cells without a test. @param read returns null if the file doesn't exist */
export function faults(
  read: (file: string) => string | null,
  features: Feature[] = FEATURES,
): string[] {
  return features.flatMap(([feature, ...cells]) =>
    cells.flatMap((cell, i) => {
      if (!cell || !('file' in cell)) return [];
      const text = read(cell.file);
      const where = `${feature}, ${BROWSERS[i]}: ${cell.file}`;
      if (text === null) return [`${where} doesn't exist`];
      if (!['"', "'", '`'].some((quote) => text.includes(`${quote}${cell.title}${quote}`)))
        return [`${where} has no test "${cell.title}"`];
      return kindOf(cell, BROWSERS[i]!) ? [] : [`${where} doesn't run in ${BROWSERS[i]}`];
    }),
  );
}

/** The table as Markdown. */
export function currentMatrix(): string {
  const words = (cell: Cell, i: number): string =>
    cell === null ? 'not tested' : 'no' in cell ? cell.no : kindOf(cell, BROWSERS[i]!)!;
  const head = ['feature', ...BROWSERS];
  const rows = FEATURES.map(([feature, ...cells]) => [feature, ...cells.map(words)]);
  return markdown([head, ...rows]);
}

/** A file of the repository; null if it doesn't exist. */
export const readOrNull = (file: string): string | null =>
  existsSync(file) ? readFileSync(file, 'utf8') : null;

/** Writes the table into docs/support.md. @throws if a cell has no test */
export function write(): void {
  const found = faults(readOrNull);
  if (found.length) throw new Error(found.join('\n'));
  writeTable('matrix', currentMatrix());
}
