// The Warnings page, where users see which events were dropped or changed, and can replay or discard dead letters.

import { useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import type { ApiCall } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCall } from '../../parts/dialog.tsx';
import { AddressHint } from '../../parts/filter-bar.tsx';
import { RefreshButton } from '../../parts/refresh.tsx';
import { words } from '../../words.ts';
import { useWarningsUrlState } from './address.ts';
import { createDeadLettersRequest, DeadLetters } from './dead-letters.tsx';
import { createKindsRequest, WarningKinds } from './kinds.tsx';
import { text } from './words.ts';
import './warnings.css';

const tabs = ['kinds', 'letters'] as const;

export function Page() {
  const address = useWarningsUrlState();
  const { view, change, unknown } = address;
  const project = useProject();
  const [asCall, setAsCall] = useState<ApiCall | null>(null);
  const request =
    view.tab === 'kinds' ? createKindsRequest(project.id, address) : createDeadLettersRequest(project.id, address);
  return (
    <>
      <PageTitle title={words.pages.warnings.title}>
        <Button onPress={() => setAsCall(request)}>{words.asApiCall}</Button>
        <RefreshButton keys={[['warnings', project.id]]} />
      </PageTitle>
      <AddressHint unknown={unknown} />
      <Tabs
        className="warnings-tabs"
        selectedKey={view.tab}
        onSelectionChange={(key) => change({ tab: tabs.find((tab) => tab === key) ?? 'kinds' })}
      >
        <TabList className="tabs" aria-label={words.pages.warnings.title}>
          {tabs.map((tab) => (
            <Tab key={tab} id={tab} className="tab">
              {text.tabs[tab]}
            </Tab>
          ))}
        </TabList>
        <TabPanel id="kinds" className="warnings-panel">
          <WarningKinds address={address} />
        </TabPanel>
        <TabPanel id="letters" className="warnings-panel">
          <DeadLetters address={address} />
        </TabPanel>
      </Tabs>
      {asCall && <AsApiCall request={asCall} onClose={() => setAsCall(null)} />}
    </>
  );
}
