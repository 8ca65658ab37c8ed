/**
 * A SharedWorker of the extension's origin that lives while a panel is open. It passes a page's
 * port on to the panel that records the page.
 * Only our own pages can reach it.
 */
import type { HandoverMessage } from '../protocol/messages.ts';

/** A live panel answers at once, a hanging one within this time. A closed one doesn't answer. */
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
    // if a tab has two panels, the one whose Record was pressed last
    panels.set(data.panel, client);
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
