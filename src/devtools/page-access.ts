/**
 * What a panel knows about the sites that its recording may access: the background's reports, and
 * what takes effect only after a reload.
 */
import type { SiteAccess } from '../protocol/messages.ts';
import type { PageAccess } from '../viewer/ui/host.ts';

/** Maximum origins of frames, because the page chooses them. */
const MAX_FRAMES = 20;

export class PageAccessState {
  private frames: string[] = [];
  private access: SiteAccess | null = null;
  private afterReload: string[] = [];
  /** The page loaded while we had no access to it. */
  private came = false;

  constructor(private origin = '') {}

  /** The question to the background. */
  get asked(): { k: 'page'; origin: string; frames: string[] } {
    return { k: 'page', origin: this.origin, frames: this.frames };
  }

  /** The tab shows a page of this origin; also called after a reload. */
  navigated(origin: string): void {
    if (origin !== this.origin) this.access = null; // until the background has answered
    this.origin = origin;
    this.frames = [];
    this.afterReload = [];
    this.came = this.access?.granted === 'none';
  }

  /** The page has a frame of this origin that we can't access. @returns whether it is new */
  frame(origin: string): boolean {
    if (this.frames.includes(origin) || this.frames.length >= MAX_FRAMES) return false;
    this.frames = [...this.frames, origin];
    return true;
  }

  /**
   * The background has answered.
   * @returns whether access to the page itself was lost
   */
  answered(access: SiteAccess): boolean {
    if (access.origin !== this.origin) return false; // about the previous page
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
