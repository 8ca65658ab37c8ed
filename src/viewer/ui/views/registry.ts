/** The views, in the order of their tabs. A view is a component without props that fills the room it is given. */
import type { Component } from 'svelte';
import CacheView from './cache/CacheView.svelte';
import CompareView from './compare/CompareView.svelte';
import ErrorsView from './errors/ErrorsView.svelte';
import EventsView from './events/EventsView.svelte';
import FilesView from './files/FilesView.svelte';
import LocksView from './locks/LocksView.svelte';
import OverviewView from './overview/OverviewView.svelte';
import SettingsView from './settings/SettingsView.svelte';
import SqlView from './sql/SqlView.svelte';
import StatementsView from './statements/StatementsView.svelte';
import TimelineView from './timeline/TimelineView.svelte';
import TransactionsView from './transactions/TransactionsView.svelte';
import WalView from './wal/WalView.svelte';

/** What a view may export for the keys that belong to it. */
export interface ViewActions {
  /** A key without Ctrl, before the keys that all views share. @returns whether the view took it */
  key?(event: KeyboardEvent): boolean;
}
export interface View {
  id: string;
  title: string;
  /** One sentence for the tooltip and the command palette. */
  help: string;
  component: Component<Record<string, never>, ViewActions>;
  /** Shows something without a trace, too. */
  needsNoTrace?: boolean;
}

export const VIEWS: readonly View[] = [
  {
    id: 'overview',
    title: 'Overview',
    help: 'What was recorded, where the time went, what to change',
    component: OverviewView,
  },
  {
    id: 'timeline',
    title: 'Timeline',
    help: 'What every thread did, and when',
    component: TimelineView,
  },
  {
    id: 'transactions',
    title: 'Transactions',
    help: 'Every transaction, and what its commit cost',
    component: TransactionsView,
  },
  {
    id: 'statements',
    title: 'Statements',
    help: 'Statements by fingerprint, and where their time went',
    component: StatementsView,
  },
  {
    id: 'files',
    title: 'Files',
    help: 'What was read, written, synced and locked, by file and store',
    component: FilesView,
  },
  {
    id: 'locks',
    title: 'Locks',
    help: 'Who held what, and who waited for whom, across threads and tabs',
    component: LocksView,
  },
  {
    id: 'cache',
    title: 'Cache',
    help: 'How well the caches do, and what another size would do',
    component: CacheView,
  },
  {
    id: 'wal',
    title: 'WAL',
    help: 'Write-ahead logs over time, and their checkpoints',
    component: WalView,
  },
  {
    id: 'events',
    title: 'Events',
    help: 'Every recorded call in time order',
    component: EventsView,
  },
  {
    id: 'errors',
    title: 'Errors',
    help: 'What failed, and the statement behind it',
    component: ErrorsView,
  },
  { id: 'sql', title: 'SQL', help: "Queries over the trace's own tables", component: SqlView },
  {
    id: 'compare',
    title: 'Compare',
    help: 'Two traces side by side, on one scale',
    component: CompareView,
  },
  {
    id: 'settings',
    title: 'Settings',
    help: 'What is captured and kept, the theme',
    component: SettingsView,
    needsNoTrace: true,
  },
];
