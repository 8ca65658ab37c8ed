/**
 * The temporary frame that a content script adds to a recorded page. It has the extension's origin,
 * so it can reach the hub. Any page can load it, but without a token from the background it does
 * nothing.
 */
import { api } from '../platform/extension-api.ts';
import {
  isFrameMessage,
  type Ask,
  type HandoverMessage,
  type LineMessage,
  type Redeemed,
} from '../protocol/messages.ts';

addEventListener('message', (event: MessageEvent<unknown>) => {
  const [line] = event.ports;
  if (!line || !isFrameMessage(event.data)) return;
  lead(line, event.data.token).catch((e: unknown) =>
    console.warn('vfscope: a port could not be handed over:', e),
  );
});

async function lead(line: MessagePort, token: string): Promise<void> {
  const say = (message: LineMessage): void => line.postMessage(message);
  say({ k: 'there' });
  const redeemed: Redeemed = await api.runtime.sendMessage({ k: 'redeem', token } satisfies Ask);
  // not from our content script: don't answer, so that other pages learn nothing
  if (!redeemed) return;
  const { panel } = redeemed;
  const hub = new SharedWorker('/handover/hub.js').port;
  hub.onmessage = ({ data }: MessageEvent<HandoverMessage>) => {
    if (data.k === 'ready' || data.k === 'no-panel' || data.k === 'handed') say({ k: data.k });
  };
  line.onmessage = ({ data, ports: [port] }: MessageEvent<LineMessage>) => {
    if (data.k === 'port' && port)
      hub.postMessage({ k: 'port', panel } satisfies HandoverMessage, [port]);
  };
  hub.postMessage({ k: 'reach', panel } satisfies HandoverMessage);
}
