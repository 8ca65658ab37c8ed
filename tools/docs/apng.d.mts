/** PNG pictures of one size and kind as an animated PNG that repeats without end; `ms` = how long a picture stays. */
export function apng(frames: { png: Uint8Array; ms: number }[]): Buffer;
