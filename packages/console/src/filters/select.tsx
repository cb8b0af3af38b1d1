import { escapeInvisible } from '../event-detail/json-text.ts';

/** A select field. If its value is not among the options, the value is added as an option. */
export function Select({
  label,
  value,
  options,
  onChoose,
}: {
  label: string;
  value: string;
  options: Record<string, string>;
  onChoose: (value: string) => void;
}) {
  return (
    <select className="input" aria-label={label} value={value} onChange={({ target }) => onChoose(target.value)}>
      {!Object.hasOwn(options, value) && <option value={value}>{escapeInvisible(value)}</option>}
      {Object.entries(options).map(([option, name]) => (
        <option key={option} value={option}>
          {name}
        </option>
      ))}
    </select>
  );
}
