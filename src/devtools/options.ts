/** The options page: what a recording captures, under the names that the panel's settings and the recorder read, too. */
import { api } from '../platform/extension-api.ts';
import { BUFFER_KIB, CAPTURED_LAYERS, captureOptionsOf, type CaptureOptions } from '../trace/capture.ts';
import { BUFFER_HELP, CAPTURED_LAYER_WORDS, CAPTURE_LEVEL_WORDS, STACKS_WORDS } from '../viewer/capture-words.ts';
import { formatBytes } from '../viewer/units.ts';

const NAMES = ['capture', 'layers', 'buffer', 'stacks'];
const form = document.querySelector<HTMLFormElement>('#form')!;
const outcome = document.querySelector('#outcome')!;

/** Write a change; what was chosen is shown as the storage has it afterwards. */
async function change(values: Partial<CaptureOptions>): Promise<void> {
  try {
    await api.storage.local.set(values);
    outcome.textContent = 'Kept.';
  } catch (e) {
    outcome.textContent = `The setting could not be kept: ${e instanceof Error ? e.message : String(e)}`;
  }
  await show();
}

function group(title: string, ...children: Node[]): HTMLElement {
  const fieldset = document.createElement('fieldset');
  const legend = document.createElement('legend');
  legend.textContent = title;
  fieldset.append(legend, ...children);
  return fieldset;
}

interface Control {
  type: 'radio' | 'checkbox';
  id: string;
  name?: string;
  checked: boolean;
  disabled?: boolean;
}
/** A radio button or checkbox in its label, with a help text. */
function choice(input: Control, title: string, help: string, chosen: () => void): HTMLElement {
  const label = document.createElement('label');
  const control = document.createElement('input');
  const { type, id, name = '', checked, disabled = false } = input;
  Object.assign(control, { type, id, name, checked, disabled });
  control.addEventListener('change', chosen);
  const text = document.createElement('span');
  text.append(named(control, title));
  if (help) text.append(described(control, help));
  label.append(control, text);
  return label;
}

/** The name of a control, without the help beside it. */
function named(control: HTMLElement, title: string): HTMLElement {
  const name = document.createElement('span');
  name.id = `${control.id}-name`;
  name.textContent = title;
  control.setAttribute('aria-labelledby', name.id);
  return name;
}
function described(control: HTMLElement, help: string): HTMLElement {
  const small = document.createElement('small');
  small.id = `${control.id}-help`;
  small.textContent = help;
  control.setAttribute('aria-describedby', small.id);
  return small;
}

function bufferChoice(kept: CaptureOptions): HTMLElement {
  const label = document.createElement('label');
  const select = document.createElement('select');
  select.id = 'buffer';
  for (const kib of BUFFER_KIB) select.append(new Option(formatBytes(kib * 1024), String(kib), false, kib === kept.buffer));
  select.addEventListener('change', () => void change({ buffer: Number(select.value) }));
  label.append(named(select, 'Buffer of a thread'), ' ', select, described(select, `${BUFFER_HELP}.`));
  return label;
}

function controls(kept: CaptureOptions): HTMLElement[] {
  const levels = CAPTURE_LEVEL_WORDS.map(([level, title, help]) =>
    choice(
      { type: 'radio', name: 'capture', id: `capture-${level}`, checked: kept.capture === level },
      title,
      help,
      () => void change({ capture: level }),
    ),
  );
  const layers = CAPTURED_LAYERS.map((layer) => {
    const others = CAPTURED_LAYERS.filter((one) => (one === layer) !== kept.layers.includes(one));
    const checked = kept.layers.includes(layer);
    // one layer at least
    const input: Control = { type: 'checkbox', id: `layer-${layer}`, checked, disabled: checked && kept.layers.length === 1 };
    return choice(input, CAPTURED_LAYER_WORDS[layer], '', () => void change({ layers: others }));
  });
  const stacks = choice(
    { type: 'checkbox', id: 'stacks', checked: kept.stacks },
    STACKS_WORDS,
    '',
    () => void change({ stacks: !kept.stacks }),
  );
  return [group('What is captured', ...levels), group('Layers', ...layers, stacks), group('Recording', bufferChoice(kept))];
}

/** Draw what is kept; the focus stays on the control that had it. */
async function show(): Promise<void> {
  const kept = captureOptionsOf(await api.storage.local.get(NAMES));
  const focused = document.activeElement?.id; // only now: it may have moved meanwhile
  form.replaceChildren(...controls(kept));
  if (focused) document.getElementById(focused)?.focus();
  document.documentElement.dataset['ready'] = 'true';
}

api.storage.onChanged.addListener((changes, area) => {
  if (area === 'local' && NAMES.some((name) => name in changes)) void show();
});
show().catch((e: unknown) => (outcome.textContent = `The settings could not be read: ${e instanceof Error ? e.message : String(e)}`));
