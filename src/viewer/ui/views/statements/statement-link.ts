/** The way to one statement in the view of statements. */
import type { ViewerModel } from '../../model.ts';
import { viewStateOf } from '../../view-state.ts';
import { statementKey } from './statement-columns.ts';

/** @param text its fingerprint; null = not known */
export function showStatement(model: ViewerModel, text: string | null): void {
  void model.attempt(async () => {
    const table = await model.session.query('statements', {});
    const row = table?.rows.find((one) => one.text === text);
    const state = viewStateOf(model);
    state.set('statements.filter', null);
    state.set('statements.part', null);
    state.set('statements.chosen', row ? statementKey(row) : null);
    model.navigation.tab.set('statements');
  });
}
