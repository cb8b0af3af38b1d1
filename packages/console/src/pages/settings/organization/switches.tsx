// The form for an organization's on/off settings, which sends only the changed settings.

import { useId, useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import type { ApiCall } from '../../../api/request.ts';
import { Button } from '../../../parts/button.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { SettingsBlock, SuccessMessage } from '../block.tsx';
import { useEnvironmentChange } from '../environment.ts';
import { text as shared } from '../words.ts';
import { text } from './words.ts';

export type SwitchName = keyof typeof text.switches;

export interface Organization extends Record<SwitchName, boolean> {
  id: string;
  name: string;
  projects: { id: number }[];
}

export const refreshOrganization = () => queryClient.invalidateQueries({ queryKey: ['settings', 'organization'] });

export function OrganizationSwitches({
  title,
  names,
  organization,
  path,
  mayChange,
}: {
  title: string;
  names: readonly SwitchName[];
  organization: Organization;
  path: string;
  mayChange: boolean;
}) {
  const [draft, setDraft] = useState<Partial<Record<SwitchName, boolean>>>({});
  const save = useEnvironmentChange({
    onDone: async () => {
      await refreshOrganization();
      setDraft({});
    },
  });
  const choose = (name: SwitchName, isOn: boolean) => {
    save.reset();
    const { [name]: _, ...others } = draft;
    setDraft(isOn === organization[name] ? others : { ...others, [name]: isOn });
  };
  const isChanged = Object.keys(draft).length > 0;
  const request: ApiCall = isChanged ? { method: 'PATCH', path, body: draft } : { path };
  return (
    <SettingsBlock title={title} request={request}>
      <form
        className="form settings-controls"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ method: 'PATCH', path, body: draft });
        }}
      >
        {names.map((name) => (
          <Switch
            key={name}
            name={name}
            isOn={draft[name] ?? organization[name]}
            isDisabled={!mayChange}
            onChange={(isOn) => choose(name, isOn)}
          />
        ))}
        {!mayChange && <p className="hint">{shared.needsAdministrator}</p>}
        <FormProblem problem={save.error} fields={[]} />
        <div className="form-buttons">
          <Button type="submit" isDisabled={!mayChange || save.isPending || !isChanged}>
            {shared.save}
          </Button>
          {save.isSuccess && <SuccessMessage>{shared.saved}</SuccessMessage>}
        </div>
      </form>
    </SettingsBlock>
  );
}

function Switch({
  name,
  isOn,
  isDisabled,
  onChange,
}: {
  name: SwitchName;
  isOn: boolean;
  isDisabled: boolean;
  onChange: (isOn: boolean) => void;
}) {
  const id = useId();
  const { label, about } = text.switches[name];
  return (
    <div className="settings-switch">
      <input
        type="checkbox"
        id={id}
        aria-describedby={`${id}-more`}
        checked={isOn}
        disabled={isDisabled}
        onChange={({ target }) => onChange(target.checked)}
      />
      <div>
        <label className="field-label" htmlFor={id}>
          {label}
        </label>
        <p id={`${id}-more`} className="quiet">
          {about}
        </p>
      </div>
    </div>
  );
}
