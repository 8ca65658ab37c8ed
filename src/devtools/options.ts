/** The options page: what a recording captures, under the names that the panel's settings and the recorder read, too. */
import { api } from '../platform/extension-api.ts';
import {
  BUFFER_KIB,
  CAPTURED_LAYERS,
  captureOptionsOf,
  type CaptureOptions,
} from '../event/capture.ts';
import {
  BUFFER_HELP,
  CAPTURED_LAYER_LABELS,
  CAPTURE_LEVEL_LABELS,
  STACKS_LABEL,
} from '../viewer/ui/capture-labels.ts';
import { formatBytes } from '../viewer/units.ts';

const NAMES = ['capture', 'layers', 'buffer', 'stacks'];
const form = document.querySelector<HTMLFormElement>('#form')!;
const outcome = document.querySelector('#outcome')!;

/** Writes under way: what is shown is ahead of the storage. */
let writing = 0;
/** Write a change; what was chosen is shown as the storage has it afterwards. */
async function change(values: Partial<CaptureOptions>): Promise<void> {
  writing++;
  try {
    await api.storage.local.set(values);
    outcome.textContent = 'Kept.';
  } catch (e) {
    outcome.textContent = `The setting could not be kept: ${words(e)}`;
  }
  writing--;
  await show();
}

function group(title: string, ...children: Node[]): HTMLElement {
  const fieldset = document.createElement('fieldset');
  const legend = document.createElement('legend');
  legend.textContent = title;
  fieldset.append(legend, ...children);
  return fieldset;
}

/** A radio button or checkbox in its label, with a help text. */
function choice(
  input: { type: 'radio' | 'checkbox'; id: string; name?: string },
  title: string,
  help: string,
): [HTMLInputElement, HTMLElement] {
  const label = document.createElement('label');
  const control = Object.assign(document.createElement('input'), input);
  const text = document.createElement('span');
  text.append(named(control, title));
  if (help) text.append(described(control, help));
  label.append(control, text);
  return [control, label];
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

/** The controls, made once: one that is replaced between the press and the release of a key does not hear of it. @returns shows what is kept */
function draw(): (kept: CaptureOptions) => void {
  const levels = CAPTURE_LEVEL_LABELS.map(([level, title, help]) => {
    const [control, label] = choice(
      { type: 'radio', name: 'capture', id: `capture-${level}` },
      title,
      help,
    );
    control.addEventListener('change', () => void change({ capture: level }));
    return { level, control, label };
  });
  const layers = CAPTURED_LAYERS.map((layer) => {
    const [control, label] = choice(
      { type: 'checkbox', id: `layer-${layer}` },
      CAPTURED_LAYER_LABELS[layer],
      '',
    );
    return { layer, control, label };
  });
  const chosen = (): CaptureOptions['layers'] =>
    layers.filter(({ control }) => control.checked).map(({ layer }) => layer);
  /** One layer at least. */
  const keepOne = (): void => {
    for (const { control } of layers) control.disabled = control.checked && chosen().length === 1;
  };
  for (const { control } of layers)
    control.addEventListener('change', () => {
      keepOne();
      void change({ layers: chosen() });
    });
  const [stacks, stacksLabel] = choice({ type: 'checkbox', id: 'stacks' }, STACKS_LABEL, '');
  stacks.addEventListener('change', () => void change({ stacks: stacks.checked }));
  const buffer = document.createElement('select');
  buffer.id = 'buffer';
  for (const kib of BUFFER_KIB) buffer.append(new Option(formatBytes(kib * 1024), String(kib)));
  buffer.addEventListener('change', () => void change({ buffer: Number(buffer.value) }));
  const bufferLabel = document.createElement('label');
  bufferLabel.append(
    named(buffer, 'Buffer of a thread'),
    ' ',
    buffer,
    described(buffer, `${BUFFER_HELP}.`),
  );
  form.replaceChildren(
    group('What is captured', ...levels.map(({ label }) => label)),
    group('Layers', ...layers.map(({ label }) => label), stacksLabel),
    group('Recording', bufferLabel),
  );
  return (kept) => {
    for (const { level, control } of levels) control.checked = kept.capture === level;
    for (const { layer, control } of layers) control.checked = kept.layers.includes(layer);
    keepOne();
    stacks.checked = kept.stacks;
    buffer.value = String(kept.buffer);
  };
}

const words = (e: unknown): string => (e instanceof Error ? e.message : String(e));
let put: ReturnType<typeof draw> | undefined;
async function show(): Promise<void> {
  try {
    const kept = captureOptionsOf(await api.storage.local.get(NAMES));
    if (writing) return; // shown when that is done
    (put ??= draw())(kept);
    document.documentElement.dataset['ready'] = 'true';
  } catch (e) {
    outcome.textContent = `The settings could not be read: ${words(e)}`;
  }
}

api.storage.onChanged.addListener((changes, area) => {
  if (area === 'local' && NAMES.some((name) => name in changes)) void show();
});
void show();
