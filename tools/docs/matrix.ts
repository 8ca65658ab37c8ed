// The table of what works in which browser. A cell names a test by its file and title. The test's
// environment determines how the result is known, and deleting a test deletes its cell.
import { existsSync, readFileSync } from 'node:fs';
import { markdown, writeTable } from './support-page.ts';

/** A test, or what the cell reads without one; null if nothing tests the feature. */
type Cell = { file: string; title: string } | { no: string } | null;
type Feature = [name: string, ...cells: Cell[]];

const BROWSERS = ['Chromium', 'Firefox', 'Safari'];
const NO_DRIVER = { no: 'not tested: nothing here can run extensions in Safari' };
const NOTED = { no: 'no: noted in the panel with the cause' };
const browser = (file: string, title: string) => ({ file: `tests/browser/${file}.test.ts`, title });
const webkit = (file: string, title: string) => ({ file: `tests/webkit/${file}.test.ts`, title });

/** Each feature, with one cell for each browser. */
const FEATURES: Feature[] = [
  [
    'Record from the panel in DevTools',
    browser(
      'extension',
      'registers its scripts, and takes them back with everything that they changed',
    ),
    browser('firefox-engines', 'recorded by the panel in the toolbox'),
    NO_DRIVER,
  ],
  [
    'SQLite builds on IndexedDB and OPFS, with the same counts and stored bytes',
    browser('engines', 'recorded by the panel'),
    browser('firefox-engines', 'recorded by the panel in the toolbox'),
    webkit('engines', 'on storage of its own'),
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
    webkit('isolated', 'a SharedWorker stays one, and is recorded'),
  ],
  [
    'Service workers: in Chromium by `vfscope record`, in its panel noted with the cause',
    browser('record-workers', 'workers of all kinds under %s: recorded, and none the wiser'),
    browser('firefox', 'each is recorded, or noted with its cause; transport %s'),
    NOTED,
  ],
  [
    'Workers of pages whose policy forbids blob workers',
    browser('closed-workers', '%s'),
    browser('firefox', '%s: each script runs as it does unrecorded, and each worker is recorded'),
    NOTED,
  ],
  [
    'All tabs of an origin',
    browser('extension', 'of an origin covers its other tabs, open ones and new ones'),
    browser(
      'firefox-panel',
      'a recording of an origin covers its other tabs, open ones and new ones',
    ),
    NO_DRIVER,
  ],
  [
    'Nothing is left in pages after a recording, [with exceptions](limits.md)',
    browser(
      'extension',
      'registers its scripts, and takes them back with everything that they changed',
    ),
    browser(
      'firefox',
      'pages keep nothing of ours after the recording, workers that start then run as they are',
    ),
    webkit('isolated', 'the hook long after the content script, in a page that is open'),
  ],
  [
    'Access to web pages withheld or taken back',
    browser(
      'permissions',
      'access taken back during a recording: said, and what was recorded stays',
    ),
    browser(
      'firefox-recording',
      'access to web pages taken back during a recording: said, what was recorded stays, the app goes on',
    ),
    NO_DRIVER,
  ],
  [
    'A recording outlives the background',
    browser(
      'extension',
      'goes on when the service worker dies, over ports and over relays, and counts the same',
    ),
    browser(
      'firefox-recording',
      'a recording goes on when the event page is suspended, and the next page and its worker are recorded',
    ),
    webkit('isolated', 'while the background dies again and again'),
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
      'two connections meet: frozen at SQLITE_BUSY, with the last second before it',
    ),
    browser(
      'firefox-flight',
      'two connections meet: frozen at SQLITE_BUSY, with the last second before it',
    ),
    NO_DRIVER,
  ],
  [
    'Flight recorder: an exception of the app freezes it',
    browser('flight', 'an exception of the app freezes it; stopped by hand it keeps the end'),
    browser('firefox-flight', 'an exception of the app freezes it: in the %s'),
    NO_DRIVER,
  ],
  [
    'What is captured: level, layers, buffer, stacks',
    browser(
      'record-marks',
      'level 2 keeps literals, stacks name the place in the app and none of ours',
    ),
    browser(
      'firefox-recording',
      'level 2 and stacks: literals, and the place in the app that prepared each statement',
    ),
    NO_DRIVER,
  ],
  [
    'Timeline, files, events, notes',
    browser('viewer', 'zooms and pans by wheel, keys, drag and overview'),
    browser('firefox-recording', 'every view shows a recording, with the numbers of its summary'),
    null,
  ],
  [
    'Exports from the panel',
    browser(
      'view-overview',
      "every format is offered and written; a copy without the app's words has none",
    ),
    browser('firefox-panel', 'every format is written, and holds what was recorded'),
    null,
  ],
  [
    'The Lab',
    browser(
      'lab-page',
      'a grid over IndexedDB and OPFS: what is canceled is resumed, the counts are shown with their ratios, storage is clean',
    ),
    browser('firefox-lab', 'storage of the browser: IndexedDB and OPFS, and actors in workers'),
    null,
  ],
  [
    'Welcome page after an installation',
    browser('first-contact', 'comes after an installation, once'),
    browser('firefox-welcome', 'the welcome page comes after an installation, once'),
    NO_DRIVER,
  ],
  [
    'Popup, settings, welcome, and access page by keyboard alone, with names and a visible focus',
    browser(
      'keyboard',
      'Tab meets each control once, forwards and backwards, with a ring, and leaves',
    ),
    browser(
      'firefox-keyboard',
      'Tab meets each control once, forwards and backwards, with a ring and a name, and leaves',
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
    'The package is as its browser or store wants it',
    browser('extension', 'the browser finds no fault with the extension'),
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
      if (text === null) return [`${where} is not there`];
      if (!['"', "'", '`'].some((quote) => text.includes(`${quote}${cell.title}${quote}`)))
        return [`${where} has no test "${cell.title}"`];
      return kindOf(cell, BROWSERS[i]!) ? [] : [`${where} does not run in ${BROWSERS[i]}`];
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
