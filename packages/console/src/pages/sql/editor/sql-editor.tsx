import { type RefObject, useEffect, useImperativeHandle, useRef } from 'react';
import type { Known } from './complete.ts';
import { createEditor, type Editor, type Mark } from './create-editor.ts';

/** The editor as a component. @param focus receives the function that moves the focus to it */
export function SqlEditor({
  content,
  marks,
  known,
  focus,
  onText,
  onRun,
}: {
  /** A text that was not typed here. It replaces the editor's when the version changes. */
  content: { text: string; version: number };
  marks: readonly Mark[];
  known: Known;
  focus: RefObject<(() => void) | null>;
  onText: (text: string) => void;
  onRun: () => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(null);
  const latest = useRef({ content, known, onText, onRun });
  useEffect(() => {
    latest.current = { content, known, onText, onRun };
  });
  useEffect(() => {
    if (place.current === null) return;
    const created = createEditor(place.current, {
      text: latest.current.content.text,
      known: () => latest.current.known,
      onText: (next) => latest.current.onText(next),
      onRun: () => latest.current.onRun(),
    });
    editor.current = created;
    return () => created.destroy();
  }, []);
  const { version } = content;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text follows what is typed, which must not come back late
  useEffect(() => editor.current?.setText(latest.current.content.text), [version]);
  useEffect(() => editor.current?.mark(marks), [marks]);
  useImperativeHandle(focus, () => () => editor.current?.focus(), []);
  return <div className="sql-editor-place" ref={place} />;
}
