/** The page that asks for access to web pages: its button is the user's gesture that the browser wants for it. */
import { hasSiteAccess, requestSiteAccess } from '../platform/site-access.ts';

const outcome = document.querySelector<HTMLElement>('#outcome')!;
const allow = document.querySelector<HTMLButtonElement>('#allow')!;

function show(granted: boolean): void {
  const focused = document.activeElement === allow;
  allow.disabled = granted;
  outcome.textContent = granted ? 'vfscope may record web pages. Close this tab, and press Record in the panel.' : '';
  if (granted && focused) outcome.focus(); // a button that is disabled would take the focus with it
}

allow.addEventListener('click', () => {
  requestSiteAccess().then(
    (granted) => (granted ? show(true) : (outcome.textContent = 'Access was not given. Without it vfscope can only open saved traces.')),
    (e: unknown) => (outcome.textContent = `The browser refused to ask: ${e instanceof Error ? e.message : String(e)}`),
  );
});
hasSiteAccess()
  .then(show, (e: unknown) => void (outcome.textContent = String(e)))
  .finally(() => (document.documentElement.dataset['ready'] = 'true'));
