/** Settings of the page map and its table, stored with the view. */
import { viewSetting, choiceSetting, type ViewSetting } from '../../view-setting.svelte.ts';
import { panelFilter } from '../../panel-filter.svelte.ts';
import { rounded } from '../../charts/viewport.ts';
import type { MapArea, Shown } from './page-map-canvas.ts';

/** How the file is used, its pages or blocks, or its tables and indexes. */
export type PageList = 'use' | 'pages' | 'trees';

export interface PageChoices {
  /** What the map counts. */
  readonly shown: ViewSetting<Shown>;
  /** Only the timeline's range. */
  readonly inView: ViewSetting<boolean>;
  /** The visible part of the map; null = all. */
  readonly area: ViewSetting<MapArea | null>;
  readonly chosen: ViewSetting<MapArea | null>;
  /** One b-tree only, by root page; -1 = pages of no known b-tree, 0 = all. */
  readonly root: ViewSetting<number>;
  /** What is below the map. */
  readonly list: ViewSetting<PageList>;
}

const AREA = /^([\d.]+),([\d.]+),(\d+),(\d+),(.*)$/su;
const ROOT = /^-?\d{1,10}$/;

/**
 * Call it in a component's script. @param placesKey the database or store; an area of another one
 * is ignored
 */
export function pageChoices(placesKey: () => string): PageChoices {
  const areaWords = {
    parse: (text: string): MapArea | undefined => {
      const [, ...said] = AREA.exec(text) ?? [];
      const [fromUs = NaN, toUs = NaN, fromPlace = NaN, toPlace = NaN] = said
        .slice(0, 4)
        .map(Number);
      return toUs > fromUs && toPlace > fromPlace && said[4] === placesKey()
        ? { fromUs, toUs, fromPlace, toPlace }
        : undefined;
    },
    format: (at: MapArea | null): string =>
      at
        ? [rounded(at.fromUs), rounded(at.toUs), at.fromPlace, at.toPlace, placesKey()].join(',')
        : '',
  };
  return {
    shown: choiceSetting<Shown>('pages.shown', ['all', 'reads', 'rereads', 'writes']),
    inView: panelFilter().range,
    area: viewSetting<MapArea | null>('pages.area', null, areaWords),
    chosen: viewSetting<MapArea | null>('pages.chosen', null, areaWords),
    root: viewSetting('pages.root', 0, {
      parse: (said) => (ROOT.test(said) ? Number(said) : undefined),
      format: String,
    }),
    list: choiceSetting<PageList>('pages.list', ['use', 'pages', 'trees']),
  };
}
