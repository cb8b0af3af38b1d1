// Loads the dashboards and insights that users can choose in a form.

import { useQuery } from '@tanstack/react-query';
import { call, type Query } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { getInsightName } from '../../results/insight-query.ts';

interface Listed {
  id: number;
  name: string | null;
  derived_name?: string | null;
}

export interface Offered {
  id: number;
  name: string;
}

/** Maximum page size of the API's dashboard and insight lists. */
const maxOffered = 200;

/** Loads dashboards or insights as form options. Also returns the error if loading fails. */
export function useSubjectOptions(name: 'dashboards' | 'insights', query: Query = {}, isNeeded = true) {
  const { id } = useProject();
  const all = { ...query, limit: maxOffered, ...(name === 'insights' && { basic: true }) };
  return useQuery({
    queryKey: [name, id, 'offered', query],
    queryFn: ({ signal }) => call<{ results: Listed[] }>({ path: `/api/projects/${id}/${name}`, query: all }, signal),
    select: ({ results }): Offered[] =>
      results.map((one) => ({ id: one.id, name: getInsightName({ derived_name: null, ...one }) })),
    enabled: isNeeded,
  });
}
