// Form fields that several parts of the query form share.

import type { ReactNode } from 'react';
import type { Fields, InsightQuery } from '../../results/insight-query.ts';

/** Props of each part of the form. */
export interface PartProps {
  insightQuery: InsightQuery;
  /** The error from the API, and the field of the query that it is about. */
  problem: { part: string; detail: string };
  change: (fields: Fields) => void;
}

/** A part of the form with a label. Errors from the API about its fields appear below it. */
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
