/**
 * Copy text to the clipboard. DevTools panels have no clipboard permission, but may copy the
 * selection. For that, focus is moved and then restored.
 * @throws if neither works
 */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const focused = document.activeElement;
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    if (!copied)
      throw new Error("The browser didn't let the panel copy. Click in the panel, and copy again.");
  }
}
