// The panels for the details of a cohort and for creating a cohort.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { RecordAccessDialog } from '../../access/record-access.tsx';
import { text as accessText } from '../../access/words.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { createFilter, type Filter, isComplete } from '../../filters/filter.ts';
import { CohortFilter, PropertyFilter } from '../../filters/property-filter.tsx';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { useRecordTitle } from '../../frame/record-title.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { CloseButton, SidePanel } from '../../parts/side-panel.tsx';
import { explainError, QueryContent } from '../../parts/states.tsx';
import { newInsightQuery } from '../../results/insight-query.ts';
import { words } from '../../words.ts';
import { CohortMembers } from './members.tsx';
import { type Cohort, parseGroups, toFilters, useCohortChange } from './shapes.ts';
import { text } from './words.ts';

export function NewCohort({ onMade, onClose }: { onMade: (id: number) => void; onClose: () => void }) {
  const [isListed, setListed] = useState(false);
  const head = (
    <Head title={text.newTitle} onClose={onClose}>
      {null}
    </Head>
  );
  return (
    <SidePanel isForm title={text.newTitle} head={head} onClose={onClose}>
      <div className="cohort-body">
        <fieldset className="choices">
          <legend className="field-label">{text.kind}</legend>
          {([false, true] as const).map((kind) => (
            <button
              key={String(kind)}
              type="button"
              className="button"
              aria-pressed={isListed === kind}
              onClick={() => setListed(kind)}
            >
              {kind ? text.kinds.listed : text.kinds.conditions}
            </button>
          ))}
        </fieldset>
        <CohortForm key={String(isListed)} stored={null} isListed={isListed} onSaved={({ id }) => onMade(id)} />
      </div>
    </SidePanel>
  );
}

/** A panel with the details of a cohort. @param onOpen a function that opens another cohort, for example a copy */
export function CohortDetail({
  id,
  onOpen,
  onClose,
}: {
  id: string;
  onOpen: (id: number) => void;
  onClose: () => void;
}) {
  const project = useProject();
  const request = { path: `/api/projects/${project.id}/cohorts/${encodeURIComponent(id)}` };
  const query = useQuery({
    queryKey: ['cohorts', project.id, 'one', id],
    queryFn: ({ signal }) => call<Cohort>(request, signal),
    refetchInterval: ({ state }) => (state.data?.is_calculating ? 2000 : false),
  });
  const cohort = query.data;
  const title = cohort ? escapeInvisible(cohort.name || text.unnamed) : text.one;
  useRecordTitle(cohort ? title : '');
  const head = (
    <Head title={title} onClose={onClose}>
      {cohort && <Actions cohort={cohort} request={request} onOpen={onOpen} onClose={onClose} />}
    </Head>
  );
  return (
    <SidePanel title={title} head={head} onClose={onClose}>
      <QueryContent query={query} what={text.one}>
        {(data) => (
          <div className="cohort-body">
            <CohortForm stored={data} isListed={data.is_static} />
            <CohortMembers cohort={data} />
          </div>
        )}
      </QueryContent>
    </SidePanel>
  );
}

