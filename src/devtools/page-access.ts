/** What a panel knows of the sites that its recording may enter: the background's word, and what of it takes effect only later. */
import type { SiteAccess } from '../protocol/messages.ts';
import type { PageAccess } from '../viewer/ui/host.ts';

/** Origins of frames; the page chooses them. */
const MAX_FRAMES = 20;

export class PageAccessState {
  private frames: string[] = [];
  private access: SiteAccess | null = null;
  private afterReload: string[] = [];
  /** The page came while we might not enter it. */
  private came = false;

  constructor(private origin = '') {}

  /** What the background is asked about. */
  get asked(): { k: 'page'; origin: string; frames: string[] } {
    return { k: 'page', origin: this.origin, frames: this.frames };
  }

  /** The tab shows a page of this origin; also after a reload. */
  navigated(origin: string): void {
    if (origin !== this.origin) this.access = null; // until the background has answered
    this.origin = origin;
    this.frames = [];
    this.afterReload = [];
    this.came = this.access?.granted === 'none';
  }

  /** The page has a frame of this origin that may not be entered. @returns whether that is news */
  frame(origin: string): boolean {
    if (this.frames.includes(origin) || this.frames.length >= MAX_FRAMES) return false;
    this.frames = [...this.frames, origin];
    return true;
  }

  /**
   * The background's answer.
   * @returns whether access to the page itself was lost with it
   */
  answered(access: SiteAccess): boolean {
    if (access.origin !== this.origin) return false; // about the page before
    const before = this.access;
    this.access = access;
    if (!before) this.came = access.granted === 'none';
    const allowed = (before?.frames ?? []).filter((frame) => !access.frames.includes(frame));
    if (this.came && before?.granted === 'none' && access.granted !== 'none')
      allowed.push(this.origin);
    this.afterReload = [...new Set([...this.afterReload, ...allowed])];
    return before !== null && before.granted !== 'none' && access.granted === 'none';
  }

  /** null until the background has answered. */
  get now(): PageAccess | null {
    return this.access && { ...this.access, afterReload: this.afterReload };
  }
}
