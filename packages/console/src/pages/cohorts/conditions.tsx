import type { Filter } from '../../filters/filter.ts';
import { CohortFilter, PropertyFilter } from '../../filters/property-filter.tsx';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { newCohortFilter, newPersonFilter } from './shapes.ts';
import { text } from './words.ts';

/** Groups of conditions, of which one has to hold. @param own number of the cohort, which cannot ask for itself */
export function ConditionGroups({
  groups,
  own,
  onGroups,
}: {
  groups: readonly Filter[][];
  own: number | null;
  onGroups: (groups: Filter[][]) => void;
}) {
  const set = (at: number, filters: Filter[]) =>
    onGroups(filters.length === 0 && groups.length > 1 ? groups.toSpliced(at, 1) : groups.with(at, filters));
  return (
    <fieldset className="cohort-conditions">
      <legend className="field-label">{text.conditions}</legend>
      <p className="hint">{text.conditionsHint}</p>
      {groups.map((filters, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a group is known by its place
        <fieldset key={at} className="cohort-group">
          <legend className={at === 0 ? 'only-heard' : 'hint'}>{at === 0 ? text.group(1) : text.or}</legend>
          {filters.map((filter, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a condition is known by its place
            <div key={place} className="filter-fields">
              {filter.type === 'cohort' ? (
                <CohortFilter filter={filter} except={own} onChange={(next) => set(at, filters.with(place, next))} />
              ) : (
                <PropertyFilter filter={filter} onChange={(next) => set(at, filters.with(place, next))} />
              )}
              <Button
                look="plain"
                aria-label={text.removeFilter(at + 1, place + 1)}
                onPress={() => set(at, filters.toSpliced(place, 1))}
              >
                <Icon name="close" size={11} />
              </Button>
            </div>
          ))}
          <div className="form-buttons">
            <Button look="plain" onPress={() => set(at, [...filters, newPersonFilter])}>
              {text.addProperty}
            </Button>
            <Button look="plain" onPress={() => set(at, [...filters, newCohortFilter])}>
              {text.addCohort}
            </Button>
          </div>
        </fieldset>
      ))}
      <div className="form-buttons">
        <Button onPress={() => onGroups([...groups, [newPersonFilter]])}>{text.addGroup}</Button>
      </div>
    </fieldset>
  );
}
