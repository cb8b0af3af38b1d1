// The panels for the details of a feature flag and for creating a flag.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { RecordAccessDialog } from '../../access/record-access.tsx';
import { text as accessText } from '../../access/words.ts';
import { queryClient } from '../../api/queries.ts';
import { call, getManualUrl } from '../../api/request.ts';
import { useHasLevel, useProject } from '../../frame/project.ts';
import { useRecordTitle } from '../../frame/record-title.ts';
import { formatAgo } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AsApiCall, Dialog } from '../../parts/dialog.tsx';
import type { Notice } from '../../parts/notice.tsx';
import { CloseButton, SidePanel } from '../../parts/side-panel.tsx';
import { explainError, QueryContent } from '../../parts/states.tsx';
import { formatTime } from '../../parts/time.ts';
import { SnippetChoice } from '../../sending/sending.tsx';
import { words } from '../../words.ts';
import type { FlagsUrlState } from './address.ts';
import { FlagEditor, NewFlagEditor } from './editor.tsx';
import { FlagExposures } from './exposures.tsx';
import type { Drafts, Flag, StoredDraft } from './flag.ts';
import { FlagHistory } from './history.tsx';
import { FlagSwitch, updateCachedFlag } from './list.tsx';
import { createSnippets } from './snippets.ts';
import { FlagExplanation } from './why.tsx';
import { text } from './words.ts';

interface DetailProps {
  address: FlagsUrlState;
  close: () => void;
  notify: (notice: Notice | null) => void;
  drafts: Drafts;
  keepDraft: (id: string, draft: StoredDraft | null) => void;
}

export function FlagDetail({ id, ...props }: DetailProps & { id: string }) {
  const project = useProject();
  const query = useQuery({
    queryKey: ['flags', project.id, 'one', id],
    queryFn: ({ signal }) =>
      call<Flag>({ path: `/api/projects/${project.id}/feature_flags/${encodeURIComponent(id)}` }, signal),
  });
  useRecordTitle(query.data?.key ?? '');
  return (
    <SidePanel
      onClose={props.close}
      title={query.data?.key ?? ''}
      head={query.data && <Head flag={query.data} {...props} />}
    >
      <QueryContent query={query} what={text.what}>
        {(flag) => <Body flag={flag} {...props} />}
      </QueryContent>
    </SidePanel>
  );
}

export function NewFlag({
  close,
  drafts,
  keepDraft,
  onCreated,
  notify,
}: DetailProps & { onCreated: (id: string) => void }) {
  return (
    <SidePanel
      onClose={close}
      isForm
      title={text.form.newTitle}
      head={
        <div className="detail-head">
          <div className="detail-title">
            <h2>{text.form.newTitle}</h2>
            <CloseButton label={text.close} onClose={close} />
          </div>
          <p className="quiet">{text.form.newText}</p>
        </div>
      }
    >
      <NewFlagEditor
        savedDraft={drafts.get('new')}
        onKeep={(savedDraft) => keepDraft('new', savedDraft)}
        onDiscard={close}
        onCreated={(flag) => {
          keepDraft('new', null);
          notify(null);
          onCreated(String(flag.id));
        }}
      />
    </SidePanel>
  );
}

function Head({ flag, address, close, notify }: DetailProps & { flag: Flag }) {
  const { timezone } = useProject();
  const who = flag.last_modified_by;
  const lastCall = flag.last_called_at === null ? text.noCallYet : text.lastCall(formatAgo(flag.last_called_at));
  return (
    <div className="detail-head">
      <div className="detail-title">
        <h2 className="mono flag-title">{flag.key}</h2>
        <FlagSwitch flag={flag} notify={notify} />
        <More flag={flag} address={address} close={close} notify={notify} />
        <CloseButton label={text.close} onClose={close} />
      </div>
      <p className="quiet">
        <time dateTime={flag.updated_at} title={formatTime(flag.updated_at, timezone)}>
          {text.changedBy(who?.first_name || who?.email || text.deletedUser, formatAgo(flag.updated_at))}
        </time>{' '}
        · {lastCall}
      </p>
      <Labels flag={flag} address={address} />
    </div>
  );
}

