import { ValuesInput } from '../filters/property-filter.tsx';
import { Field } from '../parts/form.tsx';
import { text } from './words.ts';

export interface Details {
  name: string;
  description: string;
  tags: string[];
}

/** Form fields for the name, description and tags of an insight or a dashboard. */
export function DetailsFields({
  details,
  suggestion,
  longestDescription,
  problem,
  onDetails,
}: {
  details: Details;
  /** A suggested name. It is initially selected in the field, so that typing replaces it. */
  suggestion?: string;
  longestDescription: number;
  problem: unknown;
  onDetails: (details: Details) => void;
}) {
  const { name, description, tags } = details;
  return (
    <>
      <Field
        name="name"
        label={text.name}
        maxLength={400}
        value={name}
        problem={problem}
        autoFocus
        onFocus={({ target }) => target.value === suggestion && target.select()}
        onChange={({ target }) => onDetails({ ...details, name: target.value })}
      />
      <Field
        name="description"
        label={text.description}
        maxLength={longestDescription}
        required={false}
        value={description}
        problem={problem}
        onChange={({ target }) => onDetails({ ...details, description: target.value })}
      />
      <div className="field">
        <span className="field-label" aria-hidden="true">
          {text.tags}
        </span>
        <ValuesInput
          label={text.tags}
          values={tags}
          onChange={(next) => onDetails({ ...details, tags: next.map(String) })}
        />
      </div>
    </>
  );
}
