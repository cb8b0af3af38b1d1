// The fields in which users enter values for the variables of an SQL query.

import { type ReactNode, useId, useState } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { Button } from '../parts/button.tsx';
import { copyText } from './columns.ts';
import type { VariableProblem } from './node.ts';
import { chosenValue, type Variable, type VariableValues, withValue } from './variables.ts';
import { text } from './words.ts';
import './sql.css';

/**
 * Shows the fields for the variables that a query or a dashboard uses.
 * @param more additional controls next to the name of a variable
 */
export function VariableFields({
  variables,
  set,
  problem,
  onValues,
  more,
}: {
  variables: readonly Variable[];
  /** The values that are set, by the ID of the variable. */
  set: unknown;
  problem: VariableProblem | null;
  onValues: (set: VariableValues) => void;
  more?: (variable: Variable) => ReactNode;
}) {
  return variables.map((variable) => {
    const change = (next: unknown) => onValues(withValue(set, variable, next));
    const { value, isSet } = chosenValue(variable, set);
    return (
      <div className="sql-variable" key={variable.id}>
        <ValueField
          label={<span translate="no">{escapeInvisible(variable.name)}</span>}
          {...{ variable, value }}
          hint={isSet ? text.usual(escapeInvisible(copyText(variable.default_value) || text.null)) : undefined}
          wrong={problem?.name === variable.code_name ? problem.message : null}
          onValue={change}
          more={
            <>
              {isSet && (
                <Button look="plain" onPress={() => change(undefined)}>
                  {text.reset}
                  <span className="only-heard"> {escapeInvisible(variable.name)}</span>
                </Button>
              )}
              {more?.(variable)}
            </>
          }
        />
      </div>
    );
  });
}

/** A field for a value of the variable's type. If a field for a number or a date is empty, the value is null. */
export function ValueField({
  label,
  variable: { type, values },
  value,
  hint,
  wrong,
  onValue,
  more,
}: {
  label: ReactNode;
  variable: Pick<Variable, 'type' | 'values'>;
  value: unknown;
  hint?: string | undefined;
  /** Why the API rejects the value. Null if it does not. */
  wrong: string | null;
  onValue: (value: unknown) => void;
  more?: ReactNode;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const common = { id, className: 'input', 'aria-invalid': wrong !== null, 'aria-describedby': `${id}-more` };
  const options = type === 'Boolean' ? [true, false] : type === 'List' ? (values ?? []) : null;
  // `1.` means the number 1, but the field must keep the text as it was typed.
  const isTyped = typed !== null && JSON.stringify(valueOfText(type, typed)) === JSON.stringify(value);
  return (
    <div className="field">
      <div className="sql-variable-head">
        <label className="cut" htmlFor={id}>
          {label}
        </label>
        {more}
      </div>
      {options !== null ? (
        <select
          {...common}
          translate="no"
          value={JSON.stringify(value ?? null)}
          onChange={({ target }) => onValue(JSON.parse(target.value))}
        >
          {[...new Set([...options, null, value ?? null])].map((option) => (
            <option key={JSON.stringify(option)} value={JSON.stringify(option)}>
              {option === null ? text.null : escapeInvisible(copyText(option))}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          type={type === 'Date' && isDay(value) ? 'date' : 'text'}
          inputMode={type === 'Number' ? 'decimal' : undefined}
          autoComplete="off"
          placeholder={value === null ? text.null : ''}
          value={isTyped ? typed : copyText(value ?? null)}
          onChange={({ target }) => {
            setTyped(target.value);
            onValue(valueOfText(type, target.value));
          }}
        />
      )}
      <span id={`${id}-more`} className={wrong ? 'bad' : 'hint'} role={wrong ? 'alert' : undefined}>
        {wrong ?? hint}
      </span>
    </div>
  );
}

/** Returns whether a value is a date without a time, which the date field of the browser can show. */
const isDay = (value: unknown) => value === null || (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value));

/**
 * Returns the value for a text. A text that is not a number is kept, so that the API explains why it cannot be used.
 */
function valueOfText(type: Variable['type'], typed: string): unknown {
  if (type === 'String') return typed;
  if (typed.trim() === '') return null;
  return type === 'Number' && Number.isFinite(Number(typed)) ? Number(typed) : typed;
}
