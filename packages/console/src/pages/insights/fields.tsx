// Form fields that several sections of the query form use.

import type { ReactNode } from 'react';
import type { Fields, InsightQuery } from '../../results/insight-query.ts';

export interface PartProps {
  insightQuery: InsightQuery;
  problem: { part: string; detail: string };
  change: (fields: Fields) => void;
}

/** A labelled section of the query form. API errors about its fields are shown below it. */
export function FormPart({
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

export const toText = (value: unknown) => (typeof value === 'string' ? value : '');
