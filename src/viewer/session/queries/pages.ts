/**
 * Queries about the pages of one database, or the blocks of one store: the page x time map, the
 * table by page, and the events of a part of the map.
 */
import { plainPath } from '../../../event/file-names.ts';
import { bTrees, bTreeTotals, ownersOf } from '../../../analysis/pages/b-trees.ts';
import {
  timesByTree,
  treeOf,
  treeUse,
  treeUseIn,
  type TreeUse,
} from '../../../analysis/pages/tree-use.ts';
import { recordedTexts } from '../../../analysis/core/recorded-texts.ts';
import type { Accesses, AccessedObject } from '../../../analysis/pages/accesses.ts';
import { pageMatrix, type PageMatrix } from '../../../analysis/pages/page-matrix.ts';
import {
  pages,
  placesOf,
  type ObjectPages,
  type PlaceColumns,
} from '../../../analysis/pages/pages.ts';
import { rereadsOf } from '../../../analysis/pages/rereads.ts';
import { extent, type TimeRange } from '../../../analysis/core/time-range.ts';
import { accesses as pageAccesses } from '../../../analysis/pages/page-accesses.ts';
import { blockAccesses } from '../../../analysis/pages/storage-blocks.ts';
import { needing, type QueryContext } from './context.ts';
import type {
  PlacesKey,
  PlacesRange,
  PageMapRequest,
  FoundEvents,
  TreesTable,
  PlacesTable,
  StatementTree,
  TreeUseAnswer,
} from '../../../protocol/answers/pages.ts';
type Layer = 'pages' | 'blocks';

/** Of a database (as the VFS named `vfs` has it), or of a store or OPFS file. */
export const placesKey = (
  object: Pick<AccessedObject, 'path' | 'kind' | 'vfs'>,
  layer: Layer,
): PlacesKey => JSON.stringify([layer, object.kind, object.vfs, plainPath(object.path)]);

const accessesOf = ({ facts }: QueryContext, layer: Layer): Accesses =>
  facts.get(layer === 'pages' ? pageAccesses : blockAccesses);

function find(
  context: QueryContext,
  key: PlacesKey,
): { accesses: Accesses; object: number } | null {
  const layer: Layer = key.startsWith('["pages"') ? 'pages' : 'blocks';
  const accesses = accessesOf(context, layer);
  const object = accesses.objects.findIndex((o) => placesKey(o, layer) === key);
  return object < 0 ? null : { accesses, object };
}
function rangeOf(
  { facts }: QueryContext,
  { fromUs, toUs }: PlacesRange,
): { fromUs: number; toUs: number } {
  const [first, last] = facts.get(extent);
  return { fromUs: fromUs ?? first, toUs: toUs ?? last + 0.001 }; // a range excludes its end
}

/** From the first access to just after the last, because a trace often starts long before. */
function usedIn({ object, us, count }: Accesses, wanted: number): { fromUs: number; toUs: number } {
  let [first, last] = [0, count - 1];
  while (first < count && object[first] !== wanted) first++;
  while (last > first && object[last] !== wanted) last--;
  return first < count ? { fromUs: us[first]!, toUs: us[last]! + 1 } : { fromUs: 0, toUs: 1 };
}
const MOST_CELLS = 1 << 21;
const MOST_EVENTS = 1000;

function treesOf({ facts }: QueryContext, { kind, index, places }: ObjectPages): TreesTable | null {
  const trees = kind === 'main-db' ? facts.get(bTrees)[index] : undefined;
  if (!trees) return null;
  const owners = ownersOf(trees, places);
  return {
    list: trees.list,
    owners,
    totals: bTreeTotals(places, owners, trees.list.length),
    causes: trees.causes,
  };
}

const usesIn = ({ facts, memo }: QueryContext, range: TimeRange): TreeUse[] =>
  memo(`tree use ${range.fromUs} ${range.toUs}`, () => treeUseIn(facts, range));

const copied = (places: PlaceColumns): PlaceColumns =>
  Object.fromEntries(
    Object.entries(places).map(([name, v]) => [name, typeof v === 'number' ? v : v.slice()]),
  ) as unknown as PlaceColumns;

const ofPages = [pageAccesses, blockAccesses, bTrees, pages];

