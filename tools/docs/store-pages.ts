/**
 * The pages that become tiles and frames of the walk-through: a real screenshot with the product's
 * name or one sentence.
 */

const FONT = "font-family: system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/** One frame of the walk-through: 960 x 600 of the screenshot, 56 px of text under it. */
export const captioned = (picture: string, text: string): string => `
<style>
  body { margin: 0; width: 960px; ${FONT}; background: #0f2a43; color: #fff }
  img { display: block; width: 960px; height: 600px }
  p { margin: 0; height: 56px; line-height: 56px; padding: 0 24px; font-size: 20px }
</style><img src="${picture}"><p>${text}</p>`;

export interface Tile {
  /** data: URLs */
  icon: string;
  panel: string;
  /** px */
  width: number;
  height: number;
}

/** Icon, name, and sentence; behind them the panel, cut off at the edge. */
export function tile({ icon, panel, width, height }: Tile): string {
  const big = width > 1000;
  const size = big ? 1 : 0.5;
  const px = (n: number): string => `${n * size}px`;
  return `
<style>
  body { margin: 0; width: ${width}px; height: ${height}px; overflow: hidden; position: relative; background: #0f2a43; color: #fff; ${FONT} }
  .words { position: absolute; left: ${px(56)}; top: ${px(big ? 130 : 44)}; width: ${big ? '430px' : '300px'} }
  .name { display: flex; align-items: center; gap: ${px(24)}; font-size: ${px(72)}; font-weight: 600 }
  .name img { width: ${px(104)}; height: ${px(104)} }
  p { margin: ${px(28)} 0 0; font-size: ${big ? '30px' : '17px'}; line-height: 1.35; color: #cfe4f8 }
  .panel { position: absolute; border-radius: 8px; box-shadow: 0 6px 40px #0008;
    ${big ? 'left: 520px; top: 64px; width: 1000px' : 'left: 28px; top: 176px; width: 560px'} }
</style>
<div class="words"><div class="name"><img src="${icon}">vfscope</div><p>What SQLite in your web page does to storage</p></div>
<img class="panel" src="${panel}">`;
}
