import { useState } from 'react';
import type { ApiCall } from '../../../api/request.ts';
import { useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { SettingsBlock, SuccessMessage } from '../block.tsx';
import { type Environment, useEnvironmentChange, useEnvironmentPath } from '../environment.ts';
import { text as shared } from '../words.ts';
import { type Control, SettingControl } from './setting-control.tsx';
import { text } from './words.ts';

/**
 * A form for environment settings. Sends only the changed settings, so that changes by other users are not overwritten.
 */
export function SettingForm({
  title,
  about,
  controls,
}: {
  title: string;
  about?: string;
  controls: readonly Control[];
}) {
  const path = useEnvironmentPath();
  const stored = useProject() as Environment;
  const [draft, setDraft] = useState<Record<string, unknown>>({});
  const [isEditingFilter, setEditingFilter] = useState(false);
  const save = useEnvironmentChange({ onDone: () => setDraft({}) });
  const present = (name: string) => (Object.hasOwn(draft, name) ? draft[name] : stored[name]);
  const change = (name: string, value: unknown) => {
    save.reset();
    const { [name]: _, ...others } = draft;
    setDraft(JSON.stringify(value) === JSON.stringify(stored[name]) ? others : { ...others, [name]: value });
  };
  const isChanged = Object.keys(draft).length > 0;
  const request: ApiCall = isChanged ? { method: 'PATCH', path, body: draft } : { path };
  const shown = controls.filter((control) => control.kind !== 'choices' || present(control.needs) === true);
  return (
    <SettingsBlock title={title} about={about} request={request}>
      <form
        className="form settings-controls"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ method: 'PATCH', path, body: draft });
        }}
      >
        {shown.map((control) => (
          <SettingControl
            key={control.name}
            control={control}
            value={present(control.name)}
            problem={save.error}
            onChange={(value) => change(control.name, value)}
            isEditingFilter={isEditingFilter}
            onEditingFilter={setEditingFilter}
          />
        ))}
        <FormProblem problem={save.error} fields={shown.map(({ name }) => name)} />
        <div className="form-buttons">
          <Button type="submit" isDisabled={save.isPending || !isChanged || isEditingFilter}>
            {shared.save}
          </Button>
          {isChanged && <Button onPress={() => setDraft({})}>{text.discard}</Button>}
          {save.isSuccess && <SuccessMessage>{shared.saved}</SuccessMessage>}
        </div>
      </form>
    </SettingsBlock>
  );
}
