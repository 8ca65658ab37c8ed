/**
 * Isolated world of a page, while recordings run: takes the port that the hook offers, hands it to the panel of this tab's
 * recording, or tells the hook that there is none. The app sees none of these messages: our listeners are the first.
 */
import { api } from '../platform/extension-api.ts';
import { isPageMessage, MARK, type Answer, type Ask, type ContentMessage, type Tell } from '../protocol/messages.ts';
import { handOver } from './hand-over.ts';
import { relay } from './relay.ts';

const say = (k: ContentMessage['k']): void =>
  window.postMessage({ mark: MARK, k } satisfies ContentMessage, origin === 'null' ? '*' : origin);

const isRecorded = (): Promise<Answer> => api.runtime.sendMessage({ k: 'recorded?' } satisfies Ask);
/** When the recording began that this page's hook belongs to; 0 = none yet. */
let since = 0;

async function passOn(port: MessagePort): Promise<ContentMessage['k']> {
  const answer = await isRecorded();
  if (!answer.recorded) return 'restore';
  since = answer.since;
  // in a sandboxed frame the handover frame would be without an origin, too: it reaches nobody
  const outcome = answer.transport === 'runtime' || origin === 'null' ? 'silent' : await handOver(port, answer.token);
  if (outcome === 'silent') relay(port);
  return outcome === 'no-panel' ? 'no-panel' : 'connected';
}

/** Is there an element that has this script's digest? Of an import map's digests only that there are some is known. */
function isGuarded(url: string): boolean {
  for (const element of document.querySelectorAll('script[integrity], link[integrity]'))
    if ((element as HTMLScriptElement).src === url || (element as HTMLLinkElement).href === url) return true;
  return [...document.querySelectorAll('script[type="importmap"]')].some((map) => /"integrity"/.test(map.textContent));
}

let offers = 0;

function onPageMessage(event: MessageEvent<unknown>): void {
  const [port] = event.ports;
  if (event.source !== window || !isPageMessage(event.data)) return;
  event.stopImmediatePropagation();
  if (!port) return;
  const mine = ++offers;
  passOn(port).then(
    (outcome) => mine === offers && say(outcome), // else a newer offer is on its way and gets the answer
    () => say('restore'), // the extension was reloaded or removed while this page was open
  );
}

/** Back from the back/forward cache, where nothing reaches a page: its recording may have ended meanwhile. */
function onPageShow({ persisted }: PageTransitionEvent): void {
  if (!persisted || since === 0) return;
  isRecorded().then(
    (answer) => answer.since !== since && say('restore'),
    () => say('restore'),
  );
}

// a recording that starts on a page seen before injects this script again
const realm = globalThis as { vfscopeListens?: true };
if (!realm.vfscopeListens) {
  realm.vfscopeListens = true;
  addEventListener('message', onPageMessage, true);
  addEventListener('pageshow', onPageShow, true);
  api.runtime.onMessage.addListener((message: Tell, _sender, reply) => {
    if (message.k === 'restore') say('restore');
    else reply(isGuarded(message.url));
  });
}
