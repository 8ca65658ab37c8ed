/**
 * What the user has chosen for good: read once when the viewer starts, written with every change. The host keeps it (the extension's
 * storage, a tab's localStorage); what comes back may be old or tampered with, and is checked value by value.
 */
import { get, writable, type Writable } from 'svelte/store';
import { captureOptionsOf, type CaptureOptions } from '../../event/capture.ts';
import { FLIGHT_DEFAULTS, type FlightChoice } from './flight-options.ts';

export type ThemeChoice = 'host' | 'light' | 'dark';

/** `capture`, `layers`, `buffer`, `stacks`, `messages`, and `instructions` are read by the recorder and the options page, too, under these names. */
interface Settings extends CaptureOptions {
  theme: ThemeChoice;
  /** Reload the page when a recording begins. */
  reload: boolean;
  flight: FlightChoice;
  /** Add tracks to Chrome's Performance panel while that records. */
  performanceTracks: boolean;
  /** Columns of the Events view, by key; null = those that it shows by itself. */
  eventColumns: string[] | null;
  /** Queries of the Query view that ran, the last one first. */
  sqlHistory: readonly string[];
}
/** Queries that are remembered, and the longest of them. */
const [MOST_QUERIES, LONGEST_QUERY] = [50, 20_000];

/** Where the host keeps settings: names and plain values. */
export interface SettingsKeeper {
  /** @returns what was written last, {} where nothing was */
  read(): Promise<Record<string, unknown>>;
  write(values: Record<string, unknown>): Promise<void>;
}

function oneOf<T>(known: readonly T[], value: unknown, otherwise: T): T {
  return known.includes(value as T) ? (value as T) : otherwise;
}

/** Kept values as settings: what makes no sense becomes the default. */
export function settingsOf(kept: Record<string, unknown>): Settings {
  return {
    ...captureOptionsOf(kept),
    theme: oneOf<ThemeChoice>(['host', 'light', 'dark'], kept.theme, 'host'),
    reload: kept.reload !== false,
    flight: flightOf(kept.flight),
    performanceTracks: kept.performanceTracks === true,
    eventColumns: keysOf(kept.eventColumns),
    sqlHistory: queriesOf(kept.sqlHistory),
  };
}

function queriesOf(kept: unknown): string[] {
  if (!Array.isArray(kept)) return [];
  return kept
    .filter((sql): sql is string => typeof sql === 'string' && sql.length <= LONGEST_QUERY)
    .slice(0, MOST_QUERIES);
}

/** A list of short texts, or null where it is none. */
function keysOf(kept: unknown): string[] | null {
  if (!Array.isArray(kept) || kept.length > 64) return null;
  const keys = kept.filter((key): key is string => typeof key === 'string' && key.length <= 64);
  return keys.length ? keys : null;
}

/** Every field of the kind that the default has. */
function flightOf(kept: unknown): FlightChoice {
  const choice: FlightChoice = { ...FLIGHT_DEFAULTS };
  if (typeof kept !== 'object' || kept === null) return choice;
  const { kind, ...rest } = kept as Record<string, unknown>;
  for (const [key, value] of Object.entries(rest))
    if (Object.hasOwn(choice, key) && typeof value === typeof choice[key as keyof FlightChoice])
      Object.assign(choice, { [key]: value });
  return {
    ...choice,
    kind: oneOf<FlightChoice['kind']>(['everything', 'seconds', 'megabytes'], kind, choice.kind),
  };
}

/** The settings as a store that writes itself to its keeper. */
export class SettingsModel {
  readonly values: Writable<Settings> = writable(settingsOf({}));

  constructor(
    private readonly keeper: SettingsKeeper | undefined,
    private readonly failed: (message: string) => void,
  ) {}

  /** Whether what is chosen outlasts the viewer. */
  get kept(): boolean {
    return this.keeper !== undefined;
  }

  /** Never fails: where nothing can be read, the defaults apply, and that is said. */
  async read(): Promise<void> {
    try {
      if (this.keeper) this.values.set(settingsOf(await this.keeper.read()));
    } catch (e) {
      this.failed(
        `vfscope couldn't read your settings, and uses the defaults: ${e instanceof Error ? e.message : String(e)}`,
      );
    }
  }

  async change(change: Partial<Settings>): Promise<void> {
    this.values.set(settingsOf({ ...get(this.values), ...change }));
    try {
      await this.keeper?.write(change);
    } catch (e) {
      this.failed(
        `The setting couldn't be saved and lasts until the panel closes: ${e instanceof Error ? e.message : String(e)}`,
      );
    }
  }
}