export const pageQueries = {
  /**
   * null if the trace has no such database or store. @throws RangeError for a picture with no cells
   * or too many
   */
  pageMap: needing(ofPages, (context: QueryContext, request: PageMapRequest): PageMatrix | null => {
    const found = find(context, request.key);
    if (!found) return null;
    const { timeBins, placeBins } = request;
    if (!(timeBins >= 1 && placeBins >= 1 && timeBins * placeBins <= MOST_CELLS))
      throw new RangeError(`a map of ${timeBins} x ${placeBins} cells`);
    const { accesses, object } = found;
    const { kind, highest } = accesses.objects[object]!;
    const fromPlace = Math.max(kind === 'main-db' ? 1 : 0, request.fromPlace ?? 0);
    const toPlace = Math.max(fromPlace + 1, Math.min(highest + 1, request.toPlace ?? Infinity));
    const again = context.memo(`rereads ${request.key}`, () => rereadsOf(accesses, object));
    const bins = { timeBins, placeBins: Math.min(placeBins, toPlace - fromPlace) };
    const used = context.memo(`used ${request.key}`, () => usedIn(accesses, object));
    const range = { fromUs: request.fromUs ?? used.fromUs, toUs: request.toUs ?? used.toUs };
    return pageMatrix(accesses, { object, ...range, fromPlace, toPlace, ...bins }, again);
  }),

  /** null if the trace has no such database or store, or no access to it in the range. */
  pageTable: needing(
    ofPages,
    (
      context: QueryContext,
      { key, ...range }: PlacesRange & { key: PlacesKey },
    ): PlacesTable | null => {
      const found = find(context, key);
      if (!found) return null;
      const { accesses, object } = found;
      const { facts } = context;
      const whole =
        range.fromUs === null && range.toUs === null && accesses === facts.get(pageAccesses);
      const all = whole
        ? facts.get(pages)
        : context.memo(`places ${key.slice(0, 9)} ${range.fromUs} ${range.toUs}`, () =>
            placesOf(accesses, rangeOf(context, range)),
          );
      const table = all.find((o) => o.index === object);
      if (!table) return null;
      const decoded = table.places.type.some((t) => t > 0);
      return { ...table, decoded, trees: treesOf(context, table), places: copied(table.places) };
    },
  ),

  /** null if the trace has no such database, or it is a store. */
  treeUse: needing(
    [treeUse, recordedTexts],
    (
      context: QueryContext,
      { key, fromUs, toUs }: PlacesRange & { key: PlacesKey },
    ): TreeUseAnswer | null => {
      const found = find(context, key);
      const { facts } = context;
      if (found?.accesses !== facts.get(pageAccesses)) return null;
      const { object } = found;
      const { list } = facts.get(bTrees)[object]!;
      const uses = usesIn(
        context,
        fromUs === null && toUs === null ? {} : rangeOf(context, { fromUs, toUs }),
      );
      return {
        roots: [...list.map(({ root }) => root), -1],
        times: timesByTree(uses, object, list.length),
        uses: uses
          .filter(({ database }) => database === object)
          .map((use) => ({
            ...use,
            sql: use.statement === null ? null : facts.get(recordedTexts).get(use.statement)!,
          })),
      };
    },
  ),

  /**
   * Tables and indexes that a statement read and wrote, the most time first.
   * @param text the fingerprint; null = text not known
   */
  statementTrees: needing(
    [treeUse],
    (
      context: QueryContext,
      { text, ...range }: { text: string | null } & TimeRange,
    ): StatementTree[] => {
      const { facts } = context;
      const { objects } = facts.get(pageAccesses);
      return usesIn(context, range)
        .filter(({ statement }) => statement === text)
        .map((use) => {
          const object = objects[use.database]!;
          const key = placesKey(object, 'pages');
          return { path: object.path, key, tree: treeOf(facts.get(bTrees), use), use };
        });
    },
  ),

  /** The calls that touched the pages [fromPlace, toPlace) in the range, in time order. */
  placeEvents: needing(
    ofPages,
    (
      context: QueryContext,
      {
        key,
        fromPlace,
        toPlace,
        ...range
      }: PlacesRange & { key: PlacesKey; fromPlace: number; toPlace: number },
    ): FoundEvents => {
      const { fromUs, toUs } = rangeOf(context, range);
      const found = find(context, key);
      const answer: FoundEvents = { events: [], total: 0, fromUs, toUs };
      if (!found) return answer;
      const { accesses, object } = found;
      for (let i = accesses.lowerBound(fromUs), to = accesses.lowerBound(toUs); i < to; i++) {
        const place = accesses.place[i]!;
        if (
          accesses.object[i] !== object ||
          place >= toPlace ||
          place + accesses.span[i]! <= fromPlace
        )
          continue;
        const thread = accesses.thread[i]!;
        if (answer.total === 0) answer.fromUs = accesses.us[i]!;
        answer.toUs = accesses.us[i]!;
        if (answer.total++ < MOST_EVENTS)
          answer.events.push(context.store.threads[thread]!.ref(accesses.row[i]!));
      }
      return answer;
    },
  ),
};
