import { useId } from 'react';

/**
 * A field in which the user types an object's name before an action that cannot be undone, so that the wrong object is
 * not deleted.
 */
export function ConfirmByTyping({
  label,
  expected,
  value,
  onChange,
}: {
  label: string;
  expected: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <code className="typed-again">{expected}</code>
      <input
        id={id}
        className="input mono"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

export const matchesConfirmation = (value: string, expected: string) => value.trim() === expected.trim();
