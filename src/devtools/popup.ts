/**
 * The popup: looks at the active tab's page once when it opens, and shows how to record it, or why
 * it can't be recorded.
 */
import { api } from '../platform/extension-api.ts';
import { openPanelWindow } from '../platform/panel-window.ts';
import { whyNotRecordable } from '../platform/recordable.ts';
import type { Ask, RecordingState } from '../protocol/messages.ts';
import { slowsUnderDevtools } from '../protocol/slowdown.ts';
import { devtoolsKeys } from './devtools-keys.ts';
import {
  sortedFiles,
  storedName,
  versionText,
  type PageStorage,
  type StoredFile,
} from '../protocol/page-storage.ts';
import { lookAtTab } from '../page-copy/look-at-tab.ts';
import { shown } from '../text/clean.ts';
import { countOf, formatBytes } from '../text/numbers.ts';

const SHOWN = 12;

/** An element with text and children. Strings from pages are only used as text. */
function el(tag: string, className: string, ...children: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

const note = (text: string): HTMLElement => el('p', 'note', text);

function fileRow(file: StoredFile): HTMLElement {
  const row = el('li', '', el('span', 'name', shown(storedName(file))));
  row.title = shown(file.path);
  if (file.sqlite) {
    const badge = el(
      'span',
      'badge',
      file.writtenBy ? `SQLite ${versionText(file.writtenBy)}` : 'SQLite',
    );
    badge.title = file.writtenBy ? 'Last written by this release' : '';
    row.append(badge);
  }
  row.append(el('span', 'detail', file.size === null ? 'in use' : formatBytes(file.size)));
  return row;
}

function section(
  title: string,
  rows: HTMLElement[],
  total = rows.length,
  more = false,
): HTMLElement[] {
  if (rows.length === 0) return [];
  const list = el('ul', '', ...rows.slice(0, SHOWN));
  const rest = total - SHOWN;
  const parts = [el('h2', '', title), list];
  if (rest > 0) parts.push(note(`and ${rest}${more ? ' or more' : ''} others`));
  return parts;
}

function describe(found: PageStorage): Node[] {
  const files = sortedFiles(found.files);
  const parts: Node[] = [
    ...section('Files (OPFS)', files.map(fileRow), files.length, found.moreFiles),
    ...section(
      'IndexedDB',
      found.databases.map(({ name, version }) =>
        el('li', '', el('span', 'name', shown(name)), el('span', 'detail', `version ${version}`)),
      ),
    ),
    ...section(
      "SQLite's key-value storage",
      found.kvvfs.map(({ storage, keys, characters }) =>
        el(
          'li',
          '',
          el('span', 'name', storage),
          el('span', 'detail', `${countOf(keys, 'key')}, ${countOf(characters, 'character')}`),
        ),
      ),
    ),
  ];
  if (parts.length === 0)
    parts.push(note('This origin stores nothing in OPFS, IndexedDB, or key-value storage now.'));
  for (const failure of found.failures) parts.push(note(shown(failure)));
  const clock = found.crossOriginIsolated
    ? 'Cross-origin isolated: a fine clock, and shared memory.'
    : 'Not cross-origin isolated: a coarse clock. Single storage calls may be shorter than its step.';
  parts.push(note(clock));
  if (api.extension.inIncognitoContext)
    parts.push(note('Private window: storage is in memory, and may be much faster than usual.'));
  return parts;
}

const SLOW_DEVTOOLS = slowsUnderDevtools(navigator.userAgent)
  ? ' Open DevTools slow the page down.'
  : '';

/**
 * Opens vfscope's window for this tab, and closes the popup. @param view to show @param failed
 * error message if the window couldn't be opened
 */
function windowButton(
  id: string,
  text: string,
  tab: number,
  failed: (why: string) => void,
  view?: string,
): HTMLElement {
  const button = el('button', 'primary', text);
  button.id = id;
  button.addEventListener('click', () => {
    openPanelWindow(tab, view).then(
      () => window.close(),
      (e: unknown) =>
        failed(
          `vfscope can't open its window: ${shown(e instanceof Error ? e.message : String(e))}`,
        ),
    );
  });
  return button;
}

/** What the page's origin stores, without a recording. */
function doctorLink(tab: number): HTMLElement {
  const line = note('');
  const failed = (why: string): void => line.replaceChildren(why);
  const button = windowButton('open-doctor', 'Open Doctor', tab, failed, 'doctor');
  button.className = 'link';
  line.append(button, ': locks, databases, and files now, without a recording.');
  return line;
}

function howToRecord(tab: number): Node[] {
  const button = windowButton('record-window', 'Record in its own window', tab, (why) =>
    keys.replaceChildren(why),
  );
  const keys = el('p', 'note');
  keys.append('Or open DevTools (', ...devtoolsKeys(), '), choose ', el('strong', '', 'vfscope'));
  keys.append(`, and press Record.${SLOW_DEVTOOLS}`);
  return [button, keys];
}

/** What a recording that includes this tab means for the user. */
function aboutRecording({ since, scope, tabId }: RecordingState, tab: number): Node[] {
  const from = new Date(since).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  const what = scope === 'tab' ? 'This tab has been' : 'All tabs of this origin have been';
  const whose =
    tabId === tab
      ? 'Press Stop in its vfscope panel'
      : 'Press Stop in the vfscope panel where it was started';
  return [
    el('strong', 'recording', `${what} recorded since ${from}.`),
    document.createTextNode(` ${whose} to see the results.`),
  ];
}

/** `?tab=<id>` looks at that tab instead of the active one. */
async function chosenTab(): Promise<chrome.tabs.Tab | undefined> {
  const asked = new URLSearchParams(location.search).get('tab');
  if (asked !== null) return api.tabs.get(Number(asked));
  return (await api.tabs.query({ active: true, currentWindow: true }))[0];
}

async function main(): Promise<void> {
  const found = document.querySelector('#found')!;
  const next = document.querySelector('#next')!;
  try {
    const tab = await chosenTab();
    const cause = whyNotRecordable(tab?.url);
    if (cause) found.replaceChildren(cause);
    else {
      document.querySelector('#origin')!.textContent = new URL(tab!.url!).host;
      found.replaceChildren(...describe(await lookAtTab(tab!.id!)));
      const recording = (await api.runtime.sendMessage({
        k: 'recording?',
        tabId: tab!.id!,
      } satisfies Ask)) as RecordingState | null;
      next.replaceChildren(
        ...(recording ? aboutRecording(recording, tab!.id!) : howToRecord(tab!.id!)),
        doctorLink(tab!.id!),
      );
    }
  } catch (e) {
    found.replaceChildren(
      `vfscope can't look at this page: ${shown(e instanceof Error ? e.message : String(e))}`,
    );
  }
  next.toggleAttribute('hidden', !next.hasChildNodes());
  document.documentElement.dataset['ready'] = 'true';
}
// Firefox would leave the popup open over the page that a link has opened
addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || !api.extension.getViews({ type: 'popup' }).includes(window)) return;
  event.preventDefault();
  void api.tabs.create({ url: link.href }).then(() => window.close());
});
void main();
