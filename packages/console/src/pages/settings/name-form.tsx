import { useState } from 'react';
import type { ApiCall } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { SettingsBlock, SuccessMessage } from './block.tsx';
import { useEnvironmentChange } from './environment.ts';
import { text } from './words.ts';

/**
 * A form that renames a project, an environment or an organization.
 * @param reason an explanation of why the user cannot change the name; undefined if the user can
 */
export function NameForm({
  title,
  about,
  name,
  path,
  maxLength,
  reason,
  onSaved,
}: {
  title: string;
  about: string;
  name: string;
  path: string;
  maxLength: number;
  reason?: string | undefined;
  onSaved?: () => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const save = useEnvironmentChange({
    onDone: () => {
      setTyped(null);
      onSaved?.();
    },
  });
  const request: ApiCall = { method: 'PATCH', path, body: { name: typed ?? name } };
  return (
    <SettingsBlock title={title} about={about} request={request}>
      <form
        className="form settings-form"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(request);
        }}
      >
        <Field
          name="name"
          label={text.name}
          autoComplete="off"
          maxLength={maxLength}
          disabled={reason !== undefined}
          hint={reason}
          value={typed ?? name}
          onChange={(event) => {
            save.reset();
            setTyped(event.target.value);
          }}
          problem={save.error}
        />
        <FormProblem problem={save.error} fields={['name']} />
        <div className="form-buttons">
          <Button type="submit" isDisabled={save.isPending || typed === null || typed === name}>
            {text.save}
          </Button>
          {save.isSuccess && <SuccessMessage>{text.saved}</SuccessMessage>}
        </div>
      </form>
    </SettingsBlock>
  );
}
