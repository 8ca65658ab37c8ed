/**
 * Isolated world of a page that `vfscope record --connect` records: does what content.ts does,
 * without the extension. It takes the port that the hook offers and relays it through a function
 * that the command has added to this world. The page can't see either.
 */
import { CONNECT_HEAR, CONNECT_LEAVE, CONNECT_SAY } from '../protocol/connect.ts';
import { PartReader, toParts } from '../protocol/json-wire.ts';
import {
  CONTACT,
  isPageMessage,
  isRelayMessage,
  type ContentMessage,
} from '../protocol/messages.ts';
import { drawName, RelayEnd } from '../protocol/relay.ts';

/**
 * The command answers every batch. Without an answer within this time it is gone, and the page must
 * be restored.
 */
const GONE_MS = 10_000;
const LOOK_EVERY_MS = 1000;

const realm = globalThis as unknown as Record<string, (text: string) => void>;
const lines = new Set<MessagePort>();
/** When the oldest unanswered message was sent; null = all were answered. */
let unansweredSince: number | null = null;

const end = new RelayEnd(drawName(), (message) => {
  unansweredSince ??= performance.now();
  for (const part of toParts(message)) realm[CONNECT_SAY]!(JSON.stringify(part));
});
const answer = (line: MessagePort, message: ContentMessage): void => line.postMessage(message);

function onContact(event: Event): void {
  const [line] = (event as Partial<MessageEvent>).ports ?? [];
  if (!line) return;
  event.stopImmediatePropagation();
  event.preventDefault(); // taken
  lines.add(line);
  line.onmessage = ({ data, ports: [port] }: MessageEvent<unknown>) => {
    if (!isPageMessage(data)) return;
    // none of its SharedWorkers run with our script: the browser injects the hook into them
    if (data.k === 'shared') return answer(line, { k: 'shared', n: data.n, url: '' });
    if (!port) return;
    end.carry(port);
    answer(line, { k: 'connected' });
  };
}

const reader = new PartReader();
realm[CONNECT_HEAR] = (text) => {
  unansweredSince = null;
  const whole = reader.take(JSON.parse(text));
  if (whole && isRelayMessage(whole.message)) end.receive(whole.message);
};

/** Restore the page. A hook that was told to stop has already restored. */
function leave(): void {
  removeEventListener(CONTACT, onContact, true);
  clearInterval(watch);
  for (const line of lines) {
    answer(line, { k: 'restore' });
    line.close();
  }
  lines.clear();
  end.close();
}
realm[CONNECT_LEAVE] = leave;

const watch = setInterval(() => {
  if (unansweredSince !== null && performance.now() - unansweredSince > GONE_MS) leave();
}, LOOK_EVERY_MS);
addEventListener(CONTACT, onContact, true);
dispatchEvent(new Event(CONTACT)); // for a hook that was here first
