// The start page's checklist for setting up a new project.

import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { text } from './words.ts';

type Step = 'event' | 'identify' | 'insight' | 'flag' | 'invite';

/** For each step, the path of the page on which the user completes it. */
const pathOf: Record<Step, string> = {
  event: 'live',
  identify: 'live',
  insight: 'insights?insight=new',
  flag: 'flags',
  invite: 'settings/members',
};
const keyOf = (projectId: number) => `millrace-checklist-${projectId}`;

/** Shows the setup steps until all of them are done or the user dismisses the checklist in this browser. */
export function Checklist() {
  const { id } = useProject();
  const [isDismissed, setDismissed] = useState(() => readDismissed(id));
  return isDismissed ? null : <Steps onDismiss={() => setDismissed(writeDismissed(id))} />;
}

function Steps({ onDismiss }: { onDismiss: () => void }) {
  const { id } = useProject();
  const steps = useSteps();
  const done = steps.filter(({ isDone }) => isDone).length;
  // Hide the checklist while it is unknown whether a step is done.
  if (steps.some(({ isDone }) => isDone === undefined) || done === steps.length) return null;
  return (
    <section className="panel home-steps" aria-labelledby="home-steps">
      <div className="home-head">
        <h2 id="home-steps">{text.checklist.title}</h2>
        <span className="quiet">{text.checklist.progress(done, steps.length)}</span>
        <span className="grow" />
        <Button look="plain" onPress={onDismiss}>
          {text.checklist.dismiss}
        </Button>
      </div>
      <ul>
        {steps.map(({ step, isDone }) => {
          const [path = '', query] = pathOf[step].split('?');
          return (
            <li key={step} {...(isDone && { 'data-done': '' })}>
              <span className="home-step">{isDone && <Icon name="check" size={12} />}</span>
              <span className="only-heard">{isDone ? text.checklist.done : text.checklist.open} </span>
              {isDone ? (
                <span className="quiet">{text.checklist[step]}</span>
              ) : (
                <Link
                  to={`/projects/${id}/${path}`}
                  search={Object.fromEntries(new URLSearchParams(query ?? '')) as never}
                >
                  {text.checklist[step]}
                </Link>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** For each step, a request to a list API. The step is done if the list has more than `than` items. */
const lists: Record<Step, (projectId: number, organization: string) => { path: string; query: object; than: number }> =
  {
    event: (id) => ({ path: `/api/projects/${id}/events`, query: { limit: 1 }, than: 0 }),
    identify: (id) => ({ path: `/api/projects/${id}/events`, query: { limit: 1, event: '$identify' }, than: 0 }),
    insight: (id) => ({ path: `/api/projects/${id}/insights`, query: { limit: 1, saved: true }, than: 0 }),
    flag: (id) => ({ path: `/api/projects/${id}/feature_flags`, query: { limit: 1 }, than: 0 }),
    // The list of members always includes the current user, so the step requires another member.
    invite: (_, organization) => ({ path: `/api/organizations/${organization}/members`, query: { limit: 2 }, than: 1 }),
  };

function useSteps(): { step: Step; isDone: boolean | undefined }[] {
  const { id, organization } = useProject();
  const names = Object.keys(lists) as Step[];
  return useQueries({
    queries: names.map((step) => ({
      queryKey: ['home-step', id, step],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const { path, query, than } = lists[step](id, organization);
        const { results } = await call<{ results: unknown[] }>({ path, query: { ...query } }, signal);
        return results.length > than;
      },
      staleTime: 60_000,
      retry: false,
    })),
    combine: (found) => names.map((step, at) => ({ step, isDone: found[at]?.data })),
  });
}

function readDismissed(id: number): boolean {
  try {
    return localStorage.getItem(keyOf(id)) === 'dismissed';
  } catch {
    return false;
  }
}

/** Stores in the browser that the user has dismissed the checklist. @returns true, even without local storage */
function writeDismissed(id: number): true {
  try {
    localStorage.setItem(keyOf(id), 'dismissed');
  } catch {
    // Without local storage, the checklist stays dismissed until the page is reloaded.
  }
  return true;
}
