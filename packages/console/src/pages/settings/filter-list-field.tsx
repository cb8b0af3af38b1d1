import type { ReactNode } from 'react';
import { FilterList } from '../../filters/filter-list.tsx';
import { text } from '../../filters/words.ts';

/** A list of event filters, as one field of a larger form. */
export function FilterListField({
  legend,
  about,
  filters,
  isEditing,
  onFilters,
  onEditing,
}: {
  legend: string;
  /** Explains what the filters do or, after an error, shows the server's error message. */
  about: ReactNode;
  filters: unknown;
  /**
   * Whether a filter form is open. The surrounding form then cannot be saved, because `filters` does not include
   * unfinished filters.
   */
  isEditing: boolean;
  onFilters: (filters: unknown[]) => void;
  onEditing: (isEditing: boolean) => void;
}) {
  return (
    <fieldset className="settings-fieldset settings-filters">
      <legend className="field-label">{legend}</legend>
      {about}
      <FilterList filters={filters} onFilters={(next) => onFilters(next ?? [])} onEditing={onEditing} />
      <span className="hint" aria-live="polite">
        {isEditing && text.finishFilter}
      </span>
    </fieldset>
  );
}
