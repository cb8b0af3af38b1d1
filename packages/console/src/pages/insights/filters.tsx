import { FilterList } from '../../filters/filter-list.tsx';
import { Part, type PartProps } from './fields.tsx';
import { text } from './words.ts';

/** Which events count in all of the question: conditions, and internal users. */
export function Filters({ question, problem, change }: PartProps) {
  return (
    <Part title={text.onlyWhere} fields={['properties', 'filterTestAccounts']} problem={problem}>
      <FilterList filters={question.properties} onFilters={(properties) => change({ properties })} />
      <label className="insight-check">
        <input
          type="checkbox"
          checked={question.filterTestAccounts === true}
          onChange={({ target }) => change({ filterTestAccounts: target.checked || undefined })}
        />
        {text.testAccounts}
      </label>
    </Part>
  );
}
