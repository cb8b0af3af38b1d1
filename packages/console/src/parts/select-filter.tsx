/** A filter with a few fixed options. */
export function SelectFilter<Value extends string>({
  name,
  value,
  options,
  onChoose,
}: {
  name: string;
  value: Value;
  options: Record<Value, string>;
  onChoose: (value: Value) => void;
}) {
  return (
    <label className="chip choice">
      <span className="quiet">{name}:</span>
      <select value={value} onChange={(event) => onChoose(event.target.value as Value)}>
        {Object.entries<string>(options).map(([option, label]) => (
          <option key={option} value={option}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
