/**
 * The page that asks for access to sites, which a DevTools panel can't do: the browser requires a
 * user gesture, here a click on a button. `?tab=<id>&origin=<origin>...`: the inspected tab, to
 * which the user returns, and the requested origins.
 */
import {
  accessAsked,
  hasAllSites,
  hasSiteAccess,
  requestSiteAccess,
} from '../platform/site-access.ts';
import { returnToTab } from '../platform/return-to-tab.ts';
import type { AccessWanted } from '../protocol/messages.ts';
import { siteName } from '../viewer/ui/site-name.ts';

const element = <T extends HTMLElement>(id: string): T => document.querySelector<T>(`#${id}`)!;
const outcome = element('outcome');
const one = element<HTMLButtonElement>('allow');
const all = element<HTMLButtonElement>('allow-all');

const { tab, origins } = accessAsked(location.search);
const names = [...new Set(origins.map(siteName))].join(', ');
if (origins.length) {
  element('question').textContent = `Allow vfscope to record ${names}?`;
  one.textContent = `Allow ${names}`;
  one.hidden = false;
} else {
  element('question').textContent = 'Allow vfscope to record all sites?';
  all.classList.remove('second');
}

const failed = (e: unknown): void =>
  void (outcome.textContent = e instanceof Error ? e.message : String(e));

/** @param granted the requested access, or all sites */
async function show(granted: boolean): Promise<void> {
  if (!granted) return;
  const focused = document.activeElement instanceof HTMLButtonElement;
  one.disabled = all.disabled = true;
  outcome.textContent = 'Access allowed. Close this tab and go back to your page.';
  if (focused) outcome.focus(); // disabling the button would move the focus
  if (tab !== null) await returnToTab(tab);
}

const ask = (wanted: AccessWanted) => (): void =>
  void requestSiteAccess(wanted)
    .then((granted) => {
      if (!granted)
        outcome.textContent =
          "Access wasn't allowed, so vfscope can't record there. You can still open saved recordings.";
      return show(granted);
    })
    .catch(failed);
one.addEventListener('click', ask(origins));
all.addEventListener('click', ask('all'));

document.documentElement.dataset['ready'] = 'true';
const granted = async (): Promise<boolean> =>
  (await hasAllSites()) ||
  (origins.length > 0 && (await Promise.all(origins.map(hasSiteAccess))).every(Boolean));
granted().then(show).catch(failed);
