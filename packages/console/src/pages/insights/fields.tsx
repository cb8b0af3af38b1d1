import type { ReactNode } from 'react';
import type { Fields, Question } from '../../answers/question.ts';

/** What a part of the form shows and changes. */
export interface PartProps {
  question: Question;
  /** What the API found wrong, and which field of the question it is about. */
  problem: { part: string; detail: string };
  change: (fields: Fields) => void;
}

/** A part with its name; what the API says of one of its fields stands below it. */
export function Part({
  title,
  fields,
  problem,
  children,
}: {
  title: string;
  fields: readonly string[];
  problem: PartProps['problem'];
  children: ReactNode;
}) {
  return (
    <fieldset className="insight-part">
      <legend className="field-label">{title}</legend>
      {children}
      {fields.includes(problem.part) && (
        <p className="bad" role="alert">
          {problem.detail}
        </p>
      )}
    </fieldset>
  );
}

export const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
