/** The viewer's keys in one table, for the key handler, tooltips, and the `?` sheet. */
import { get } from 'svelte/store';
import { panBy, zoomAt } from './charts/viewport.ts';
import type { ViewerModel } from './model.ts';

interface Binding {
  /** KeyboardEvent.key in lower case. */
  keys: readonly string[];
  /** With Ctrl, or Cmd on a Mac; also while typing in a field. */
  command?: boolean;
  /** With or without Shift; undefined = Shift doesn't matter. */
  shift?: boolean;
  /** It moves the visible range: works only where the range is on screen. */
  ofRange?: boolean;
  help: string;
  /** @returns false if there was nothing to do, so the browser handles the key */
  run(model: ViewerModel, page: PageActions): boolean | void;
}
/** What only the page can do. */
export interface PageActions {
  chooseFile(): void;
  focusFilter(): void;
  /** Show a view, if there is one of this id. */
  showView(id: string): void;
  /** Whether the visible range is on screen: on the timeline, and in lists narrowed to it. */
  showsRange(): boolean;
  /** The shown view's own keys. @returns whether it handled this one */
  viewKey?(event: KeyboardEvent): boolean;
}

/** Letters that show a view after G, by the view's id. */
export const VIEW_LETTERS: Readonly<Record<string, string>> = {
  answer: 'a',
  timeline: 't',
  transactions: 'r',
  statements: 's',
  flame: 'h',
  locks: 'l',
  wal: 'w',
  files: 'f',
  doctor: 'o',
  cache: 'c',
  errors: 'x',
  events: 'e',
  sql: 'q',
  compare: 'd',
  settings: ',',
};
/** Letters follow G within this time. */
const CHORD_MS = 1500;

/** One press multiplies or divides the length of the range on screen by this. */
export const ZOOM_STEP = 1.5;
const PAN_STEP = 0.2;

const zoom =
  (factor: number) =>
  (model: ViewerModel): void => {
    const view = get(model.navigation.view);
    model.navigation.look(
      zoomAt(view, (view.from + view.to) / 2, factor, get(model.navigation.extent)),
    );
  };
const pan =
  (share: number) =>
  (model: ViewerModel): void =>
    model.navigation.look(panBy(get(model.navigation.view), share, get(model.navigation.extent)));

/** The tabs in order, and the view for each digit: the first of a group. */
const TABS = [
  ['answer', 'Answer'],
  ['timeline', 'Timeline'],
  ['statements', 'SQL: statements'],
  ['files', 'Storage: files'],
  ['events', 'Raw: events'],
  ['compare', 'Compare'],
] as const;

export const BINDINGS: readonly Binding[] = [
  { keys: ['e'], command: true, help: 'Record or stop', run: (m) => void m.toggleRecording() },
  { keys: ['s'], command: true, help: 'Save the recording', run: (m) => void m.save() },
  { keys: ['o'], command: true, help: 'Open a recording', run: (_, page) => page.chooseFile() },
  { keys: ['l'], command: true, help: 'Clear', run: (m) => void m.clear() },
  {
    keys: ['k'],
    command: true,
    help: 'Command palette',
    run: (m) => m.paletteOpen.update((open) => !open),
  },
  { keys: ['w', '+', '='], ofRange: true, help: 'Zoom in', run: zoom(1 / ZOOM_STEP) },
  { keys: ['s', '-'], ofRange: true, help: 'Zoom out', run: zoom(ZOOM_STEP) },
  { keys: ['a', 'arrowleft'], ofRange: true, help: 'Earlier', run: pan(-PAN_STEP) },
  { keys: ['d', 'arrowright'], ofRange: true, help: 'Later', run: pan(PAN_STEP) },
  {
    keys: ['f'],
    ofRange: true,
    help: 'Zoom to the selected event',
    run: (m) => m.navigation.showSelection(),
  },
  {
    keys: ['0'],
    ofRange: true,
    help: 'Show the entire recording',
    run: (m) => m.navigation.showAll(),
  },
  { keys: ['/'], help: 'Filter or search this view', run: (_, page) => page.focusFilter() },
  ...TABS.map(([id, help], i) => ({
    keys: [`${i + 1}`],
    help,
    run: (_: ViewerModel, page: PageActions) => page.showView(id),
  })),
  {
    keys: ['n'],
    shift: false,
    help: 'Next event of the evidence',
    run: (m) => void m.navigation.stepEvidence(1),
  },
  {
    keys: ['n'],
    shift: true,
    help: 'Previous event of the evidence',
    run: (m) => void m.navigation.stepEvidence(-1),
  },
  { keys: ['?'], help: 'This list', run: (m) => m.helpOpen.update((open) => !open) },
  {
    keys: ['escape'],
    help: 'Close, deselect',
    run: (m) => {
      if (get(m.navigation.selected)) m.navigation.selected.set(null);
      else if (get(m.navigation.evidence)) m.navigation.evidence.set(null);
      else return false;
    },
  },
];

