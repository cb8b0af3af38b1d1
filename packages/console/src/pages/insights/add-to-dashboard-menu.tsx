import { useQuery } from '@tanstack/react-query';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { queryClient } from '../../api/queries.ts';
import { type ApiCall, call } from '../../api/request.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { Icon } from '../../parts/icon.tsx';
import { explainError, QueryContent } from '../../parts/states.tsx';
import { useRecordChange } from '../../records/change.ts';
import type { OfferUndo } from '../../records/undo.ts';
import { getInsightName } from '../../results/insight-query.ts';
import type { Insight } from './view.ts';
import { text } from './words.ts';

interface Dashboard {
  id: number;
  name: string | null;
}

/** A menu of dashboards. Choosing a dashboard adds the insight to it or removes it, and offers to undo this. */
export function AddToDashboardMenu({ stored, offerUndo }: { stored: Insight; offerUndo: OfferUndo }) {
  const { id } = useProject();
  const change = useRecordChange<Insight>((saved) =>
    queryClient.setQueryData(['insights', id, 'one', saved.short_id], saved),
  );
  const requestFor = (dashboards: readonly number[]): ApiCall => ({
    method: 'PATCH',
    path: `/api/projects/${id}/insights/${stored.id}`,
    body: { dashboards },
  });
  const toggle = ({ id: dashboard, name }: Dashboard) => {
    const before = stored.dashboards;
    const isOn = before.includes(dashboard);
    const next = isOn ? before.filter((one) => one !== dashboard) : [...before, dashboard];
    const shown = escapeInvisible(name || text.unnamedDashboard);
    const messageOf = isOn ? text.removedFrom : text.addedTo;
    change.mutate(requestFor(next), {
      onSuccess: () => offerUndo(messageOf(getInsightName(stored), shown), [requestFor(before)]),
    });
  };
  return (
    <>
      <MenuTrigger>
        <AriaButton className="button">{text.addToDashboard}</AriaButton>
        <Popover placement="bottom start">
          <Dashboards chosen={stored.dashboards} isBusy={change.isPending} onToggle={toggle} />
        </Popover>
      </MenuTrigger>
      {change.error && (
        <p className="bad" role="alert">
          {explainError(change.error)}
        </p>
      )}
    </>
  );
}

function Dashboards({
  chosen,
  isBusy,
  onToggle,
}: {
  chosen: readonly number[];
  isBusy: boolean;
  onToggle: (dashboard: Dashboard) => void;
}) {
  const { id } = useProject();
  const query = useQuery({
    queryKey: ['dashboards', id, 'choices'],
    queryFn: ({ signal }) =>
      call<{ results: Dashboard[] }>({ path: `/api/projects/${id}/dashboards`, query: { limit: 200 } }, signal),
  });
  const dashboards = query.data?.results ?? [];
  return (
    <Menu
      className="menu"
      aria-label={text.dashboards}
      items={dashboards}
      selectionMode="multiple"
      selectedKeys={chosen}
      disabledKeys={isBusy ? dashboards.map((one) => one.id) : []}
      shouldCloseOnSelect
      onAction={(key) => {
        const dashboard = dashboards.find((one) => one.id === key);
        if (dashboard) onToggle(dashboard);
      }}
      renderEmptyState={() => (
        <QueryContent query={query} what={text.dashboards}>
          {() => <p className="quiet insight-no-dashboard">{text.noDashboard}</p>}
        </QueryContent>
      )}
    >
      {({ id: dashboard, name }) => (
        <MenuItem
          id={dashboard}
          className="menu-item insight-dashboard"
          textValue={escapeInvisible(name || text.unnamedDashboard)}
        >
          {({ isSelected }) => (
            <>
              <span className="insight-dashboard-check">{isSelected && <Icon name="check" size={12} />}</span>
              {escapeInvisible(name || text.unnamedDashboard)}
            </>
          )}
        </MenuItem>
      )}
    </Menu>
  );
}
