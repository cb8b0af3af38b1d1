import { type ReactNode, useId, useState } from 'react';
import type { Fields, Question } from '../../answers/question.ts';
import { Choices, useSuggestions } from '../../frame/suggestions.tsx';

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

/** A name of an event or a property, with those that the project knows. */
export function Name({
  label,
  hint,
  value,
  of,
  groupType,
  onName,
}: {
  label: string;
  hint: string;
  value: string;
  of: 'events' | 'event' | 'person' | 'group';
  groupType?: number | undefined;
  onName: (name: string) => void;
}) {
  const list = useId();
  const [isUsed, setUsed] = useState(false);
  const names = useSuggestions(
    of === 'events' ? 'event_definitions' : 'property_definitions',
    {
      ...{ search: value.trim().slice(0, 100), limit: 50, type: of === 'events' ? undefined : of },
      group_type_index: groupType,
    },
    { isNeeded: isUsed, items: ({ results }: { results: { name: string }[] }) => results.map(({ name }) => name) },
  );
  return (
    <>
      <input
        className="input grow"
        aria-label={label}
        placeholder={hint}
        list={list}
        maxLength={400}
        value={value}
        onFocus={() => setUsed(true)}
        onChange={({ target }) => onName(target.value)}
      />
      <Choices id={list} names={names} />
    </>
  );
}

export const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
