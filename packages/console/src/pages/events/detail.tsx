import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useHealth } from '../../api/queries.ts';
import { ApiProblem, ask } from '../../api/request.ts';
import { EventDetail } from '../../event-detail/event-detail.tsx';
import type { FilteredBy } from '../../event-detail/properties.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { withProperty } from './filters.tsx';
import type { EventsView } from './view.ts';
import { text } from './words.ts';

/** One event as the bytes the API sent. */
export function useEventJson(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: ['event', project.id, id],
    enabled: id !== '',
    queryFn: async ({ signal }) => {
      const answer = await ask({ path: `/api/projects/${project.id}/events/${id}` }, signal);
      return answer.text();
    },
  });
}

/** The open event; it need not be in the list. */
export function DetailPane({
  shown: { view, change, narrow, properties, zone },
  detail,
  onClose,
}: {
  shown: EventsView;
  detail: ReturnType<typeof useEventJson>;
  onClose: () => void;
}) {
  const pane = useRef<HTMLElement>(null);
  // While another event is loaded nothing else of the detail is there to hold the focus, and without it no key works.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another event was opened
  useEffect(() => {
    pane.current?.focus({ preventScroll: true });
  }, [view.open]);
  const onFilter = (by: FilteredBy, name: string, value: string, isNot: boolean) => {
    if (by === 'event' || by === 'distinct_id') return narrow({ [by]: value });
    const operator = isNot ? 'is_not' : 'exact';
    const type = by === 'person' ? 'person' : 'event';
    narrow({ properties: withProperty(properties, { key: name, operator, value, type }) });
  };
  const onColumn = (name: string) => change({ columns: [...new Set([...view.columns, name])] });
  return (
    <section className="detail" aria-label={text.whatOne} ref={pane} tabIndex={-1}>
      {detail.error instanceof ApiProblem && detail.error.status === 404 ? (
        <NotStored onAgain={() => void detail.refetch()} onClose={onClose} />
      ) : (
        <Loaded query={detail} what={text.whatOne}>
          {(json) => (
            <EventDetail
              json={json}
              zone={zone}
              tab={view.tab}
              onTab={(tab) => change({ tab }, { replace: true })}
              onClose={onClose}
              actions={{ onFilter, onColumn }}
            />
          )}
        </Loaded>
      )}
    </section>
  );
}

/** By its uuid it is not there: yet, or at all. */
function NotStored({ onAgain, onClose }: { onAgain: () => void; onClose: () => void }) {
  const { data } = useHealth(useProject().id);
  return (
    <Empty title={text.goneTitle} icon="gone">
      <p className="quiet">{text.gone(data?.visible_after_seconds ?? null)}</p>
      <div className="form-buttons">
        <Button look="main" onPress={onAgain}>
          {words.again}
        </Button>
        <Button onPress={onClose}>{words.close}</Button>
      </div>
    </Empty>
  );
}
