// The settings section where users create, change and delete their personal API keys.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery, queryClient } from '../../../api/queries.ts';
import { ApiProblem, call } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { part, useUrlState } from '../../../parts/address.ts';
import { formatAgo } from '../../../parts/ago.ts';
import { Button } from '../../../parts/button.tsx';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { EmptyState, ErrorState, QueryContent } from '../../../parts/states.tsx';
import { formatDay } from '../../../parts/time.ts';
import { ConfirmationDialog, OneTimeSecret, SettingsBlock } from '../block.tsx';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from '../words.ts';
import { KeyForm, keysPath, type PersonalKey } from './key-form.tsx';
import { findPreset, parseScopeNames } from './scopes.ts';

const keysKey = ['settings', 'keys'];
/** Maximum number of keys that the API allows per user. */
const limit = 10;

/** ID of the open key, `new`, or empty while the form is closed. */
const parts = { open: part.text() };

export function KeysSection() {
  const {
    view: { open },
    change,
    unknown,
  } = useUrlState(parts);
  const onOpen = (next: string) => change({ open: next });
  const [createdKey, setCreatedKey] = useState<PersonalKey | null>(null);
  const query = useQuery({
    queryKey: keysKey,
    queryFn: ({ signal }) => call<PersonalKey[]>({ path: keysPath }, signal),
  });
  const refresh = () => queryClient.invalidateQueries({ queryKey: keysKey });
  const finish = async (key: PersonalKey) => {
    if (key.value !== null) setCreatedKey(key);
    onOpen('');
    await refresh();
  };
  const count = query.data?.length ?? 0;
  const newKey = (
    <Button look="main" isDisabled={query.data === undefined || count >= limit} onPress={() => onOpen('new')}>
      {text.newKey}
    </Button>
  );
  return (
    <>
      <AddressHint unknown={unknown} />
      {createdKey?.value && (
        <OneTimeSecret
          title={text.keyMade(createdKey.label)}
          value={createdKey.value}
          onDone={() => setCreatedKey(null)}
        />
      )}
      <QueryContent query={query} what={text.keys}>
        {(keys) => {
          if (open !== '') {
            const key = keys.find(({ id }) => id === open);
            if (open !== 'new' && !key)
              return <ErrorState what={text.keys} error={new ApiProblem(404, {}, new Headers())} />;
            if (key || keys.length < limit)
              return <KeyForm key={open} before={key} onDone={finish} onClose={() => onOpen('')} />;
          }
          return (
            <SettingsBlock title={text.keys} about={text.keysText} buttons={newKey} request={{ path: keysPath }}>
              {keys.length >= limit && <p className="note">{text.limitReached(limit)}</p>}
              {keys.length === 0 ? (
                <EmptyState title={text.noKeys} icon="lock">
                  <p className="quiet">{text.noKeysText}</p>
                </EmptyState>
              ) : (
                <KeyTable keys={keys} onOpen={onOpen} onRolled={finish} refresh={refresh} />
              )}
            </SettingsBlock>
          );
        }}
      </QueryContent>
    </>
  );
}

interface PendingAction {
  kind: 'roll' | 'delete';
  key: PersonalKey;
}

function KeyTable({
  keys,
  onOpen,
  onRolled,
  refresh,
}: {
  keys: PersonalKey[];
  onOpen: (id: string) => void;
  onRolled: (key: PersonalKey) => Promise<void>;
  refresh: () => Promise<void>;
}) {
  const [pendingAction, setPendingAction] = useState<PendingAction | null>(null);
  return (
    <>
      <table className="table settings-table">
        <thead>
          <tr>
            <th>{text.columns.key}</th>
            <th>{text.columns.may}</th>
            <th>{text.columns.ends}</th>
            <th>{text.columns.used}</th>
            <th>
              <span className="only-heard">{text.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>
                <strong>{key.label}</strong>
                <br />
                <code className="quiet">{key.mask_value}</code>
              </td>
              <td>
                <ScopesCell scopes={key.scopes} />
                <div className="hint">
                  <ProjectsCell of={key} />
                </div>
              </td>
              <td data-label={text.columns.ends}>
                <End at={key.expires_at} />
              </td>
              <td data-label={text.columns.used}>
                {key.last_used_at === null ? text.neverUsed : formatAgo(key.last_used_at)}
              </td>
              <td className="settings-actions">
                <Button aria-label={text.of(text.change, key.label)} onPress={() => onOpen(key.id)}>
                  {text.change}
                </Button>
                <Button
                  aria-label={text.of(text.roll, key.label)}
                  onPress={() => setPendingAction({ kind: 'roll', key })}
                >
                  {text.roll}
                </Button>
                <Button
                  look="danger"
                  aria-label={text.of(text.delete, key.label)}
                  onPress={() => setPendingAction({ kind: 'delete', key })}
                >
                  {text.delete}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {pendingAction?.kind === 'roll' && (
        <ConfirmationDialog
          title={text.rollTitle(pendingAction.key.label)}
          verb={text.roll}
          onClose={() => setPendingAction(null)}
          act={async () =>
            onRolled(
              await callWithRecentSignIn<PersonalKey>({
                method: 'POST',
                path: `${keysPath}/${pendingAction.key.id}/roll`,
              }),
            )
          }
        >
          {text.rollText}
        </ConfirmationDialog>
      )}
      {pendingAction?.kind === 'delete' && (
        <ConfirmationDialog
          title={text.deleteKeyTitle(pendingAction.key.label)}
          verb={text.delete}
          onClose={() => setPendingAction(null)}
          act={async () => {
            await callWithRecentSignIn({ method: 'DELETE', path: `${keysPath}/${pendingAction.key.id}` });
            await refresh();
          }}
        >
          {text.deleteKeyText}
        </ConfirmationDialog>
      )}
    </>
  );
}

/** Shows a key's preset or its scopes. If a key has many scopes, shows only their number. */
function ScopesCell({ scopes }: { scopes: readonly string[] }) {
  if (scopes.includes('*')) return text.presets.all.name;
  const preset = findPreset(parseScopeNames(scopes));
  if (preset !== 'own') return text.presets[preset].name;
  if (scopes.length <= 3) return <code>{scopes.join(', ')}</code>;
  return (
    <details>
      <summary>{text.scopeCount(scopes.length)}</summary>
      <code>{scopes.join(', ')}</code>
    </details>
  );
}

function ProjectsCell({ of: { scoped_teams, scoped_organizations } }: { of: PersonalKey }) {
  const { data: me } = useQuery(meQuery);
  const projects = me?.organization?.teams ?? [];
  const names = [
    ...scoped_organizations.map((id) => me?.organizations.find((one) => one.id === id)?.name ?? id),
    ...scoped_teams.map((id) => projects.find((one) => one.id === id)?.name ?? text.projectNumber(id)),
  ];
  return names.length === 0 ? text.everywhere : text.onlyIn(names.join(', '));
}

function End({ at }: { at: string | null }) {
  const { timezone } = useProject();
  if (at === null) return text.never;
  if (Date.parse(at) > Date.now()) return formatDay(at, timezone);
  return <span className="bad">{text.endedOn(formatDay(at, timezone))}</span>;
}
