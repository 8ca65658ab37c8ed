/**
 * Hands a MessagePort of the page to the panel, through a frame of the extension's origin that lives only for this. The frame
 * sits in a closed shadow tree: the page's `window.length` and `frames` do not count it.
 */
import { api } from '../platform/extension-api.ts';
import type { FrameMessage, LineMessage } from '../protocol/messages.ts';

/** A frame that says nothing for this long never will: a policy, or a browser that does not share workers with frames. */
const SILENT_AFTER_MS = 2000;

/**
 * @param token from the background: opens the way to the panel, once
 * @returns `handed`; `no-panel`: nobody is there to take it; `silent`: no frame can be used here, and the port is still ours
 */
export function handOver(port: MessagePort, token: string): Promise<'handed' | 'no-panel' | 'silent'> {
  const host = document.createElement('div');
  const frame = document.createElement('iframe');
  host.style.display = 'none';
  frame.src = api.runtime.getURL('handover/frame.html');
  host.attachShadow({ mode: 'closed' }).append(frame);
  const { port1: line, port2: frameEnd } = new MessageChannel();

  return new Promise<'handed' | 'no-panel' | 'silent'>((done) => {
    const timer = setTimeout(done, SILENT_AFTER_MS, 'silent');
    frame.onload = () => {
      const message: FrameMessage = { k: 'token', token };
      frame.contentWindow?.postMessage(message, new URL(frame.src).origin, [frameEnd]);
    };
    line.onmessage = ({ data }: MessageEvent<LineMessage>) => {
      clearTimeout(timer);
      if (data.k === 'ready') line.postMessage({ k: 'port' } satisfies LineMessage, [port]);
      else if (data.k === 'handed' || data.k === 'no-panel') done(data.k);
    };
    (document.documentElement ?? document).append(host);
  }).finally(() => {
    host.remove();
    line.close();
  });
}
