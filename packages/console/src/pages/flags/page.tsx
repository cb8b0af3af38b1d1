// The Feature flags page, where users find, create and change feature flags.

import { useState } from 'react';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCall } from '../../parts/dialog.tsx';
import { AddressHint, FilterBar } from '../../parts/filter-bar.tsx';
import { usePageKeys } from '../../parts/keys.ts';
import { type Notice, NoticeLine } from '../../parts/notice.tsx';
import { Search } from '../../parts/search.tsx';
import { SelectFilter } from '../../parts/select-filter.tsx';
import { useUndo } from '../../records/undo.ts';
import { formatNumber, words } from '../../words.ts';
import { type FlagsUrlState, useFlagsUrlState } from './address.ts';
import { FlagDetail, NewFlag } from './detail.tsx';
import { flagDrafts, type StoredDraft } from './flag.ts';
import { useFlagSuggestions } from './flag-suggestions.ts';
import { FlagList, useFlagSearch } from './list.tsx';
import { text } from './words.ts';
import './flags.css';

export function Page() {
  const address = useFlagsUrlState();
  const { view, change, unknown } = address;
  const [notice, setNotice] = useState<Notice | null>(null);
  const undo = useUndo();
  const notify = (next: Notice | null) => {
    undo.clear();
    setNotice(next);
  };
  const [isShowingCall, setShowingCall] = useState(false);
  const { id: projectId } = useProject();
  const drafts = flagDrafts.use(projectId);
  const search = useFlagSearch(view);
  const keepDraft = (id: string, draft: StoredDraft | null) => flagDrafts.keep(projectId, id, draft);
  const open = (flag: string) => change({ flag, ...(view.flag === '' && { tab: 'conditions' }) });
  const close = () => change({ flag: '', tab: 'conditions', person: '', groups: [] });
  usePageKeys({
    '/': () => document.getElementById('flag-search')?.focus(),
    ...(view.flag === '' && { n: () => open('new') }),
  });
  const shared = { address, close, notify, drafts, keepDraft };
  return (
    <>
      <PageTitle title={words.pages.flags.title} now={<Count count={search.count} />}>
        <Button look="main" shortcut="n" onPress={() => open('new')}>
          {text.newFlag}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      <Filters address={address} count={search.count} onApiCall={() => setShowingCall(true)} />
      <NoticeLine notice={undo.notice ?? notice} onDone={() => notify(null)} />
      <div className="panel list-detail flags" {...(view.flag !== '' && { 'data-open': '' })}>
        <FlagList
          search={search}
          openId={view.flag}
          onOpen={open}
          drafts={drafts}
          notify={notify}
          offerUndo={(confirmation, requests) => {
            setNotice(null);
            undo.offerUndo(confirmation, requests);
          }}
          address={address}
        />
        {view.flag === 'new' && <NewFlag {...shared} onCreated={(id) => change({ flag: id })} />}
        {view.flag !== '' && view.flag !== 'new' && <FlagDetail key={view.flag} id={view.flag} {...shared} />}
      </div>
      {isShowingCall && <AsApiCall request={search.request} onClose={() => setShowingCall(false)} />}
    </>
  );
}

function Count({ count }: { count: number | undefined }) {
  return count === undefined ? null : <span className="pill">{formatNumber(count)}</span>;
}

function Filters({
  address: { view, change },
  count,
  onApiCall,
}: {
  address: FlagsUrlState;
  count: number | undefined;
  onApiCall: () => void;
}) {
  const { tags: known } = useFlagSuggestions();
  const tags = view.tag === '' || known.includes(view.tag) ? known : [view.tag, ...known];
  return (
    <FilterBar
      chips={[]}
      search={
        <Search
          id="flag-search"
          value={view.search}
          label={text.search(view.search === '' ? count : undefined)}
          shortcut="/"
          onSearch={(search) => change({ search }, { replace: true })}
        />
      }
    >
      <SelectFilter
        name={text.state}
        value={view.state}
        options={text.states}
        onChoose={(state) => change({ state })}
      />
      <SelectFilter
        name={text.tags}
        value={view.tag}
        options={{ '': text.anyTag, ...Object.fromEntries(tags.map((tag) => [tag, tag])) }}
        onChoose={(tag) => change({ tag })}
      />
      <SelectFilter name={text.sort} value={view.sort} options={text.sorts} onChoose={(sort) => change({ sort })} />
      <Button onPress={onApiCall}>{words.asApiCall}</Button>
    </FilterBar>
  );
}
