import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiCall, call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { useDebounced } from '../../parts/debounced.ts';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { QueryContent } from '../../parts/states.tsx';
import { useRecordChanges } from '../../records/change.ts';
import { getInsightName } from '../../results/insight-query.ts';
import type { Dashboard, TileInsight } from './shapes.ts';
import { text } from './words.ts';

export function AddInsightsDialog({ dashboard, onClose }: { dashboard: Dashboard; onClose: () => void }) {
  const { id } = useProject();
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<readonly TileInsight[]>([]);
  const rested = useDebounced(search);
  const path = `/api/projects/${id}/insights`;
  const query = useQuery({
    queryKey: ['insights', id, 'choices', rested],
    queryFn: ({ signal }) =>
      call<{ results: TileInsight[] }>(
        { path, query: { basic: true, saved: true, order: '-last_modified_at', limit: 100, search: rested } },
        signal,
      ),
    placeholderData: (before) => before,
  });
  const requestFor = (insight: TileInsight): ApiCall => ({
    method: 'PATCH',
    path: `${path}/${insight.id}`,
    body: { dashboards: [...insight.dashboards, dashboard.id] },
  });
  const add = useRecordChanges(onClose);
  const toggle = (insight: TileInsight, isChosen: boolean) =>
    setChosen(isChosen ? [...chosen, insight] : chosen.filter((one) => one.id !== insight.id));
  const [first] = chosen;
  return (
    <RequestDialog
      title={text.addInsightTitle}
      submit={chosen.length < 2 ? text.add : text.addCount(chosen.length)}
      request={first ? requestFor(first) : { path }}
      change={{ ...add, mutate: () => add.mutate(chosen.map(requestFor)) }}
      isComplete={chosen.length > 0}
      onClose={onClose}
    >
      <input
        className="input"
        type="search"
        aria-label={text.searchInsights}
        placeholder={text.searchInsights}
        value={search}
        maxLength={200}
        // biome-ignore lint/a11y/noAutofocus: most users start with a search
        autoFocus
        onChange={({ target }) => setSearch(target.value)}
      />
      <div className="board-offered">
        <QueryContent query={query} what={text.chooseInsight}>
          {({ results }) => {
            const free = results.filter(({ dashboards }) => !dashboards.includes(dashboard.id));
            if (free.length === 0)
              return <p className="quiet">{rested === '' ? text.noInsight : text.noInsightFound}</p>;
            return (
              <fieldset className="board-choices">
                <legend className="only-heard">{text.chooseInsight}</legend>
                {free.map((insight) => (
                  <label key={insight.short_id} className="board-choice">
                    <input
                      type="checkbox"
                      checked={chosen.some(({ id: other }) => other === insight.id)}
                      onChange={({ target }) => toggle(insight, target.checked)}
                    />
                    {getInsightName(insight)}
                  </label>
                ))}
              </fieldset>
            );
          }}
        </QueryContent>
      </div>
    </RequestDialog>
  );
}
