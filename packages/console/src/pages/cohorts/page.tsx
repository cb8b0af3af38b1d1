// The Cohorts page, where users list, create and edit groups of persons.

import { useOffsetPages } from '../../api/offset-pages.ts';
import type { ApiCall } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AddressHint, SearchBar } from '../../parts/filter-bar.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { useFocusReturn } from '../../parts/side-panel.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import { formatNumber, words } from '../../words.ts';
import { CohortDetail, NewCohort } from './cohort.tsx';
import { type Cohort, useCohortsUrlState } from './shapes.ts';
import { text } from './words.ts';
import './cohorts.css';

/** Reload interval while Millrace counts a cohort's persons. */
const everyMs = 2000;

export function Page() {
  const { id } = useProject();
  const mayWrite = useHasLevel(1);
  const { view, change, unknown } = useCohortsUrlState();
  const request: ApiCall = { path: `/api/projects/${id}/cohorts`, query: { search: view.search } };
  const query = useOffsetPages<Cohort>(['cohorts', id, 'list'], {
    ...request,
    every: (rows) => rows.some((one) => one.is_calculating) && everyMs,
  });
  const close = () => change({ cohort: '' });
  const make = () => change({ cohort: 'new' });
  return (
    <>
      <PageTitle
        title={words.pages.cohorts.title}
        now={query.data && <span className="pill">{text.count(query.data.count)}</span>}
      >
        <AsApiCallButton request={request} />
        {mayWrite && (
          <Button look="main" onPress={make}>
            {text.make}
          </Button>
        )}
      </PageTitle>
      <AddressHint unknown={unknown} />
      <SearchBar address={{ view, change }} label={text.search} />
      <div className="panel list-detail cohorts" {...(view.cohort !== '' && { 'data-open': '' })}>
        <div className="list">
          <QueryContent query={query} what={text.what}>
            {({ rows }) =>
              rows.length === 0 ? (
                <EmptyState title={view.search === '' ? text.none : text.noneFound} icon="cohorts">
                  {view.search === '' && <p className="quiet">{text.noneText}</p>}
                  <div className="form-buttons">
                    {view.search === '' ? (
                      mayWrite && (
                        <Button look="main" onPress={make}>
                          {text.make}
                        </Button>
                      )
                    ) : (
                      <Button onPress={() => change({ search: '' })}>{text.all}</Button>
                    )}
                  </div>
                </EmptyState>
              ) : (
                <div className="list-rows">
                  <Rows cohorts={rows} open={view.cohort} onOpen={(cohort) => change({ cohort })} />
                  <LoadMoreButton query={query} label={text.more} />
                </div>
              )
            }
          </QueryContent>
        </div>
        {view.cohort === 'new' && (
          <NewCohort onMade={(one) => change({ cohort: String(one) }, { replace: true })} onClose={close} />
        )}
        {view.cohort !== '' && view.cohort !== 'new' && (
          <CohortDetail
            key={view.cohort}
            id={view.cohort}
            onOpen={(one) => change({ cohort: String(one) })}
            onClose={close}
          />
        )}
      </div>
    </>
  );
}

function Rows({ cohorts, open, onOpen }: { cohorts: readonly Cohort[]; open: string; onOpen: (id: string) => void }) {
  useFocusReturn(open !== '', cohorts.some(({ id }) => String(id) === open) ? open : undefined);
  return (
    <table className="table" aria-label={text.list}>
      <thead>
        <tr>
          <th>{text.columns.name}</th>
          <th>{text.columns.who}</th>
          <th className="number">{text.columns.persons}</th>
          <th className="list-wide">{text.columns.by}</th>
        </tr>
      </thead>
      <tbody>
        {cohorts.map(({ id, name, is_static: isListed, is_calculating: isCounting, count, created_by: by }) => (
          <tr key={id} className="list-row" {...(String(id) === open && { 'data-open': '' })}>
            <td>
              <button
                type="button"
                className="link-button row-link"
                data-row={String(id)}
                onClick={() => onOpen(String(id))}
              >
                {escapeInvisible(name || text.unnamed)}
              </button>
            </td>
            <td>{isListed ? text.listed : text.byConditions}</td>
            <td className="number">
              {count !== null ? formatNumber(count) : <span className="quiet">{isCounting ? text.counting : '–'}</span>}
            </td>
            <td className="list-wide quiet">{by === null ? '' : escapeInvisible(by.first_name || by.email)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
