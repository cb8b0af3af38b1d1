// Form fields. If an API error names a field, the error is shown next to the field.

import { type FormEvent, type InputHTMLAttributes, useId } from 'react';
import { ApiProblem } from '../api/request.ts';
import { explainError } from './states.tsx';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  name: string;
  label: string;
  hint?: string | undefined;
  /** The server's error for the form. The field shows the error if `attr` names the field. */
  problem?: unknown;
}

/** A single-line text field with a label. Shows the server's error about the field. */
export function Field({ problem, required = true, ...input }: FieldProps) {
  const own = problem instanceof ApiProblem && problem.attr === input.name ? explainError(problem) : null;
  return <LabelledInput className="input" {...input} required={required} wrong={own} />;
}

/** An input with a label and a hint. @param wrong the error to show instead of the hint */
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

/** Shows the server's error, unless one of the form's fields shows it. */
export function FormProblem({ problem, fields }: { problem: unknown; fields: readonly string[] }) {
  const isOfField = problem instanceof ApiProblem && problem.attr !== null && fields.includes(problem.attr);
  return (
    <p className="bad" role="alert">
      {problem && !isOfField ? explainError(problem) : null}
    </p>
  );
}

/** Returns the values of a submitted form, and prevents the browser from reloading the page. */
export function readForm(event: FormEvent<HTMLFormElement>): object {
  event.preventDefault();
  return Object.fromEntries(new FormData(event.currentTarget));
}