function Head({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  return (
    <div className="detail-head">
      <div className="detail-title">
        <h2>{title}</h2>
        <CloseButton onClose={onClose} />
      </div>
      {children}
    </div>
  );
}

function Actions({
  cohort,
  request,
  onOpen,
  onClose,
}: {
  cohort: Cohort;
  request: ApiCall;
  onOpen: (id: number) => void;
  onClose: () => void;
}) {
  const mayWrite = useHasLevel(1);
  const [dialog, setDialog] = useState<'access' | 'remove' | null>(null);
  const copy = useCohortChange(({ id }) => onOpen(id));
  const remove = useCohortChange(onClose);
  const name = escapeInvisible(cohort.name || text.unnamed);
  const removal = { method: 'PATCH', ...request, body: { deleted: true } } as const;
  return (
    <>
      <p className="quiet">
        {cohort.count === null ? (cohort.is_calculating ? text.counting : text.notCounted) : text.persons(cohort.count)}
        {cohort.last_calculation !== null && ` · ${text.countedAgo(formatPast(cohort.last_calculation))}`}
      </p>
      <div className="form-buttons">
        <NewInsight cohort={cohort.id} />
        <AsApiCallButton request={request} />
        {mayWrite && (
          <>
            <Button onPress={() => setDialog('access')}>{accessText.open}</Button>
            {!cohort.is_static && (
              <Button
                isDisabled={copy.isPending}
                onPress={() => copy.mutate({ path: `${request.path}/duplicate_as_static_cohort` })}
              >
                {text.copyAsList}
              </Button>
            )}
            <Button look="danger" onPress={() => setDialog('remove')}>
              {text.remove}
            </Button>
          </>
        )}
      </div>
      {copy.error && (
        <p className="bad" role="alert">
          {explainError(copy.error)}
        </p>
      )}
      {dialog === 'access' && (
        <RecordAccessDialog path={`cohorts/${cohort.id}`} name={name} onClose={() => setDialog(null)} />
      )}
      {dialog === 'remove' && (
        <Dialog title={text.removeTitle(name)} onClose={() => setDialog(null)}>
          <p className="quiet">{text.removeText}</p>
          <FormProblem problem={remove.error} fields={[]} />
          <div className="form-buttons">
            <Button look="danger" isDisabled={remove.isPending} onPress={() => remove.mutate(removal)}>
              {text.removeDo}
            </Button>
            <AsApiCallButton request={removal} />
            <Button onPress={() => setDialog(null)}>{words.cancel}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function NewInsight({ cohort }: { cohort: number }) {
  const { id } = useProject();
  const insightQuery = { ...newInsightQuery, properties: [{ ...createFilter('cohort'), value: cohort }] };
  return (
    <Link
      className="button"
      to={`/projects/${id}/insights`}
      search={{ insight: 'new', query: JSON.stringify(insightQuery) } as never}
    >
      {text.newInsight}
    </Link>
  );
}

function CohortForm({
  stored,
  isListed,
  onSaved,
}: {
  stored: Cohort | null;
  isListed: boolean;
  onSaved?: (cohort: Cohort) => void;
}) {
  const { id } = useProject();
  const mayWrite = useHasLevel(1);
  const known = isListed ? [] : parseGroups(stored?.filters ?? null);
  const [name, setName] = useState(stored?.name ?? '');
  const [description, setDescription] = useState(stored?.description ?? '');
  const [groups, setGroups] = useState<Filter[][]>(known ?? [[createFilter('person')]]);
  const [isIncomplete, setIncomplete] = useState(false);
  const save = useCohortChange(onSaved);
  const change = <Value,>(set: (value: Value) => void, value: Value) => {
    save.reset();
    set(value);
  };
  const areComplete = isListed || known === null || groups.every((filters) => filters.every(isComplete));
  // Send the conditions only if the user edited them, so that stored conditions are not reformatted.
  const isChanged = stored === null || JSON.stringify(groups) !== JSON.stringify(known);
  const body = {
    name,
    description,
    ...(stored === null && { is_static: isListed }),
    ...(!isListed && known !== null && isChanged && { filters: toFilters(groups) }),
  };
  const request: ApiCall =
    stored === null
      ? { method: 'POST', path: `/api/projects/${id}/cohorts`, body }
      : { method: 'PATCH', path: `/api/projects/${id}/cohorts/${stored.id}`, body };
  return (
    <form
      className="form"
      aria-label={stored === null ? text.newTitle : text.one}
      onSubmit={(event) => {
        event.preventDefault();
        setIncomplete(!areComplete);
        if (areComplete) save.mutate(request);
      }}
    >
      <Field
        name="name"
        label={text.name}
        maxLength={400}
        value={name}
        disabled={!mayWrite}
        problem={save.error}
        onChange={({ target }) => change(setName, target.value)}
      />
      <Field
        name="description"
        label={text.description}
        maxLength={1000}
        required={false}
        value={description}
        disabled={!mayWrite}
        problem={save.error}
        onChange={({ target }) => change(setDescription, target.value)}
      />
      {!isListed && known === null && <p className="hint">{text.otherConditions}</p>}
      {!isListed && known !== null && (
        <ConditionGroups groups={groups} onGroups={(next) => change(setGroups, next)} own={stored?.id ?? null} />
      )}
      {mayWrite && (
        <>
          <div className="form-buttons">
            <Button type="submit" look="main" isDisabled={save.isPending}>
              {stored === null ? text.create : text.save}
            </Button>
            <AsApiCallButton request={request} />
          </div>
          <FormProblem problem={save.error} fields={['name', 'description']} />
          <p role="status" className={isIncomplete && !areComplete ? 'bad' : 'quiet'}>
            {isIncomplete && !areComplete ? text.incomplete : save.isSuccess && stored !== null ? text.saved : ''}
          </p>
        </>
      )}
    </form>
  );
}

/**
 * A form for groups of conditions, which are combined with OR.
 * @param own the ID of the edited cohort, which its conditions cannot refer to
 */
function ConditionGroups({
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
        // biome-ignore lint/suspicious/noArrayIndexKey: a group has no ID other than its index
        <fieldset key={at} className="cohort-group">
          <legend className={at === 0 ? 'only-heard' : 'hint'}>{at === 0 ? text.group(1) : text.or}</legend>
          {filters.map((filter, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a condition has no ID other than its index
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
            <Button look="plain" onPress={() => set(at, [...filters, createFilter('person')])}>
              {text.addProperty}
            </Button>
            <Button look="plain" onPress={() => set(at, [...filters, createFilter('cohort')])}>
              {text.addCohort}
            </Button>
          </div>
        </fieldset>
      ))}
      <div className="form-buttons">
        <Button onPress={() => onGroups([...groups, [createFilter('person')]])}>{text.addGroup}</Button>
      </div>
    </fieldset>
  );
}
