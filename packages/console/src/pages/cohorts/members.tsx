import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call, readCursor } from '../../api/request.ts';
import { formatPersonSubtitle, formatPersonTitle, type NamedPerson } from '../../event-detail/person-name.tsx';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { LoadMoreButton } from '../../parts/more.tsx';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { explainError, QueryContent } from '../../parts/states.tsx';
import { type Cohort, useCohortChange } from './shapes.ts';
import { text } from './words.ts';

interface Member extends NamedPerson {
  uuid: string;
}

/** Lists a cohort's persons. Users can add and remove persons if the cohort is static. */
export function CohortMembers({ cohort }: { cohort: Cohort }) {
  const { id } = useProject();
  const mayWrite = useHasLevel(1) && cohort.is_static;
  const [isAdding, setAdding] = useState(false);
  const [confirmation, setConfirmation] = useState('');
  const path = `/api/projects/${id}/cohorts/${cohort.id}`;
  const query = useInfiniteQuery({
    queryKey: ['cohorts', id, 'members', cohort.id, cohort.last_calculation],
    queryFn: ({ pageParam, signal }) =>
      call<{ results: Member[]; next: string | null }>(
        { path: `${path}/persons`, query: { limit: 25, cursor: pageParam } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => readCursor(next),
  });
  const takeOut = useCohortChange();
  return (
    <section aria-label={text.members}>
      <div className="cohort-members-head">
        <h3 className="field-label grow">{text.members}</h3>
        {mayWrite && <Button onPress={() => setAdding(true)}>{text.add}</Button>}
      </div>
      <p role="status" className={takeOut.error ? 'bad' : 'quiet'}>
        {takeOut.error ? explainError(takeOut.error) : confirmation}
      </p>
      <QueryContent query={query} what={text.members}>
        {({ pages }) => {
          const members = pages.flatMap(({ results }) => results);
          return (
            <>
              {members.length === 0 && !query.hasNextPage && <p className="quiet">{text.noMembers}</p>}
              <ul className="cohort-members">
                {members.map(({ uuid, ...member }) => (
                  <li key={uuid}>
                    <span className="grow">
                      <Link to={`/projects/${id}/persons`} search={{ person: uuid } as never}>
                        {formatPersonTitle(member)}
                      </Link>
                      <span className="hint cut">{formatPersonSubtitle(member)}</span>
                    </span>
                    {mayWrite && (
                      <Button
                        look="plain"
                        aria-label={text.takeOut(formatPersonTitle(member))}
                        isDisabled={takeOut.isPending}
                        onPress={() =>
                          takeOut.mutate({
                            method: 'PATCH',
                            path: `${path}/remove_person_from_static_cohort`,
                            body: { person_id: uuid },
                          })
                        }
                      >
                        ×
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
              <LoadMoreButton query={query} label={members.length === 0 ? text.lookFurther : text.moreMembers} />
            </>
          );
        }}
      </QueryContent>
      {isAdding && (
        <AddDialog
          cohort={cohort}
          onAdded={() => {
            setAdding(false);
            setConfirmation(text.added);
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </section>
  );
}

function AddDialog({ cohort, onAdded, onClose }: { cohort: Cohort; onAdded: () => void; onClose: () => void }) {
  const { id } = useProject();
  const [typed, setTyped] = useState('');
  const ids = typed.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const add = useCohortChange(onAdded);
  return (
    <RequestDialog
      title={text.addTitle}
      submit={text.add}
      request={{
        method: 'PATCH',
        path: `/api/projects/${id}/cohorts/${cohort.id}/add_persons_to_static_cohort`,
        body: { distinct_ids: ids },
      }}
      change={add}
      isComplete={ids.length > 0}
      onClose={onClose}
    >
      <label className="field">
        <span className="field-label">{text.ids}</span>
        <textarea className="input mono" rows={6} value={typed} onChange={({ target }) => setTyped(target.value)} />
        <span className="hint">{text.addHint}</span>
      </label>
    </RequestDialog>
  );
}
