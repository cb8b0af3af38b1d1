// The dialog with the persons or groups that a number in a chart counts, and their CSV export.

import { formatCsv } from '@millrace/contracts/csv';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { Avatar, findPersonName, formatPersonSubtitle, formatPersonTitle } from '../../event-detail/person-name.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { saveCsv } from '../../parts/save-file.ts';
import { explainError, QueryContent } from '../../parts/states.tsx';
import { isFields, toFields } from '../../results/insight-query.ts';
import { words } from '../../words.ts';
import { maxInCohort, SaveAsCohort } from '../cohorts/save-as-cohort.tsx';
import { createQueryCall, type QueryResponse } from './view.ts';
import { text } from './words.ts';

const pageSize = 100;
const most = maxInCohort;

interface ShownActor {
  id: string;
  /** `group` for a group. Undefined for a person. */
  type?: string;
  properties?: Record<string, unknown>;
  distinct_ids?: string[];
}
const actorsIn = ({ results }: QueryResponse) => (results as [ShownActor][]).map(([actor]) => actor);

/** Lists the persons of a chart point. @param point a `Point` as JSON, from the URL */
export function PersonsDialog({ point, onClose }: { point: string; onClose: () => void }) {
  const { id } = useProject();
  const { name, source } = readPoint(point);
  const requestOf = (select: string, limit: number, offset = 0) =>
    createQueryCall(id, { kind: 'ActorsQuery', source, select: [select], limit, offset });
  const query = useInfiniteQuery({
    queryKey: ['result', id, 'persons', point],
    queryFn: ({ pageParam, signal }) => call<QueryResponse>(requestOf('actor', pageSize, pageParam), signal),
    initialPageParam: 0,
    getNextPageParam: ({ hasMore }, pages) => (hasMore ? pages.length * pageSize : undefined),
  });
  // If there are further pages, load the IDs on all pages to show their count.
  const rest = useQuery({
    queryKey: ['result', id, 'ids of persons', point],
    queryFn: ({ signal }) => call<QueryResponse>(requestOf('id', most), signal),
    enabled: query.hasNextPage,
  });
  const readIds = async () =>
    ((rest.data ?? (await call<QueryResponse>(requestOf('id', most)))).results as [string][]).map(([own]) => own);
  return (
    <Dialog title={escapeInvisible(name)} onClose={onClose}>
      <QueryContent query={query} what={text.persons}>
        {({ pages }) => {
          const actors = pages.flatMap(actorsIn);
          if (actors.length === 0) return <p className="quiet">{text.personsNone}</p>;
          const areGroups = actors[0]?.type === 'group';
          const known = query.hasNextPage
            ? rest.data && { count: (rest.data.results as []).length }
            : { count: actors.length };
          return (
            <>
              <p className="quiet" role="status">
                {known && text.personsCount(known.count, { areGroups, isMore: rest.data?.hasMore === true })}
              </p>
              <div className="insight-persons">
                <ul>
                  {actors.map((actor) => (
                    <li key={actor.id}>
                      <Actor actor={actor} />
                    </li>
                  ))}
                </ul>
                <LoadMoreButton query={query} label={areGroups ? text.moreGroups : text.morePersons} />
              </div>
              <div className="form-buttons">
                {!areGroups && <SaveAsCohort name={name} read={readIds} />}
                <CsvButton read={() => call<QueryResponse>(requestOf('actor', most))} />
              </div>
            </>
          );
        }}
      </QueryContent>
      <div className="form-buttons">
        <AsApiCallButton request={requestOf('actor', pageSize)} />
        <Button onPress={onClose}>{words.close}</Button>
      </div>
    </Dialog>
  );
}

function Actor({ actor: { id, type, properties = {}, distinct_ids: ids } }: { actor: ShownActor }) {
  const project = useProject();
  const isGroup = type === 'group';
  const person = {
    properties: isGroup ? { name: properties.name } : properties,
    distinct_ids: ids?.length ? ids : [id],
  };
  const title = formatPersonTitle(person);
  const target = isGroup
    ? { to: `/projects/${project.id}/groups`, search: { search: id } }
    : { to: `/projects/${project.id}/persons`, search: { person: id } };
  return (
    <span className="person-cell">
      <Avatar name={title} />
      <span className="grow">
        <Link to={target.to} search={target.search as never}>
          {title}
        </Link>
        <span className="hint cut">{formatPersonSubtitle(person)}</span>
      </span>
    </span>
  );
}

function CsvButton({ read }: { read: () => Promise<QueryResponse> }) {
  const [isReading, setReading] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const save = async () => {
    setReading(true);
    setProblem(null);
    try {
      const rows = actorsIn(await read()).map(({ id, properties = {}, distinct_ids: ids = [] }) => {
        const email = typeof properties.email === 'string' ? properties.email : '';
        return [id, findPersonName(properties), email, ids[0] ?? '', JSON.stringify(properties)];
      });
      saveCsv('persons.csv', formatCsv([['id', 'name', 'email', 'distinct_id', 'properties'], ...rows]));
    } catch (error) {
      setProblem(error);
    } finally {
      setReading(false);
    }
  };
  return (
    <>
      <Button isDisabled={isReading} onPress={() => void save()}>
        {text.personsCsv}
      </Button>
      {problem !== null && (
        <span className="bad" role="alert">
          {explainError(problem)}
        </span>
      )}
    </>
  );
}

function readPoint(json: string): { name: string; source: object } {
  try {
    const { name, source } = toFields(JSON.parse(json));
    return { name: typeof name === 'string' ? name : text.persons, source: isFields(source) ? source : {} };
  } catch {
    return { name: text.persons, source: {} };
  }
}
