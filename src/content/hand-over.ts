/**
 * Hands a MessagePort of the page to the panel, through a temporary frame of the extension's
 * origin. The frame is in a closed shadow tree, so the page's `window.length` and `frames` don't
 * count it.
 */
import { api } from '../platform/extension-api.ts';
import { handoverAddress } from '../platform/handover-page.ts';
import type { FrameMessage, LineMessage } from '../protocol/messages.ts';

/**
 * A frame that doesn't answer within this time never will, as in a browser that doesn't share
 * workers with frames.
 */
const SILENT_AFTER_MS = 2000;
/** A frame that has loaded reports at once, unless the browser blocked it. */
const THERE_AFTER_MS = 300;

/**
 * @param token from the background, valid once for access to the panel
 * @returns `handed`; `no-panel`: no panel is there to take it; `silent`: frames don't work here,
 * and we still own the port
 */
export async function handOver(
  port: MessagePort,
  token: string,
): Promise<'handed' | 'no-panel' | 'silent'> {
  const root = document.documentElement as Element | null;
  const address = handoverAddress(token);
  // after document.open() with nothing written yet, our element would be the document's first
  if (!root || !address) return 'silent';
  // an HTML element even in SVG or XML documents
  const html = <N extends 'div' | 'iframe'>(name: N): HTMLElementTagNameMap[N] =>
    document.createElementNS('http://www.w3.org/1999/xhtml', name) as HTMLElementTagNameMap[N];
  const host = html('div');
  const frame = html('iframe');
  host.style.display = 'none';
  frame.src = address;
  host.attachShadow({ mode: 'closed' }).append(frame);
  const ours = new URL(api.runtime.getURL('')).origin;
  const { port1: line, port2: frameEnd } = new MessageChannel();
  let removed: MutationObserver | undefined;

  return new Promise<'handed' | 'no-panel' | 'silent'>((done) => {
    let timer = setTimeout(done, SILENT_AFTER_MS, 'silent');
    const answersIn = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(done, ms, 'silent');
    };
    let posted = false;
    // document.open() removes our frame; ports in transit with it are offered again
    removed = new MutationObserver(() => host.isConnected || done(posted ? 'no-panel' : 'silent'));
    removed.observe(document, { childList: true });
    frame.onload = () => {
      const message: FrameMessage = { k: 'token', token };
      frame.contentWindow?.postMessage(message, ours, [frameEnd]);
      answersIn(THERE_AFTER_MS);
    };
    line.onmessage = ({ data }: MessageEvent<LineMessage>) => {
      if (data.k === 'there') return answersIn(SILENT_AFTER_MS);
      clearTimeout(timer);
      if (data.k === 'ready') {
        posted = true;
        line.postMessage({ k: 'port' } satisfies LineMessage, [port]);
      } else if (data.k === 'handed' || data.k === 'no-panel') done(data.k);
    };
    root.append(host);
  }).finally(() => {
    removed?.disconnect();
    host.remove();
    line.close();
  });
}
