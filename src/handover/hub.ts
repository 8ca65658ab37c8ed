/**
 * A SharedWorker of the extension's origin, alive while a panel is open: passes a page's port on to the panel that records it.
 * Only our own pages can reach it.
 */
import type { HandoverMessage } from '../protocol/messages.ts';

/** A panel that lives answers at once, one that hangs is given this long. A closed one says nothing at all. */
const PANEL_ANSWERS_MS = 1000;

const panels = new Map<number, MessagePort>();
const say = (port: MessagePort, message: HandoverMessage, transfer: Transferable[] = []): void =>
  port.postMessage(message, transfer);

function alive(panel: MessagePort): Promise<boolean> {
  return new Promise((resolve) => {
    const pong = ({ data }: MessageEvent<HandoverMessage>): void => {
      if (data.k === 'pong') settle(true);
    };
    const settle = (answer: boolean): void => {
      clearTimeout(timer);
      panel.removeEventListener('message', pong);
      resolve(answer);
    };
    const timer = setTimeout(settle, PANEL_ANSWERS_MS, false);
    panel.addEventListener('message', pong);
    say(panel, { k: 'ping' });
  });
}

async function onMessage(
  client: MessagePort,
  data: HandoverMessage,
  port: MessagePort | undefined,
): Promise<void> {
  if (data.k === 'register') {
    panels.set(data.panel, client); // of two panels of a tab, the one that last pressed Record
    say(client, { k: 'registered' });
  } else if (data.k === 'reach') {
    const panel = panels.get(data.panel);
    const there = panel !== undefined && (await alive(panel));
    if (panel && !there && panels.get(data.panel) === panel) panels.delete(data.panel);
    say(client, { k: there ? 'ready' : 'no-panel' });
  } else if (data.k === 'port' && port) {
    const panel = panels.get(data.panel);
    if (panel) say(panel, { k: 'port', panel: data.panel }, [port]);
    say(client, { k: panel ? 'handed' : 'no-panel' });
  }
}

addEventListener('connect', (event) => {
  const [client] = (event as MessageEvent).ports;
  if (!client) return;
  client.addEventListener(
    'message',
    ({ data, ports }: MessageEvent<HandoverMessage>) => void onMessage(client, data, ports[0]),
  );
  client.start();
});
