// The form that creates a personal API key or changes its scopes and projects.

import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { meQuery } from '../../../api/queries.ts';
import type { ApiCall } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { Field, FormProblem } from '../../../parts/form.tsx';
import { formatDay } from '../../../parts/time.ts';
import { words } from '../../../words.ts';
import { SettingsBlock } from '../block.tsx';
import { RadioCards } from '../cards.tsx';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from '../words.ts';
import {
  type Access,
  findPreset,
  getPresetAccess,
  type PresetName,
  parseScopeNames,
  scopes,
  toScopeNames,
} from './scopes.ts';

export const keysPath = '/api/personal_api_keys';

export interface PersonalKey {
  id: string;
  label: string;
  value: string | null;
  mask_value: string;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  scopes: string[];
  scoped_teams: number[];
  scoped_organizations: string[];
}

/** Time until the key expires, in days. `keep` does not change an existing key's expiry. */
type Ends = 'keep' | 'never' | '30' | '90' | '365';
const dayMs = 86_400_000;

export function KeyForm({
  before,
  onDone,
  onClose,
}: {
  before: PersonalKey | undefined;
  onDone: (key: PersonalKey) => Promise<void>;
  onClose: () => void;
}) {
  const [accessByObject, setAccessByObject] = useState(() =>
    parseScopeNames(before?.scopes ?? toScopeNames(getPresetAccess('read'))),
  );
  const [isAll, setAll] = useState(before?.scopes.includes('*') ?? false);
  const [teams, setTeams] = useState<readonly number[]>(before?.scoped_teams ?? []);
  const [organizations, setOrganizations] = useState<readonly string[]>(before?.scoped_organizations ?? []);
  const [ends, setEnds] = useState<Ends>(before ? 'keep' : '90');
  const names = isAll ? ['*'] : toScopeNames(accessByObject);
  const requestFor = (label: string): ApiCall => ({
    method: before ? 'PATCH' : 'POST',
    path: before ? `${keysPath}/${before.id}` : keysPath,
    body: {
      label,
      scopes: names,
      scoped_teams: teams,
      scoped_organizations: organizations,
      ...(ends !== 'keep' && { expires_at: ends === 'never' ? null : endIn(Number(ends)) }),
    },
  });
  const save = useMutation({
    mutationFn: (label: string) => callWithRecentSignIn<PersonalKey>(requestFor(label)),
    onSuccess: onDone,
  });
  const preset: PresetName = isAll ? 'all' : findPreset(accessByObject);
  const begin = (name: PresetName) => {
    setAll(name === 'all');
    if (name !== 'all' && name !== 'own') setAccessByObject(getPresetAccess(name));
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(String(new FormData(event.currentTarget).get('label')));
  };
  const fields = ['label'];
  return (
    <SettingsBlock
      title={before ? text.changeKey(before.label) : text.newKey}
      about={text.keyFor}
      request={requestFor(before?.label ?? text.keyNameExample)}
    >
      <form className="form settings-form settings-key-form" onSubmit={submit}>
        <Field
          name="label"
          label={text.keyName}
          hint={text.keyNameHint}
          maxLength={40}
          defaultValue={before?.label}
          problem={save.error}
        />
        <RadioCards
          name="preset"
          legend={text.may}
          options={(['read', 'terraform', 'ci', 'all', 'own'] as const).map((name) => ({
            value: name,
            ...text.presets[name],
          }))}
          chosen={preset}
          onChoose={begin}
        />
        {isAll ? (
          <p className="note warn">{text.allWarning}</p>
        ) : (
          <ScopeTable
            accessByObject={accessByObject}
            onChange={(object, access) => setAccessByObject({ ...accessByObject, [object]: access })}
          />
        )}
        <ReachChoice
          teams={teams}
          organizations={organizations}
          onTeams={setTeams}
          onOrganizations={setOrganizations}
        />
        <EndChoice before={before} value={ends} onChoose={setEnds} />
        <FormProblem problem={save.error} fields={fields} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={save.isPending || names.length === 0}>
            {before ? text.save : text.makeKey}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
          <span className="hint">{names.length === 0 ? text.nothingChosen : before ? '' : text.onceHint}</span>
        </div>
      </form>
    </SettingsBlock>
  );
}

