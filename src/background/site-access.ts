/**
 * Tells panels which sites we may access: that of the page they inspect, and those of frames in the
 * pages they record.
 */
import { webOrigin } from '../platform/recordable.ts';
import { hasAllSites, hasSiteAccess } from '../platform/site-access.ts';
import type { BackgroundMessage, PanelMessage, SiteAccess } from '../protocol/messages.ts';
import { panelOf } from './recordings.ts';

/** What we may enter of this page. */
export async function accessTo({
  origin,
  frames,
}: Extract<PanelMessage, { k: 'page' }>): Promise<SiteAccess> {
  if (await hasAllSites()) return { origin, granted: 'all', frames: [] };
  const missing = await Promise.all(
    frames.map(async (frame) => ((await hasSiteAccess(frame)) ? [] : [frame])),
  );
  const granted = origin && (await hasSiteAccess(origin)) ? 'origin' : 'none';
  return { origin, granted, frames: missing.flat() };
}

/**
 * A page reports a frame of this origin. Its panel is notified if we can't access it. The page may
 * report any origin.
 */
export async function frameSeen(
  named: string,
  sender: chrome.runtime.MessageSender,
  tell: (panel: number, message: BackgroundMessage) => void,
): Promise<null> {
  const origin = typeof named === 'string' && URL.canParse(named) ? webOrigin(named) : '';
  const panel = await panelOf(sender.tab?.id ?? -1);
  if (origin && panel !== null && !(await hasSiteAccess(origin)))
    tell(panel, { k: 'frame', origin });
  return null;
}
