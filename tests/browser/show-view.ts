/** Show a view of the panel as a user does, by its tab; a group's tab first, where that hides it. */
import type { DrivenPanel } from '../../src/drive/panel-control.ts';

/** The views of each group, in the order of their tabs. */
const GROUPS: Record<string, readonly string[]> = {
  SQL: ['statements', 'flame', 'transactions'],
  Storage: ['files', 'cache', 'wal', 'locks', 'doctor'],
  Raw: ['events', 'errors', 'sql'],
};

export async function showView(
  panel: Pick<DrivenPanel, 'press' | 'textOf'>,
  view: string,
): Promise<void> {
  const group = Object.keys(GROUPS).find((name) => GROUPS[name]!.includes(view));
  if (group && (await panel.textOf(`group-${group}`))) await panel.press(`group-${group}`);
  await panel.press(`tab-${view}`);
}
