/**
 * The options page: what a recording captures. The panel's settings and the recorder use the same
 * storage keys.
 */
import { mount } from 'svelte';
import { writable } from 'svelte/store';
import { api } from '../platform/extension-api.ts';
import { captureOptionsOf, type CaptureOptions } from '../event/capture.ts';
import CaptureSettings from '../viewer/ui/views/settings/CaptureSettings.svelte';

const NAMES = ['capture', 'layers', 'buffer', 'stacks', 'messages', 'instructions'];
const form = document.querySelector('#form')!;
const outcome = document.querySelector('#outcome')!;
const values = writable<CaptureOptions>(captureOptionsOf({}));

/** Pending writes: what is displayed isn't in storage yet. */
let writing = 0;
/** Write a change. When it is done, the page shows what storage has. */
async function change(changed: Partial<CaptureOptions>): Promise<void> {
  writing++;
  values.update((shown) => ({ ...shown, ...changed }));
  try {
    await api.storage.local.set(changed);
    outcome.textContent = 'Saved.';
  } catch (e) {
    outcome.textContent = `The setting couldn't be saved: ${words(e)}`;
  }
  writing--;
  await show();
}

const words = (e: unknown): string => (e instanceof Error ? e.message : String(e));
let shown: object | undefined;
async function show(): Promise<void> {
  try {
    const kept = captureOptionsOf(await api.storage.local.get(NAMES));
    if (writing) return; // displayed when that is done
    values.set(kept);
    shown ??= mount(CaptureSettings, { target: form, props: { values, change } });
    document.documentElement.dataset['ready'] = 'true';
  } catch (e) {
    outcome.textContent = `vfscope couldn't read your settings: ${words(e)}`;
  }
}

api.storage.onChanged.addListener((changes, area) => {
  if (area === 'local' && NAMES.some((name) => name in changes)) void show();
});
void show();