function Labels({ flag, address }: { flag: Flag; address: FlagsUrlState }) {
  const isStale = flag.status === 'STALE';
  if (!isStale && !flag.archived && !flag.deleted && flag.tags.length === 0) return null;
  return (
    <div className="chips">
      {isStale && (
        <span className="pill pill-warn" title={text.staleWhy}>
          {text.stale}
        </span>
      )}
      {flag.archived && <span className="pill">{text.archived}</span>}
      {flag.deleted && <span className="pill pill-bad">{text.deletedPill}</span>}
      {flag.tags.map((tag) => (
        <Button key={tag} look="plain" aria-label={text.onlyTag(tag)} onPress={() => address.change({ tag })}>
          #{tag}
        </Button>
      ))}
    </div>
  );
}

function Body({ flag, address, drafts, keepDraft, notify }: DetailProps & { flag: Flag }) {
  const { view, change } = address;
  const id = String(flag.id);
  const names = Object.keys(text.tabs) as (keyof typeof text.tabs)[];
  return (
    <Tabs
      className="flag-tabs"
      selectedKey={view.tab}
      onSelectionChange={(tab) => change({ tab: names.find((name) => name === tab) ?? 'conditions' })}
    >
      <TabList className="tabs" aria-label={flag.key}>
        {names.map((name) => (
          <Tab key={name} id={name} className="tab">
            {text.tabs[name]}
          </Tab>
        ))}
      </TabList>
      <TabPanel id="conditions" className="detail-body">
        <FlagEditor
          flag={flag}
          savedDraft={drafts.get(id)}
          onKeep={(savedDraft) => keepDraft(id, savedDraft)}
          onSaved={() => notify(null)}
        />
      </TabPanel>
      <TabPanel id="why" className="detail-body">
        <FlagExplanation flag={flag} address={address} isEdited={drafts.has(id)} />
      </TabPanel>
      <TabPanel id="history" className="detail-body">
        <FlagHistory flagId={flag.id} />
      </TabPanel>
      <TabPanel id="exposures" className="detail-body">
        <FlagExposures flagId={flag.id} />
      </TabPanel>
      <TabPanel id="code" className="detail-body">
        <Code flag={flag} />
      </TabPanel>
    </Tabs>
  );
}

function Code({ flag }: { flag: Flag }) {
  return (
    <section className="flag-section">
      <h3>{text.use.title}</h3>
      <p className="quiet">{text.use.text}</p>
      <SnippetChoice snippets={createSnippets(flag)} />
      <p className="hint">
        <a href={getManualUrl('docs/flags.md')} target="_blank" rel="noopener noreferrer">
          {text.use.docs}
          <span className="only-heard"> {words.docs.newWindow}</span>
        </a>
      </p>
    </section>
  );
}

type OpenDialog = 'archive' | 'delete' | 'call' | 'access' | null;

