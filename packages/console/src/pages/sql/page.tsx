// The SQL page, where users write a query, run it, and save it as an insight.

import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { QueryContent } from '../../parts/states.tsx';
import { useUndo } from '../../records/undo.ts';
import { words } from '../../words.ts';
import type { Insight } from '../insights/view.ts';
import { type SqlUrlState, useSqlUrlState } from './address.ts';
import { text } from './words.ts';
import { Workbench } from './workbench.tsx';
import './sql-page.css';

export function Page() {
  const address = useSqlUrlState();
  const undo = useUndo();
  const { insight } = address.view;
  if (insight === '') return <Workbench key="new" stored={null} {...{ address, undo }} />;
  return <Stored key={insight} name={insight} {...{ address, undo }} />;
}

function Stored({ name, ...props }: { name: string; address: SqlUrlState; undo: ReturnType<typeof useUndo> }) {
  const { id } = useProject();
  const query = useQuery({
    queryKey: ['insights', id, 'one', name],
    queryFn: ({ signal }) =>
      call<Insight>({ path: `/api/projects/${id}/insights/${encodeURIComponent(name)}` }, signal),
  });
  if (query.data) return <Workbench stored={query.data} {...props} />;
  return (
    <>
      <PageTitle title={words.pages.sql.title} />
      <QueryContent query={query} what={text.one}>
        {() => null}
      </QueryContent>
    </>
  );
}
