// Underlines errors and warnings in the SQL editor.

import { StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';

/** A range of the query to underline, with a message. Positions are in UTF-16 code units. */
export interface Mark {
  from: number;
  to: number;
  /** `info` is a hint about a valid query. */
  severity: 'error' | 'warning' | 'info';
  message: string;
}

const replace = StateEffect.define<readonly Mark[]>();

/** Underlines the marks. When the query changes, the marks move with the text until they are replaced. */
export const markField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects }) {
    const next = effects.find((effect) => effect.is(replace));
    return next === undefined ? marks.map(changes) : Decoration.set(next.value.map(underline), true);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const underline = ({ from, to, severity, message }: Mark) =>
  Decoration.mark({ class: `cm-mark cm-mark-${severity}`, attributes: { title: message } }).range(from, to);

/** Replaces an editor's marks. Each mark covers at least one character. */
export function setMarks(view: EditorView, marks: readonly Mark[]): void {
  const { length } = view.state.doc;
  const within = marks.map(({ from, to, ...mark }) => {
    const begin = Math.min(from, Math.max(0, length - 1));
    return { ...mark, from: begin, to: Math.min(length, Math.max(to, begin + 1)) };
  });
  view.dispatch({ effects: replace.of(within.filter(({ from, to }) => from < to)) });
}