function More({ flag, address, close, notify }: Pick<DetailProps, 'address' | 'close' | 'notify'> & { flag: Flag }) {
  const project = useProject();
  const [openDialog, setOpenDialog] = useState<OpenDialog>(null);
  const mayEdit = useHasLevel(1) && flag.can_edit;
  const request = { path: `/api/projects/${project.id}/feature_flags/${flag.id}` };
  const change = useMutation({
    mutationFn: (body: Partial<Flag>) => call<Flag>({ method: 'PATCH', ...request, body }),
    onSuccess: (now) => {
      updateCachedFlag(project.id, now);
      return queryClient.invalidateQueries({ queryKey: ['flags', project.id] });
    },
    onError: (error) => notify({ text: explainError(error), isBad: true }),
  });
  const done = (confirmation: string, back: Partial<Flag>) => {
    setOpenDialog(null);
    close();
    notify({ text: confirmation, undo: () => change.mutate(back) });
  };
  const act = (id: string) => {
    if (id === 'unarchive') return change.mutate({ archived: false });
    if (id === 'copy') return void navigator.clipboard.writeText(flag.key);
    setOpenDialog(id as OpenDialog);
  };
  return (
    <>
      <MenuTrigger>
        <AriaButton className="button" aria-label={text.more}>
          ⋯
        </AriaButton>
        <Popover placement="bottom end">
          <Menu className="menu" aria-label={text.more} onAction={(id) => act(String(id))}>
            <MenuItem id="copy" className="menu-item">
              {text.copyKey}
            </MenuItem>
            <MenuItem id="call" className="menu-item">
              {words.asApiCall}
            </MenuItem>
            <MenuItem id="access" className="menu-item">
              {accessText.open}
            </MenuItem>
            {mayEdit && (
              <MenuItem id={flag.archived ? 'unarchive' : 'archive'} className="menu-item">
                {flag.archived ? text.unarchive : text.archive}
              </MenuItem>
            )}
            {mayEdit && !flag.deleted && (
              <MenuItem id="delete" className="menu-item">
                <span className="bad">{text.remove}</span>
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
      {openDialog === 'call' && <AsApiCall request={request} onClose={() => setOpenDialog(null)} />}
      {openDialog === 'access' && (
        <RecordAccessDialog path={`feature_flags/${flag.id}`} name={flag.key} onClose={() => setOpenDialog(null)} />
      )}
      {openDialog === 'archive' && (
        <ArchiveOrDelete
          flag={flag}
          title={text.archiveTitle(flag.key)}
          explanation={text.archiveText}
          verb={text.archive}
          body={{ active: false, archived: true }}
          address={address}
          onClose={() => setOpenDialog(null)}
          onDone={() => done(text.archivedNotice(flag.key), { archived: false, active: flag.active })}
        />
      )}
      {openDialog === 'delete' && (
        <ArchiveOrDelete
          flag={flag}
          title={text.deleteTitle(flag.key)}
          explanation={text.deleteText}
          verb={text.remove}
          body={{ deleted: true }}
          address={address}
          onClose={() => setOpenDialog(null)}
          onDone={() => done(text.deleted(flag.key), { deleted: false })}
        />
      )}
    </>
  );
}

interface ArchiveOrDeleteProps {
  flag: Flag;
  title: string;
  explanation: string;
  verb: string;
  body: Partial<Flag>;
  address: FlagsUrlState;
  onClose: () => void;
  onDone: () => void;
}

/** A dialog for archiving or deleting a flag, which is only possible if no other flag depends on it. */
function ArchiveOrDelete({ flag, title, explanation, verb, body, address, onClose, onDone }: ArchiveOrDeleteProps) {
  const { id: projectId } = useProject();
  const path = `/api/projects/${projectId}/feature_flags/${flag.id}`;
  const dependents = useQuery({
    queryKey: ['flags', projectId, 'dependents', flag.id],
    queryFn: ({ signal }) =>
      call<{ id: number; key: string; name: string }[]>({ path: `${path}/dependent_flags` }, signal),
    staleTime: 0,
  });
  const put = useMutation({
    mutationFn: () => call<Flag>({ method: 'PATCH', path, body }),
    onSuccess: async (now) => {
      updateCachedFlag(projectId, now);
      onDone();
      await queryClient.invalidateQueries({ queryKey: ['flags', projectId] });
    },
  });
  const isFree = dependents.data?.length === 0;
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="quiet">{explanation}</p>
      <QueryContent query={dependents} what={text.dependentsWhat}>
        {(flags) =>
          flags.length === 0 ? (
            <p className="good">{text.noDependents}</p>
          ) : (
            <div>
              <p className="bad">{text.dependents}</p>
              <ul>
                {flags.map(({ id, key, name }) => (
                  <li key={id}>
                    <Button look="plain" onPress={() => address.change({ flag: String(id), tab: 'conditions' })}>
                      <span className="mono">{key}</span>
                    </Button>
                    <span className="quiet">{name}</span>
                  </li>
                ))}
              </ul>
            </div>
          )
        }
      </QueryContent>
      <p className="bad" role="alert">
        {put.error ? explainError(put.error) : null}
      </p>
      <div className="form-buttons">
        <Button look="danger" isDisabled={!isFree || put.isPending} onPress={() => put.mutate()}>
          {verb}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
