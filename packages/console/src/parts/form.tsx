// Form fields that show an error of the API next to the field that the error names.

import { type FormEvent, type InputHTMLAttributes, useId } from 'react';
import { ApiProblem } from '../api/request.ts';
import { explain } from './states.tsx';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  name: string;
  label: string;
  hint?: string | undefined;
  /** The server's error for the form. It is shown here if its `attr` names this field. */
  problem?: unknown;
}

/** A single-line text field with its label. The server's error for this field is shown next to it. */
export function Field({ problem, required = true, ...input }: FieldProps) {
  const own = problem instanceof ApiProblem && problem.attr === input.name ? explain(problem) : null;
  return <LabelledInput className="input" {...input} required={required} wrong={own} />;
}

/** An input with a label. @param wrong an error to show instead of the hint */
export function LabelledInput({
  label,
  hint,
  wrong,
  ...input
}: InputHTMLAttributes<HTMLInputElement> & { label: string; hint?: string | undefined; wrong: string | null }) {
  const id = useId();
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <input {...input} id={id} aria-invalid={wrong !== null} aria-describedby={`${id}-more`} />
      <span id={`${id}-more`} className={wrong ? 'bad' : 'hint'} role={wrong ? 'alert' : undefined}>
        {wrong ?? hint}
      </span>
    </div>
  );
}

/** Shows the server's error if it does not name a field of the form. */
export function FormProblem({ problem, fields }: { problem: unknown; fields: readonly string[] }) {
  const isOfField = problem instanceof ApiProblem && problem.attr !== null && fields.includes(problem.attr);
  return (
    <p className="bad" role="alert">
      {problem && !isOfField ? explain(problem) : null}
    </p>
  );
}

/** Returns the values of a submitted form. The fields keep their values. */
export function readForm(event: FormEvent<HTMLFormElement>): object {
  event.preventDefault();
  return Object.fromEntries(new FormData(event.currentTarget));
}
