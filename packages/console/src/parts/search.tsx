import { useEffect, useRef, useState } from 'react';
import { Icon } from './icon.tsx';

/**
 * A search field that reports its text when the user stops typing.
 * @param shortcut the key that moves the focus to the field
 * @param list the ID of the suggestion list
 * @param onEnter a function that is called with the text when the user presses Enter, and returns the field's new text
 */
export function Search({
  id,
  value,
  label,
  shortcut,
  list,
  onSearch,
  onEnter,
}: {
  id?: string;
  value: string;
  label: string;
  shortcut?: string;
  list?: string;
  onSearch: (value: string) => void;
  onEnter?: (value: string) => string;
}) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The URL may change while the user types, so always call the function from the latest render.
  const latest = useRef(onSearch);
  useEffect(() => {
    latest.current = onSearch;
  });
  useEffect(() => setTyped(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string) => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current(next), 200);
  };
  return (
    <label className="search">
      <Icon name="search" size={13} />
      <input
        type="search"
        id={id}
        aria-label={label}
        placeholder={label}
        maxLength={1000}
        value={typed}
        list={list}
        onChange={(event) => type(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || onEnter === undefined) return;
          clearTimeout(timer.current);
          setTyped(onEnter(typed));
        }}
      />
      {shortcut && (
        <span className="key" aria-hidden="true">
          {shortcut}
        </span>
      )}
    </label>
  );
}
