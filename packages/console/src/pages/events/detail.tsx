import { useEffect, useRef } from 'react';
import { EventDetail, type useEventJson } from '../../event-detail/event-detail.tsx';
import type { FilteredBy } from '../../event-detail/properties.tsx';
import { addPropertyFilter } from './filters.tsx';
import type { EventsView } from './view.ts';
import { text } from './words.ts';

/** Shows the details of the open event, even if the list does not contain the event. */
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
  // Keyboard shortcuts work only while an element of the pane has the focus. While an event loads, its details do not
  // contain a focusable element, so focus the pane.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when another event is opened
  useEffect(() => {
    pane.current?.focus({ preventScroll: true });
  }, [view.open]);
  const onFilter = (by: FilteredBy, name: string, value: string, isNot: boolean) => {
    if (by === 'event' || by === 'distinct_id') return narrow({ [by]: value });
    const operator = isNot ? 'is_not' : 'exact';
    const type = by === 'person' ? 'person' : 'event';
    narrow({ properties: addPropertyFilter(properties, { key: name, operator, value, type }) });
  };
  const onColumn = (name: string) => change({ columns: [...new Set([...view.columns, name])] });
  return (
    <section className="detail" aria-label={text.whatOne} ref={pane} tabIndex={-1}>
      <EventDetail
        event={detail}
        zone={zone}
        tab={view.tab}
        onTab={(tab) => change({ tab }, { replace: true })}
        onClose={onClose}
        actions={{ onFilter, onColumn }}
      />
    </section>
  );
}
