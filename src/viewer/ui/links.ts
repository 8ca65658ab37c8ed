/**
 * Links from one view to another: to a statement, a table or index, a part of the time, the flame
 * graph of a statement or a transaction.
 */
import type { TransactionLine } from '../../analysis/transactions/table.ts';
import type { Scope } from '../../analysis/core/scope.ts';
import type { Part } from '../../analysis/core/time-parts.ts';
import type { FoundEvents, PlacesKey } from '../../protocol/answers/pages.ts';
import { formatCount } from '../../text/numbers.ts';
import { around, type Range } from './charts/viewport.ts';
import type { ViewerModel } from './model.ts';
import { NARROWING } from './panel-filter.svelte.ts';
import { fileKey, statementKey } from './row-keys.ts';
import { viewStateOf } from './view-state.ts';

/**
 * One statement in Statements. @param text its fingerprint; null = not known @param scope the
 * panel's filters; they stay if the statement passes them, and are reset if they hide it
 */
export function showStatement(model: ViewerModel, text: string | null, scope: Scope): void {
  void model.attempt(async () => {
    const rowIn = async (among: Scope) =>
      (await model.session.query('statements', among))?.rows.find((one) => one.text === text);
    const passing = await rowIn(scope);
    const row = passing ?? (await rowIn({}));
    const state = viewStateOf(model);
    state.set('statements.filter', null);
    if (!passing) for (const hiding of [...NARROWING, 'filter.range']) state.set(hiding, null);
    state.set('statements.chosen', row ? statementKey(row) : null);
    model.navigation.tab.set('statements');
  });
}

/**
 * One table or index in Files.
 * @param key of its database
 * @param root its root page; -1 = pages of no known table
 */
export function showTree(model: ViewerModel, key: PlacesKey, root: number): void {
  void model.attempt(async () => {
    const lines = await model.session.query('fileLines', {});
    const line = lines.find(({ places, kind }) => places === key && kind === 'main-db');
    const state = viewStateOf(model);
    state.set('files.chosen', line ? fileKey(line) : null);
    state.set('pages.list', 'trees');
    state.set('pages.root', String(root));
    model.navigation.tab.set('files');
  });
}

/** The calls behind a number, one by one on the timeline. */
export function showFound(model: ViewerModel, title: string, found: FoundEvents): Promise<void> {
  const { events, total, fromUs, toUs } = found;
  if (!total) return Promise.resolve(model.say('info', `${title}: no call`));
  const more =
    total > events.length
      ? `, the first ${formatCount(events.length)} of ${formatCount(total)} calls`
      : '';
  return model.navigation.showEvidence(
    `${title}${more}`,
    events,
    around({ from: fromUs, to: Math.max(toUs, fromUs + 1) }),
    total,
  );
}

/** Calls of one operation in Events. @param name as of `opName` */
export function showOperation(model: ViewerModel, name: string): void {
  const state = viewStateOf(model);
  for (const hiding of [...NARROWING, 'events.filter', 'events.layers', 'events.errors'])
    state.set(hiding, null);
  state.set('events.op', name);
  state.set('events.more', '1');
  model.navigation.tab.set('events');
}

/** Transactions of the entire recording that ended like this. */
export function showOutcome(model: ViewerModel, outcome: TransactionLine['outcome']): void {
  const state = viewStateOf(model);
  for (const hiding of [...NARROWING, 'filter.range', 'transactions.filter', 'transactions.kind'])
    state.set(hiding, null);
  state.set('transactions.outcome', outcome);
  model.navigation.tab.set('transactions');
}

/**
 * A part of the time of the entire recording.
 * @param list the view that lists what has it
 * @param part null = all of it
 */
export function showPart(model: ViewerModel, list: string, part: Part | null): void {
  const state = viewStateOf(model);
  for (const hiding of [...NARROWING, 'filter.range']) state.set(hiding, null);
  state.set('filter.part', part);
  model.navigation.tab.set(list);
}

/** What a thread ran in the entire recording. */
export function showThread(model: ViewerModel, list: string, thread: number): void {
  const state = viewStateOf(model);
  for (const hiding of [...NARROWING, 'filter.range']) state.set(hiding, null);
  state.set('filter.thread', String(thread));
  model.navigation.tab.set(list);
}

/** What a thread did in a time range, as a flame graph. */
export function showFlames(model: ViewerModel, thread: number, range: Range): void {
  const state = viewStateOf(model);
  for (const hiding of [...NARROWING, 'flame.zoom', 'flame.top']) state.set(hiding, null);
  state.set('filter.thread', String(thread));
  state.set('filter.range', '1');
  model.navigation.look(range);
  model.navigation.tab.set('flame');
}

/**
 * One of the statements that are shown, as a flame graph. @param text its fingerprint; null = not
 * known
 */
export function showStatementFlames(model: ViewerModel, text: string | null): void {
  const state = viewStateOf(model);
  state.set('flame.top', null);
  state.set('flame.zoom', JSON.stringify([text]));
  model.navigation.tab.set('flame');
}
