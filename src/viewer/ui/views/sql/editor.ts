/**
 * The query editor: CodeMirror with SQLite's keywords, completion of the trace's tables, and the
 * theme's colors.
 */
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { sql, SQLite } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { SqlTableInfo } from '../../../../protocol/answers/sql.ts';

const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--journal)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--neutral-strong)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--text-subtle)' },
]);
const THEME = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--bg)', color: 'var(--text)', fontSize: '12px' },
  '&.cm-focused': { outline: '1px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '17px' },
  '.cm-content': { caretColor: 'var(--text)', unicodeBidi: 'isolate' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--bg-selected) !important',
  },
  '.cm-placeholder': { color: 'var(--text-subtle)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--bg-hover) !important' },
  '.cm-tooltip': {
    backgroundColor: 'var(--bg)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--bg-selected) !important',
    color: 'var(--text) !important',
  },
  '.cm-completionDetail, .cm-completionInfo': { color: 'var(--text-subtle)' },
});

export interface SqlEditor {
  readonly view: EditorView;
  /** The selected text, or all of it. */
  query(): string;
  setText(text: string): void;
  insert(text: string): void;
  /** Tables and columns for completion. */
  setTables(tables: readonly SqlTableInfo[]): void;
  destroy(): void;
}

const language = (tables: readonly SqlTableInfo[]): ReturnType<typeof sql> =>
  sql({
    dialect: SQLite,
    upperCaseKeywords: true,
    schema: Object.fromEntries(
      tables.map(({ name, help, columns }) => [
        name,
        {
          self: { label: name, type: 'type', detail: help },
          children: columns.map((c) => ({
            label: c.name,
            type: 'property',
            detail: c.type.toLowerCase(),
            info: c.help,
          })),
        },
      ]),
    ),
  });

/**
 * @param run called on Ctrl+Enter or Cmd+Enter @param changed called after each change of the text
 */
export function createEditor(
  parent: HTMLElement,
  text: string,
  run: () => void,
  changed: (text: string) => void,
): SqlEditor {
  const schema = new Compartment();
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(
          keymap.of([{ key: 'Mod-Enter', preventDefault: true, run: () => (run(), true) }]),
        ),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        schema.of(language([])),
        syntaxHighlighting(HIGHLIGHT),
        // Tab leaves the editor, as it leaves other fields
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        placeholder('SELECT … FROM events'),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          'aria-label': 'SQL query',
          'data-testid': 'sql-editor',
          'data-filter': '',
          spellcheck: 'false',
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(update.state.doc.toString());
        }),
        THEME,
      ],
    }),
  });
  return {
    view,
    query() {
      const { from, to, empty } = view.state.selection.main;
      return view.state.sliceDoc(empty ? 0 : from, empty ? undefined : to);
    },
    setText(next) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    insert(next) {
      view.dispatch(view.state.replaceSelection(next));
      view.focus();
    },
    setTables: (tables) => view.dispatch({ effects: schema.reconfigure(language(tables)) }),
    destroy: () => view.destroy(),
  };
}
