// The fields for an SQL query's variable values.

import { type ReactNode, useId, useState } from 'react';
import { escapeInvisible } from '../event-detail/json-text.ts';
import { Button } from '../parts/button.tsx';
import { formatForCopy } from './columns.ts';
import type { VariableProblem } from './node.ts';
import { getVariableValue, setVariableValue, type Variable, type VariableValues } from './variables.ts';
import { text } from './words.ts';
import './sql.css';

/** Fields for variable values. @param more the additional controls next to a variable's name */
export function VariableFields({
  variables,
  set,
  problem,
  onValues,
  more,
}: {
  variables: readonly Variable[];
  /** The variable values that the query or dashboard sets, by variable ID. */
  set: unknown;
  problem: VariableProblem | null;
  onValues: (set: VariableValues) => void;
  more?: (variable: Variable) => ReactNode;
}) {
  return variables.map((variable) => {
    const change = (next: unknown) => onValues(setVariableValue(set, variable, next));
    const { value, isSet } = getVariableValue(variable, set);
    return (
      <div className="sql-variable" key={variable.id}>
        <ValueField
          label={<span translate="no">{escapeInvisible(variable.name)}</span>}
          {...{ variable, value }}
          hint={isSet ? text.usual(escapeInvisible(formatForCopy(variable.default_value) || text.null)) : undefined}
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

/**
 * A field for a variable's value, which depends on the variable's type. An empty number or date field has the value
 * null.
 */
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
  /** Reason why the API rejects the value. Null if the value is valid. */
  wrong: string | null;
  onValue: (value: unknown) => void;
  more?: ReactNode;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const common = { id, className: 'input', 'aria-invalid': wrong !== null, 'aria-describedby': `${id}-more` };
  const options = type === 'Boolean' ? [true, false] : type === 'List' ? (values ?? []) : null;
  // While the user types `1.`, the value is the number 1, but the field must keep the typed text.
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
              {option === null ? text.null : escapeInvisible(formatForCopy(option))}
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
          value={isTyped ? typed : formatForCopy(value ?? null)}
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

/** Returns whether a date field can show the value, which must be null or a date without a time. */
const isDay = (value: unknown) => value === null || (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value));

/**
 * Converts the text in a field to a value. Text that is not a valid number is returned unchanged, so that the API
 * explains the error.
 */
function valueOfText(type: Variable['type'], typed: string): unknown {
  if (type === 'String') return typed;
  if (typed.trim() === '') return null;
  return type === 'Number' && Number.isFinite(Number(typed)) ? Number(typed) : typed;
}
