// The Health page, where users check whether Millrace processes events in time and which services are running.

import { useState } from 'react';
import { useHealth } from '../../api/queries.ts';
import type { ApiCall } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { matchingText, part, useUrlState } from '../../parts/address.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCall } from '../../parts/dialog.tsx';
import { AddressHint, FilterBar } from '../../parts/filter-bar.tsx';
import { RefreshButton } from '../../parts/refresh.tsx';
import { isValidTime, resolveZone, type Span, SpanMenu, zones } from '../../parts/span.tsx';
import { words } from '../../words.ts';
import { HealthFigures } from './figures.tsx';
import { DropsOverTime, EventsOverTime } from './over-time.tsx';
import { ServiceTable, TopicTable } from './parts-of-it.tsx';
import './health.css';

const parts = {
  after: matchingText(isValidTime, '-1h'),
  before: matchingText(isValidTime),
  zone: part.oneOf(zones, 'project'),
};

export function Page() {
  const project = useProject();
  const { view, change, unknown } = useUrlState(parts);
  const [asCall, setAsCall] = useState(false);
  const span: Span = { after: view.after, before: view.before };
  const shown = { span, zone: resolveZone(view.zone, project.timezone) };
  const health = useHealth(project.id);
  const request: ApiCall = { path: `/api/projects/${project.id}/health` };
  return (
    <>
      <PageTitle title={words.pages.health.title}>
        <Button onPress={() => setAsCall(true)}>{words.asApiCall}</Button>
        <RefreshButton
          keys={[
            ['health', project.id],
            ['health over time', project.id],
          ]}
        />
      </PageTitle>
      <AddressHint unknown={unknown} />
      <HealthFigures health={health} />
      <FilterBar chips={[]}>
        <SpanMenu
          span={span}
          zone={view.zone}
          zoneOfProject={project.timezone}
          presets={['-1h', '-24h', '-7d', '-30d']}
          onSpan={change}
          onZone={(zone) => change({ zone })}
        />
      </FilterBar>
      <div className="health-charts">
        <EventsOverTime {...shown} />
        <DropsOverTime {...shown} />
      </div>
      <div className="health-parts">
        <TopicTable health={health} zone={shown.zone} />
        <ServiceTable health={health} />
      </div>
      {asCall && <AsApiCall request={request} onClose={() => setAsCall(false)} />}
    </>
  );
}
