import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../answers/change.ts';
import { call } from '../../api/request.ts';
import { visible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { Loaded } from '../../parts/states.tsx';
import type { Insight } from './view.ts';
import { text } from './words.ts';

interface Choice {
  id: number;
  name: string | null;
}

/** On which dashboards an insight stands. */
export function OnDashboards({ stored, onClose }: { stored: Insight; onClose: () => void }) {
  const { id } = useProject();
  const query = useQuery({
    queryKey: ['dashboards', id, 'choices'],
    queryFn: ({ signal }) =>
      call<{ results: Choice[] }>({ path: `/api/projects/${id}/dashboards`, query: { limit: 200 } }, signal),
  });
  const [chosen, setChosen] = useState<readonly number[]>(stored.dashboards);
  const change = useChange<Insight>(onClose);
  return (
    <RequestDialog
      title={text.dashboardsTitle}
      submit={text.save}
      request={{ method: 'PATCH', path: `/api/projects/${id}/insights/${stored.id}`, body: { dashboards: chosen } }}
      change={change}
      onClose={onClose}
    >
      <Loaded query={query} what={text.dashboards}>
        {({ results }) =>
          results.length === 0 ? (
            <p className="quiet">{text.noDashboard}</p>
          ) : (
            <fieldset className="insight-choices">
              <legend className="only-heard">{text.dashboards}</legend>
              {results.map(({ id: one, name }) => (
                <label key={one} className="insight-choice">
                  <input
                    type="checkbox"
                    checked={chosen.includes(one)}
                    onChange={({ target }) =>
                      setChosen(target.checked ? [...chosen, one] : chosen.filter((other) => other !== one))
                    }
                  />
                  {visible(name || text.unnamedDashboard)}
                </label>
              ))}
            </fieldset>
          )
        }
      </Loaded>
    </RequestDialog>
  );
}
