/** What the panels learn of the sites that we may enter: of the page that they inspect, and of frames in the pages that they record. */
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

/** A page says that it has a frame of this origin: its panel hears of one that we may not enter. The page could name any. */
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
