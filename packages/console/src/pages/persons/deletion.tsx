import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { queryClient } from '../../api/queries.ts';
import { call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { formatPersonTitle } from '../../event-detail/person-name.tsx';
import { useProject } from '../../frame/project.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmByTyping, matchesConfirmation } from '../../parts/confirm-by-typing.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { explainError, QueryContent } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import type { Person } from './shapes.ts';
import { text } from './words.ts';

/** A dialog for deleting a person. The user must type the person's email address or name to confirm. */
export function DeletePerson({
  person,
  onClose,
  onDeleted,
}: {
  person: Person;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { id: projectId } = useProject();
  const expected = typeableOf(person);
  const [typed, setTyped] = useState('');
  const [withEvents, setWithEvents] = useState(false);
  const remove = useMutation({
    mutationFn: () =>
      call({
        method: 'DELETE',
        path: `/api/projects/${projectId}/persons/${person.uuid}`,
        query: { delete_events: withEvents },
      }),
    onSuccess: async () => {
      onClose();
      onDeleted();
      await queryClient.resetQueries({ queryKey: ['persons', projectId] });
    },
  });
  return (
    <Dialog title={text.deletion.title(formatPersonTitle(person))} onClose={onClose}>
      <p className="quiet">{text.deletion.what(person.distinct_ids.length)}</p>
      <form className="form" action={() => remove.mutate()}>
        <label className="person-check">
          <input type="checkbox" checked={withEvents} onChange={(event) => setWithEvents(event.target.checked)} />
          {text.deletion.withEvents}
        </label>
        <ConfirmByTyping label={text.deletion.type} expected={expected} value={typed} onChange={setTyped} />
        <p className="bad" role="alert">
          {remove.error ? explainError(remove.error) : null}
        </p>
        <div className="form-buttons">
          <Button type="submit" look="danger" isDisabled={!matchesConfirmation(typed, expected) || remove.isPending}>
            {text.deletion.verb}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/**
 * Returns the string that the user must type to confirm: the email address, name or distinct ID. Prefers values that
 * are probably unique.
 */
function typeableOf({ uuid, properties: { email, name }, distinct_ids: [distinctId] }: Person): string {
  const isTypeable = (value: unknown): value is string =>
    typeof value === 'string' && /^[^\s](.{0,62}[^\s])?$/u.test(value) && escapeInvisible(value) === value;
  return [email, name, distinctId].find(isTypeable) ?? uuid;
}

interface DeletionState {
  status: string;
  delete_events: boolean;
  events: number;
}
interface DeletionActivity {
  results: {
    activity: string;
    user: { first_name: string; email: string | null };
    created_at: string;
    detail: { name: string | null; changes: { field: string; after: unknown }[] | null };
  }[];
}

/**
 * Shows the progress of a person's deletion.
 * @param otherwise the content to show if the person does not exist and was not deleted
 */
export function DeletionStatus({ id, otherwise }: { id: string; otherwise: ReactNode }) {
  const project = useProject();
  const query = useQuery({
    queryKey: ['persons', project.id, 'deletion', id],
    queryFn: ({ signal }) =>
      call<DeletionActivity>(
        { path: `/api/projects/${project.id}/persons/${encodeURIComponent(id)}/activity`, query: { limit: 1 } },
        signal,
      ),
    refetchInterval: ({ state }) => (state.data && stateOf(state.data)?.status !== 'completed' ? 2000 : false),
  });
  if (query.error && query.data === undefined) return otherwise;
  return (
    <QueryContent query={query} what={text.deletion.doing}>
      {(activity) => {
        const [record] = activity.results;
        const state = stateOf(activity);
        if (record === undefined || state === null) return otherwise;
        const isDone = state.status === 'completed';
        return (
          <div className="state" data-state="deleted">
            <h2>{text.deletion.title2}</h2>
            <p className="quiet">
              {text.deletion.by(record.user.first_name || record.user.email || '', formatAgo(record.created_at))}
            </p>
            <p role="status">
              <span className={isDone ? 'pill pill-good' : 'pill pill-warn'}>
                {text.deletion.statuses[state.status] ?? state.status}
              </span>
            </p>
            <p className="quiet">
              {state.delete_events
                ? text.deletion.deletedEvents(state.events)
                : text.deletion.strippedEvents(state.events)}
            </p>
          </div>
        );
      }}
    </QueryContent>
  );
}

function stateOf({ results: [record] }: DeletionActivity): DeletionState | null {
  const change = record?.detail.changes?.find(({ field }) => field === 'deletion');
  return (change?.after as DeletionState | undefined) ?? null;
}
