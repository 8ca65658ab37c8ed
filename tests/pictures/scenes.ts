/**
 * The scenes of pictures: a view in a state, a theme, and a size. States are golden traces, a large
 * synthetic trace, a running recording, and files that aren't traces, so that every picture is
 * reproducible. The stored ones are next to this file, as NAME.png.
 */

export type State = 'loaded' | 'huge' | 'live' | 'empty' | 'error';
export interface Scene {
  /** File name, without .png. */
  name: string;
  state: State;
  /** A stored trace of tests/traces/golden; for `error`, a file that isn't a trace. */
  trace?: string;
  /** A tab; null if a state has no tabs yet. */
  view: string | null;
  theme: 'light' | 'dark';
  width: number;
  height: number;
  /** Selectors to click, in order, after waiting for each. */
  clicks?: readonly string[];
  /** Keys to press after the clicks. */
  keys?: readonly ('Shift+?' | 'Control+k')[];
  /** Another golden trace to compare with. */
  against?: string;
}

/** Whether the scene changes the page: something is selected, or a dialog is open. */
export const disturbs = ({ clicks, keys, against }: Scene): boolean =>
  clicks !== undefined || keys !== undefined || against !== undefined;

/** In an order that lets many scenes share a page. */
export function inOrder(scenes: readonly Scene[]): Scene[] {
  const page = (s: Scene): string => `${s.state} ${s.trace} ${s.theme} ${disturbs(s) ? 1 : 0}`;
  return [...scenes].sort((a, b) => (page(a) < page(b) ? -1 : page(a) > page(b) ? 1 : 0));
}

const id = (name: string): string => `[data-testid="${name}"]`;
const row = (table: string, n: number): string => `${id(`${table}-row`)}:nth-child(${n})`;

/** The trace that shows a view best; the others are shown with DEFAULT. */
const DEFAULT = 'opfs-sahpool';
const BEST: Record<string, string> = {
  answer: 'idb-batch-atomic',
  wal: 'checkpoint-storm',
  errors: 'opfs-wl-two-tabs',
  locks: 'idb-two-tabs',
  cache: 'cache-thrash',
};
/** What is selected in a view before its picture is taken. */
const CHOSEN: Record<string, readonly string[]> = {
  transactions: [row('transactions', 4)],
  statements: [row('statements', 1)],
  answer: [`${id('finding-title')}`],
};
const AGAINST: Record<string, string> = { compare: 'opfs-coop-sync' };

/** A view with a trace that has something for it. */
function loaded(view: string, theme: Scene['theme'], width: number, height: number): Scene {
  const chosen = width >= 1000 ? CHOSEN[view] : undefined;
  return {
    ...{
      name: `${view}-${theme}-${width}`,
      state: 'loaded',
      trace: BEST[view] ?? DEFAULT,
      view,
      theme,
      width,
      height,
    },
    ...(chosen && { clicks: chosen }),
    ...(AGAINST[view] && { against: AGAINST[view] }),
  };
}
const of = (state: State, view: string | null, more: Partial<Scene> = {}): Scene => ({
  ...{
    name: `${state}${view ? `-${view}` : ''}`,
    state,
    view,
    theme: 'light',
    width: 1280,
    height: 640,
  },
  ...more,
});

/** Every stored picture, given the tabs of the panel. */
export function storedScenes(views: readonly string[]): Scene[] {
  return [
    ...views.map((view) => loaded(view, 'light', 1280, 640)),
    ...views.map((view) => loaded(view, 'dark', 420, 640)),
    ...['timeline', 'transactions'].map((view) => loaded(view, 'dark', 2000, 560)),
    ...['answer', 'timeline', 'events', 'statements'].map((view) => of('huge', view)),
    ...['answer', 'timeline'].map((view) => of('live', view, { width: 1000, height: 480 })),
    of('empty', null, { width: 1000, height: 400 }),
    of('empty', null, { name: 'empty-dark-420', theme: 'dark', width: 420, height: 480 }),
    of('empty', 'settings', { width: 1000, height: 560 }),
    of('error', null, { trace: 'newer', width: 1000, height: 400 }),
    of('error', 'answer', { name: 'error-cut', trace: 'cut', width: 1000, height: 480 }),
    of('loaded', 'answer', {
      name: 'dialog-keys',
      trace: DEFAULT,
      keys: ['Shift+?'],
      width: 1000,
    }),
    of('loaded', 'answer', {
      name: 'dialog-palette',
      trace: DEFAULT,
      keys: ['Control+k'],
      theme: 'dark',
      width: 1000,
      height: 480,
    }),
    of('loaded', 'answer', {
      name: 'evidence',
      trace: DEFAULT,
      clicks: [id('finding-show')],
      width: 1280,
    }),
  ];
}