function ScopeTable({
  accessByObject,
  onChange,
}: {
  accessByObject: Record<string, Access>;
  onChange: (object: string, access: Access) => void;
}) {
  return (
    <table className="table settings-table settings-scope-table">
      <thead>
        <tr>
          <th>{text.columns.object}</th>
          <th>{text.columns.access}</th>
        </tr>
      </thead>
      <tbody>
        {scopes.map(({ object, can, about }) => (
          <tr key={object}>
            <td>
              <code>{object}</code>
              <br />
              <span className="hint">{about}</span>
            </td>
            <td>
              <select
                className="input"
                aria-label={text.accessTo(object)}
                value={accessByObject[object] ?? ''}
                onChange={(event) => onChange(object, event.target.value as Access)}
              >
                <option value="">{text.access['']}</option>
                <option value="read">{text.access.read}</option>
                {(can === 'rw' || accessByObject[object] === 'write') && (
                  <option value="write">{text.access.write}</option>
                )}
              </select>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ReachChoice({
  teams,
  organizations,
  onTeams,
  onOrganizations,
}: {
  teams: readonly number[];
  organizations: readonly string[];
  onTeams: (next: readonly number[]) => void;
  onOrganizations: (next: readonly string[]) => void;
}) {
  const { data: me } = useQuery(meQuery);
  const projects = me?.organization?.teams ?? [];
  const known = new Set(projects.map(({ id }) => id));
  return (
    <fieldset className="settings-fieldset">
      <legend className="field-label">{text.where}</legend>
      <p className="hint">{text.whereHint}</p>
      <div className="settings-pair">
        <Checks
          name={text.organizations}
          options={me?.organizations ?? []}
          chosen={organizations}
          onChoose={onOrganizations}
        />
        <Checks
          name={text.projects}
          options={[
            ...projects,
            ...teams.filter((id) => !known.has(id)).map((id) => ({ id, name: text.projectNumber(id) })),
          ]}
          chosen={teams}
          onChoose={onTeams}
        />
      </div>
    </fieldset>
  );
}

function Checks<Id extends string | number>({
  name,
  options,
  chosen,
  onChoose,
}: {
  name: string;
  options: readonly { id: Id; name: string }[];
  chosen: readonly Id[];
  onChoose: (next: readonly Id[]) => void;
}): ReactNode {
  return (
    <fieldset className="settings-fieldset settings-checks">
      <legend className="hint">{name}</legend>
      {options.map((option) => (
        <label key={option.id} className="settings-choice">
          <input
            type="checkbox"
            checked={chosen.includes(option.id)}
            onChange={(event) =>
              onChoose(event.target.checked ? [...chosen, option.id] : chosen.filter((id) => id !== option.id))
            }
          />
          {option.name}
        </label>
      ))}
    </fieldset>
  );
}

function EndChoice({
  before,
  value,
  onChoose,
}: {
  before: PersonalKey | undefined;
  value: Ends;
  onChoose: (value: Ends) => void;
}) {
  const { timezone } = useProject();
  const currentExpiry = before && (before.expires_at ? formatDay(before.expires_at, timezone) : text.never);
  return (
    <label className="field settings-short">
      <span className="field-label">{text.columns.ends}</span>
      <select className="input" value={value} onChange={(event) => onChoose(event.target.value as Ends)}>
        {currentExpiry && <option value="keep">{text.keepEnd(currentExpiry)}</option>}
        {(['30', '90', '365'] as const).map((days) => (
          <option key={days} value={days}>
            {text.inDays(Number(days), formatDay(endIn(Number(days)), timezone))}
          </option>
        ))}
        <option value="never">{text.never}</option>
      </select>
    </label>
  );
}

const endIn = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
