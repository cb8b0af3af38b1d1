import { useId } from 'react';

/** Before an action that cannot be undone, the user types the name of the affected object, so that the wrong one is not deleted by mistake. */
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
