/**
 * Show a view of the panel by its tab, as a user does; first the group's tab if the view is hidden
 * in a group.
 */
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
