/** One part of a bar of shares. */
export interface Segment {
  title: string;
  /** Microseconds. */
  us: number;
  /** CSS custom property of Theme.svelte. */
  color: string;
  meaning?: string;
}
