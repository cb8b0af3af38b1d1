import { type RefObject, useEffect, useImperativeHandle, useRef } from 'react';
import type { NameLoaders } from './complete.ts';
import { createEditor, type Editor } from './create-editor.ts';
import type { Mark } from './marks.ts';

export type EditorHandle = Pick<Editor, 'focus' | 'insert'>;

/** The SQL editor as a React component. @param handle a ref that receives functions for controlling the editor */
export function SqlEditor({
  content,
  marks,
  nameLoaders,
  handle,
  onText,
  onRun,
}: {
  /** The query that the page sets. When the version changes, the text replaces the editor's content. */
  content: { text: string; version: number };
  marks: readonly Mark[];
  nameLoaders: NameLoaders;
  handle: RefObject<EditorHandle | null>;
  onText: (text: string) => void;
  onRun: () => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(null);
  const latest = useRef({ content, nameLoaders, onText, onRun });
  useEffect(() => {
    latest.current = { content, nameLoaders, onText, onRun };
  });
  useEffect(() => {
    if (place.current === null) return;
    const created = createEditor(place.current, {
      text: latest.current.content.text,
      nameLoaders: () => latest.current.nameLoaders,
      onText: (next) => latest.current.onText(next),
      onRun: () => latest.current.onRun(),
    });
    editor.current = created;
    return () => created.destroy();
  }, []);
  const { version } = content;
  // biome-ignore lint/correctness/useExhaustiveDependencies: older content must not overwrite newer input
  useEffect(() => editor.current?.setText(latest.current.content.text), [version]);
  useEffect(() => editor.current?.mark(marks), [marks]);
  useImperativeHandle(
    handle,
    () => ({ focus: () => editor.current?.focus(), insert: (text) => editor.current?.insert(text) }),
    [],
  );
  return <div className="sql-editor-place" ref={place} />;
}