/** The pictures of docs/, by name: `npm run docs -- shots --docs`. */
export function documentScenes(): Scene[] {
  const scene = (name: string, view: string, trace: string, more: Partial<Scene> = {}): Scene => ({
    ...{ name, state: 'loaded', trace, view, theme: 'light', width: 1280, height: 640 },
    ...more,
  });
  const opened = (finding: string): readonly string[] => [
    `${id('finding')}[data-rule="${finding}"] ${id('finding-title')}`,
  ];
  return [
    scene('panel', 'timeline', 'idb-batch-atomic', { height: 720 }),
    // also on the welcome page, as is the dark one
    scene('panel-answer', 'answer', DEFAULT, { height: 720 }),
    scene('panel-answer-dark', 'answer', DEFAULT, { height: 720, theme: 'dark' }),
    scene('panel-statements', 'statements', DEFAULT, {
      clicks: [row('statements', 1)],
      height: 480,
    }),
    scene('panel-files', 'files', DEFAULT, { theme: 'dark' }),
    scene('panel-locks', 'locks', 'idb-two-tabs'),
    scene('panel-flame', 'flame', DEFAULT, { height: 504 }),
    scene('panel-cache', 'cache', BEST['cache']!, { height: 944 }),
    scene('panel-errors', 'errors', 'opfs-coop-sync', { clicks: [row('errors', 1)], height: 320 }),
    scene('panel-events', 'events', 'opfs-coop-sync', {
      clicks: [id('layer-web'), id('layer-host'), row('event', 12)],
      height: 480,
    }),
    scene('panel-query', 'sql', DEFAULT, { clicks: [id('sql-run')], height: 480 }),
    scene('panel-settings', 'settings', DEFAULT, { state: 'empty', height: 640 }),
    scene('tour-read-modify-write', 'answer', 'read-modify-write', {
      clicks: opened('F09'),
      height: 900,
    }),
    scene('tour-gaps', 'timeline', 'read-modify-write'),
    scene('tour-absurd-sql', 'timeline', 'absurd-sql'),
    scene('tour-commit', 'transactions', 'opfs-coop-sync', { clicks: [row('transactions', 4)] }),
    scene('tour-compare', 'compare', 'opfs-coop-sync', { against: 'wal-exclusive', height: 720 }),
    scene('tour-checkpoints', 'wal', 'checkpoint-storm', { clicks: [row('checkpoints', 3)] }),
    scene('tour-turso', 'wal', 'turso-wal', { height: 480 }),
  ];
}

/**
 * Every view in every state, theme, and size: for inspection (`npm run docs -- shots --all`), not
 * stored.
 */
export function allScenes(views: readonly string[]): Scene[] {
  const sizes = [
    [420, 700],
    [1280, 800],
    [2000, 900],
  ] as const;
  const looks = sizes.flatMap(([width, height]) =>
    (['light', 'dark'] as const).map((theme) => ({ theme, width, height })),
  );
  const more = (['huge', 'live', 'empty'] as const).flatMap((state) =>
    views.map((view) =>
      of(state, view, { theme: state === 'live' ? 'dark' : 'light', height: 800 }),
    ),
  );
  const extra = storedScenes(views).filter(
    ({ state, name }) => state === 'error' || /^(dialog|evidence|empty)/.test(name),
  );
  const all = [
    ...views.flatMap((view) =>
      looks.map((look) => loaded(view, look.theme, look.width, look.height)),
    ),
    ...more,
    ...extra,
  ];
  return [...new Map(all.map((scene) => [scene.name, scene])).values()];
}

/** Docked right as DevTools does it, docked narrow, a laptop's window, a screen, a large screen. */
const MATRIX_SIZES = [
  [400, 850],
  [554, 850],
  [900, 700],
  [1400, 800],
  [2200, 900],
] as const;
/** Tabs that show something without a trace; the others show the empty panel. */
const WITHOUT_TRACE = ['answer', 'settings'];

/** The matrix: every view with a trace, with a million events, while recording, and empty, in five sizes and both themes. */
export function matrixScenes(views: readonly string[]): Scene[] {
  return views.flatMap((view) =>
    (['loaded', 'huge', 'live', 'empty'] as const)
      .filter((state) => state !== 'empty' || WITHOUT_TRACE.includes(view))
      .flatMap((state) =>
        (['light', 'dark'] as const).flatMap((theme) =>
          MATRIX_SIZES.map(([width, height]): Scene => {
            const { clicks: _, ...scene } =
              state === 'loaded' ? loaded(view, theme, width, height) : of(state, view);
            return {
              ...scene,
              ...{ name: `${view}-${state}-${theme}-${width}`, theme, width, height },
            };
          }),
        ),
      ),
  );
}
