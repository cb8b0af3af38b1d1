// Access rules for all records of a type, such as insights or feature flags. A rule applies to everyone or to a role.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { RecordAccessDialog } from '../../../access/record-access.tsx';
import { text as accessText } from '../../../access/words.ts';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { escapeInvisible } from '../../../event-detail/json-text.ts';
import { useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCallButton } from '../../../parts/dialog.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { SettingsBlock } from '../block.tsx';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from './words.ts';

export interface Role {
  id: string;
  name: string;
}

const { records } = text;
const kinds = ['insight', 'dashboard', 'feature_flag', 'early_access_feature', 'cohort'] as const;
const levels = ['', 'none', 'viewer', 'editor', 'manager'] as const;
/** An access level, or an empty string if no rule exists. */
type Level = (typeof levels)[number];

interface RecordRules {
  access_controls: {
    access_level: Exclude<Level, ''>;
    resource: string;
    organization_member: string | null;
    role: string | null;
  }[];
  user_can_edit_access_levels: boolean;
}

export function RecordAccess({ roles }: { roles: readonly Role[] }) {
  const { id } = useProject();
  const request = { path: `/api/projects/${id}/resource_access_controls` };
  const query = useQuery({
    queryKey: ['access', id, 'records'],
    queryFn: ({ signal }) => call<RecordRules>(request, signal),
  });
  return (
    <SettingsBlock
      title={records.title}
      about={records.about}
      buttons={<AsApiCallButton request={request} about={records.title} />}
    >
      <QueryContent query={query} what={records.title}>
        {(rules) => <Kinds rules={rules} roles={roles} path={request.path} />}
      </QueryContent>
      <OneFeature />
    </SettingsBlock>
  );
}

interface Feature {
  id: string;
  name: string;
}

/** Shows an early access feature's access rules here, because the console has no page for early access features. */
function OneFeature() {
  const { id } = useProject();
  const selectId = useId();
  const [chosen, setChosen] = useState('');
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: ['early access features', id],
    queryFn: ({ signal }) =>
      call<{ results: Feature[] }>({ path: `/api/projects/${id}/early_access_feature`, query: { limit: 200 } }, signal),
  });
  const features = data?.results ?? [];
  const feature = features.find((one) => one.id === chosen);
  if (features.length === 0) return null;
  return (
    <div className="field settings-form">
      <label className="field-label" htmlFor={selectId}>
        {records.feature}
      </label>
      <div className="form-buttons">
        <select
          id={selectId}
          className="input settings-short"
          value={chosen}
          onChange={({ target }) => setChosen(target.value)}
        >
          <option value="">{records.chooseFeature}</option>
          {features.map((one) => (
            <option key={one.id} value={one.id}>
              {escapeInvisible(one.name)}
            </option>
          ))}
        </select>
        <Button isDisabled={feature === undefined} onPress={() => setOpen(true)}>
          {accessText.open}
        </Button>
      </div>
      {isOpen && feature && (
        <RecordAccessDialog
          path={`early_access_feature/${feature.id}`}
          name={escapeInvisible(feature.name)}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

function Kinds({ rules, roles, path }: { rules: RecordRules; roles: readonly Role[]; path: string }) {
  const { id } = useProject();
  const selectId = useId();
  /** The role's ID, or empty for a rule that applies to everyone. */
  const [roleId, setRoleId] = useState('');
  const change = useMutation({
    mutationFn: ({ resource, level }: { resource: string; level: Level }) =>
      callWithRecentSignIn({
        method: 'PUT',
        path,
        body: { resource, access_level: level === '' ? null : level, ...(roleId !== '' && { role: roleId }) },
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['access', id, 'records'] }),
  });
  const levelOf = (kind: string): Level =>
    rules.access_controls.find(
      ({ resource, role, organization_member: member }) =>
        resource === kind && member === null && (role ?? '') === roleId,
    )?.access_level ?? '';
  return (
    <>
      <div className="field settings-form">
        <label className="field-label" htmlFor={selectId}>
          {records.subject}
        </label>
        <select
          id={selectId}
          className="input settings-short"
          value={roleId}
          onChange={({ target }) => setRoleId(target.value)}
        >
          <option value="">{text.everyMember}</option>
          {roles.map((role) => (
            <option key={role.id} value={role.id}>
              {records.role(role.name)}
            </option>
          ))}
        </select>
      </div>
      <FormProblem problem={change.error} fields={[]} />
      <table className="table settings-table">
        <thead>
          <tr>
            <th>{records.columns.kind}</th>
            <th>{records.columns.level}</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => (
            <tr key={kind}>
              <td>{records.kinds[kind]}</td>
              <td>
                <select
                  className="input settings-short"
                  aria-label={records.levelOf(records.kinds[kind])}
                  value={levelOf(kind)}
                  disabled={!rules.user_can_edit_access_levels || change.isPending}
                  onChange={({ target }) => change.mutate({ resource: kind, level: target.value as Level })}
                >
                  {levels.map((level) => (
                    <option key={level} value={level}>
                      {level === '' && roleId === '' ? records.usual : records.levels[level]}
                    </option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
