import { type FormEvent, type InputHTMLAttributes, useId } from 'react';
import { ApiProblem } from '../api/request.ts';
import { explain } from './states.tsx';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  name: string;
  label: string;
  hint?: string | undefined;
  /** What the server said of the whole form; shown here when it is about this field. */
  problem?: unknown;
}

/** A line of text with its label, and beside it what the server found wrong with it. */
export function Field({ problem, required = true, ...input }: FieldProps) {
  const own = problem instanceof ApiProblem && problem.attr === input.name ? explain(problem) : null;
  return <LabelledInput className="input" {...input} required={required} wrong={own} />;
}

/** @param wrong said in place of the hint */
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

/** What the server said that is about none of the fields. */
export function FormProblem({ problem, fields }: { problem: unknown; fields: readonly string[] }) {
  const isOfField = problem instanceof ApiProblem && problem.attr !== null && fields.includes(problem.attr);
  return (
    <p className="bad" role="alert">
      {problem && !isOfField ? explain(problem) : null}
    </p>
  );
}

/** The fields of a form that is sent; what was typed stays in it. */
export function filled(event: FormEvent<HTMLFormElement>): object {
  event.preventDefault();
  return Object.fromEntries(new FormData(event.currentTarget));
}
