// The Insights page, where users find saved insights and build queries with a form.

import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { call } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { NoticeLine } from '../../parts/notice.tsx';
import { QueryContent } from '../../parts/states.tsx';
import { useUndo } from '../../records/undo.ts';
import { readSqlNode } from '../../sql/node.ts';
import { words } from '../../words.ts';
import { type BuilderProps, InsightBuilder } from './builder.tsx';
import { InsightList } from './list.tsx';
import { type Insight, useInsightsUrlState } from './view.ts';
import { text } from './words.ts';
import './insights.css';

export function Page() {
  const address = useInsightsUrlState();
  const { notice, offerUndo, clear } = useUndo();
  const { insight } = address.view;
  const props = { address, offerUndo, notice: <NoticeLine notice={notice} onDone={clear} /> };
  if (insight === '') return <InsightList {...props} />;
  return insight === 'new' ? (
    <InsightBuilder key="new" stored={null} {...props} />
  ) : (
    <Stored key={insight} name={insight} {...props} />
  );
}

function Stored({ name, ...props }: { name: string } & Omit<BuilderProps, 'stored'>) {
  const { id } = useProject();
  const query = useQuery({
    queryKey: ['insights', id, 'one', name],
    queryFn: ({ signal }) =>
      call<Insight>({ path: `/api/projects/${id}/insights/${encodeURIComponent(name)}` }, signal),
  });
  if (query.data && readSqlNode(query.data.query))
    return <Navigate to={`/projects/${id}/sql`} search={{ insight: name } as never} replace />;
  if (query.data) return <InsightBuilder stored={query.data} {...props} />;
  return (
    <>
      <PageTitle title={words.pages.insights.title} />
      <QueryContent query={query} what={text.one}>
        {() => null}
      </QueryContent>
    </>
  );
}
