/** One part of a bar of shares. */
export interface Segment {
  title: string;
  /** Microseconds. */
  us: number;
  /** CSS custom property of Theme.svelte. */
  color: string;
  meaning?: string;
}

/** The name of a bar's part and its look. @param color a CSS custom property of Theme.svelte */
export const partWords = (title: string, color: string, meaning: string): Omit<Segment, 'us'> => ({
  title,
  color,
  meaning,
});
