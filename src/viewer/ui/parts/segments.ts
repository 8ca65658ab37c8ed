/** One part of a bar of shares. */
export interface Segment {
  title: string;
  /** Microseconds. */
  us: number;
  /** CSS custom property of Theme.svelte. */
  color: string;
  meaning?: string;
}

/** What a part of a bar is called and how it looks. @param color a CSS custom property of Theme.svelte */
export const partWords = (title: string, color: string, meaning: string): Omit<Segment, 'us'> => ({
  title,
  color,
  meaning,
});
