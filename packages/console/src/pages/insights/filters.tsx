import { Link } from '@tanstack/react-router';
import { FilterList } from '../../filters/filter-list.tsx';
import { useProject } from '../../frame/project.ts';
import type { Environment } from '../settings/environment.ts';
import { FormPart, type PartProps } from './fields.tsx';
import { text } from './words.ts';

/** A form for filters that apply to the entire query, and for excluding internal users. */
export function QueryFilters({ insightQuery, problem, change }: PartProps) {
  const { id, test_account_filters: internal } = useProject() as Environment;
  const isSetUp = Array.isArray(internal) && internal.length > 0;
  return (
    <FormPart title={text.onlyWhere} fields={['properties', 'filterTestAccounts']} problem={problem}>
      <FilterList filters={insightQuery.properties} onFilters={(properties) => change({ properties })} />
      <label className="insight-check">
        <input
          type="checkbox"
          checked={insightQuery.filterTestAccounts === true}
          onChange={({ target }) => change({ filterTestAccounts: target.checked || undefined })}
        />
        {text.testAccounts}
      </label>
      {(insightQuery.filterTestAccounts === true || !isSetUp) && (
        <p className="hint">
          {!isSetUp && text.testAccountsNone}{' '}
          <Link to={`/projects/${id}/settings/data`}>{isSetUp ? text.testAccountsEdit : text.testAccountsSetUp}</Link>
        </p>
      )}
    </FormPart>
  );
}
