/**
 * The views in tab order, and their groups. A view is a component without props that fills the
 * available room.
 */
import type { Component } from 'svelte';
import type { FilterName } from '../panel-filter.svelte.ts';
import AnswerView from './answer/AnswerView.svelte';
import CacheView from './cache/CacheView.svelte';
import CompareView from './compare/CompareView.svelte';
import DoctorView from './doctor/DoctorView.svelte';
import ErrorsView from './errors/ErrorsView.svelte';
import EventsView from './events/EventsView.svelte';
import FilesView from './files/FilesView.svelte';
import FlameView from './flame/FlameView.svelte';
import LocksView from './locks/LocksView.svelte';
import SettingsView from './settings/SettingsView.svelte';
import SqlView from './sql/SqlView.svelte';
import StatementsView from './statements/StatementsView.svelte';
import TimelineView from './timeline/TimelineView.svelte';
import TransactionsView from './transactions/TransactionsView.svelte';
import WalView from './wal/WalView.svelte';

/** What a view may export to handle its own keys. */
export interface ViewActions {
  /**
   * A key without Ctrl, before the keys that all views share. @returns whether the view handled it
   */
  key?(event: KeyboardEvent): boolean;
}
export interface View {
  id: string;
  title: string;
  /** One sentence for the tooltip and the command palette. */
  help: string;
  component: Component<Record<string, never>, ViewActions>;
  /** The panel's filters that it supports. */
  follows?: readonly FilterName[];
  /** Replaces the title. */
  icon?: 'settings';
  /** Views of a group are one tab until one of them is shown. */
  group?: string;
  /**
   * Shows the details of the selected event: of any event, because it draws or lists events, or
   * only of one selected in it.
   */
  details?: 'any' | 'own';
  /** Also shows something without a trace. */
  needsNoTrace?: boolean;
}

export const VIEWS: readonly View[] = [
  {
    id: 'answer',
    title: 'Answer',
    help: 'What SQLite did, what to do, and what cost most',
    component: AnswerView,
    follows: ['range', 'part', 'thread', 'statement', 'table'],
  },
  {
    id: 'timeline',
    title: 'Timeline',
    help: 'What every thread did, and when',
    component: TimelineView,
    details: 'any',
    follows: ['range', 'thread', 'statement', 'table'],
  },
  {
    id: 'statements',
    title: 'Statements',
    group: 'SQL',
    help: 'Statements by fingerprint, and where their time went',
    component: StatementsView,
    details: 'own',
    follows: ['range', 'part', 'thread', 'statement', 'table'],
  },
  {
    id: 'flame',
    title: 'Flame graph',
    group: 'SQL',
    help: 'Time of statements by the calls that they made, and the other way around',
    component: FlameView,
    follows: ['range', 'part', 'thread', 'statement', 'table'],
  },
  {
    id: 'transactions',
    title: 'Transactions',
    group: 'SQL',
    help: 'Every transaction, and what its commit cost',
    component: TransactionsView,
    details: 'any',
    follows: ['range', 'thread', 'statement', 'table'],
  },
  {
    id: 'files',
    title: 'Files',
    group: 'Storage',
    help: 'What was read, written, synced, and locked, by file and store',
    component: FilesView,
    details: 'own',
    follows: ['range', 'thread'],
  },
  {
    id: 'cache',
    title: 'Cache',
    group: 'Storage',
    help: 'How well the caches do, and what another size would do',
    component: CacheView,
  },
  {
    id: 'wal',
    title: 'WAL',
    group: 'Storage',
    help: 'Write-ahead logs over time, and their checkpoints',
    component: WalView,
    follows: ['range', 'thread'],
  },
  {
    id: 'locks',
    title: 'Locks',
    group: 'Storage',
    help: 'Who held what, and who waited for whom, across threads and tabs',
    component: LocksView,
    details: 'any',
    follows: ['range', 'thread'],
  },
  {
    id: 'doctor',
    title: 'Doctor',
    group: 'Storage',
    help: 'What the page stores and which locks are held now, without a recording',
    component: DoctorView,
    needsNoTrace: true,
  },
  {
    id: 'events',
    title: 'Events',
    group: 'Raw',
    help: 'Every recorded call in time order',
    component: EventsView,
    details: 'any',
    follows: ['range', 'thread', 'statement', 'table'],
  },
  {
    id: 'errors',
    title: 'Errors',
    group: 'Raw',
    help: 'What failed, and the statement behind it',
    component: ErrorsView,
    details: 'any',
    follows: ['range', 'thread', 'statement', 'table'],
  },
  {
    id: 'sql',
    title: 'Query',
    group: 'Raw',
    help: "SQL queries over the recording's tables",
    component: SqlView,
    details: 'own',
  },
  {
    id: 'compare',
    title: 'Compare',
    help: 'Two recordings side by side, on one scale',
    component: CompareView,
  },
  {
    id: 'settings',
    title: 'Settings',
    icon: 'settings',
    help: 'What vfscope captures and stores, and the theme',
    component: SettingsView,
    needsNoTrace: true,
  },
];
