/**
 * Radio buttons with an explanation for each option.
 * @param onChoose a function that receives the chosen value; omitted if the form reads the value itself
 */
export function RadioCards<Value extends string>({
  name,
  legend,
  options,
  chosen,
  onChoose,
}: {
  name: string;
  legend: string;
  options: readonly { value: Value; name: string; about: string }[];
  chosen: Value;
  onChoose?: (value: Value) => void;
}) {
  return (
    <fieldset className="settings-fieldset">
      <legend className="field-label">{legend}</legend>
      <div className="settings-presets">
        {options.map((option) => (
          <label key={option.value} className="settings-preset">
            <input
              type="radio"
              name={name}
              value={option.value}
              {...(onChoose
                ? { checked: option.value === chosen, onChange: () => onChoose(option.value) }
                : { defaultChecked: option.value === chosen })}
            />
            <span>
              <strong>{option.name}</strong>
              <span className="hint">{option.about}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
