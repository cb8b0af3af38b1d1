// Creates the CodeMirror editor for SQL.

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { history, historyKeymap, standardKeymap, toggleComment } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { text } from '../words.ts';
import { createCompletionSource, type NameLoaders } from './complete.ts';
import { sqlLanguage } from './language.ts';
import { type Mark, markField, setMarks } from './marks.ts';
import { editorTheme } from './theme.ts';

export interface Editor {
  setText: (next: string) => void;
  mark: (marks: readonly Mark[]) => void;
  focus: () => void;
  /** Replaces the selection with the given text, and moves the focus to the editor. */
  insert: (text: string) => void;
  destroy: () => void;
}

interface EditorOptions {
  text: string;
  nameLoaders: () => NameLoaders;
  onText: (text: string) => void;
  onRun: () => void;
}

/**
 * Creates an SQL editor in a shadow root. There, CodeMirror sets its styles with scripts, which the content security
 * policy allows. Outside a shadow root, CodeMirror adds `style` elements, which the policy forbids.
 */
export function createEditor(place: HTMLElement, { text: start, nameLoaders, onText, onRun }: EditorOptions): Editor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: 'open' });
  const hint = document.createElement('p');
  Object.assign(hint, { id: 'hint', hidden: true, textContent: text.editorHint });
  root.replaceChildren(hint);
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: start,
      extensions: [
        [lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), EditorView.lineWrapping],
        [sqlLanguage, markField, editorTheme, placeholder(text.placeholder)],
        autocompletion({ override: [createCompletionSource(nameLoaders)], icons: false, activateOnTyping: true }),
        EditorView.contentAttributes.of({ 'aria-label': text.editor, 'aria-describedby': 'hint' }),
        EditorView.updateListener.of(({ docChanged, state }) => docChanged && onText(state.doc.toString())),
        keymap.of([
          {
            key: 'Mod-Enter',
            run: () => {
              onRun();
              return true;
            },
          },
          { key: 'Mod-/', run: toggleComment },
          // While the completion list is closed, Tab moves the focus to the next element.
          { key: 'Tab', run: acceptCompletion },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...standardKeymap,
        ]),
      ],
    }),
  });
  return {
    setText(next) {
      const { doc } = view.state;
      if (doc.toString() !== next) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    mark: (marks) => setMarks(view, marks),
    focus: () => view.focus(),
    insert(inserted) {
      view.dispatch(view.state.replaceSelection(inserted));
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
