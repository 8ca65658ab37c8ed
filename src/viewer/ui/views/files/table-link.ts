/** The way to one table or index in the view of files. */
import type { PlacesKey } from '../../../../protocol/answers/pages.ts';
import type { ViewerModel } from '../../model.ts';
import { viewStateOf } from '../../view-state.ts';
import { fileKey } from './tree.ts';

/** @param key of its database @param root its root page; -1 = pages of no known table */
export function showTree(model: ViewerModel, key: PlacesKey, root: number): void {
  void model.attempt(async () => {
    const lines = await model.session.query('fileLines', {});
    const line = lines.find(({ places, kind }) => places === key && kind === 'main-db');
    const state = viewStateOf(model);
    state.set('files.chosen', line ? fileKey(line) : null);
    state.set('pages.byTree', '1');
    state.set('pages.root', String(root));
    model.navigation.tab.set('files');
  });
}