const isMac = (): boolean => /Mac/.test(navigator.platform);

/** `Ctrl+E`, `W or +` */
export function keyText({ keys, command, shift }: Binding): string {
  const names = keys.map(
    (key) => ({ arrowleft: '←', arrowright: '→', escape: 'Esc' })[key] ?? key.toUpperCase(),
  );
  if (shift) return names.map((name) => `Shift+${name}`).join(' or ');
  return command
    ? names.map((name) => (isMac() ? `⌘${name}` : `Ctrl+${name}`)).join(' or ')
    : names.join(' or ');
}
/** `G O`; '' for a view without a letter. */
export const viewKeyText = (id: string): string =>
  VIEW_LETTERS[id] ? `G ${VIEW_LETTERS[id].toUpperCase()}` : '';
/** For a button's tooltip: `Record or stop (Ctrl+E)`. */
export function tooltipFor(help: string): string {
  const binding = BINDINGS.find((b) => b.help === help);
  return binding ? `${help} (${keyText(binding)})` : help;
}

let chordBegan = -Infinity;

/** Handle a key if it is one of ours. @returns whether it was */
export function obeyKey(event: KeyboardEvent, model: ViewerModel, page: PageActions): boolean {
  // the focused element or an input method has handled it
  if (event.defaultPrevented || event.isComposing) return false;
  const target = event.composedPath()[0];
  const typing =
    target instanceof HTMLElement &&
    (target.matches('input:not([type=checkbox]), textarea, select') || target.isContentEditable);
  const command = isMac() ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (event.altKey || (command ? event.shiftKey : event.ctrlKey || event.metaKey)) return false;
  const key = event.key.toLowerCase();
  if (target instanceof Element && target.closest('dialog') && !(command && key === 'k'))
    return false; // a dialog has its own keys
  const view = command || typing ? undefined : chord(event.timeStamp, key);
  if (view !== undefined) {
    event.preventDefault();
    if (view !== null) page.showView(view);
    return true;
  }
  if (!command && !typing && page.viewKey?.(event)) {
    event.preventDefault();
    return true;
  }
  const binding = BINDINGS.find(
    (b) =>
      (b.command ?? false) === command &&
      (b.shift ?? event.shiftKey) === event.shiftKey &&
      b.keys.includes(key) &&
      (command || !typing),
  );
  if (!binding) {
    if (typing && key === 'escape' && target instanceof HTMLElement) target.blur();
    return false;
  }
  if (binding.ofRange && !page.showsRange()) return false;
  if ((key === 'arrowleft' || key === 'arrowright') && get(model.navigation.tab) !== 'timeline')
    return false;
  // one command, however long it is held; still kept from the browser
  const held = command && event.repeat;
  if (!held && binding.run(model, page) === false) return false;
  event.preventDefault();
  return true;
}

/**
 * @returns the view for G and this letter; null = G was pressed, waiting for a letter; undefined =
 * the key isn't part of a chord
 */
function chord(now: number, key: string): string | null | undefined {
  const open = now - chordBegan < CHORD_MS;
  chordBegan = !open && key === 'g' ? now : -Infinity;
  if (!open) return key === 'g' ? null : undefined;
  return Object.keys(VIEW_LETTERS).find((id) => VIEW_LETTERS[id] === key);
}
