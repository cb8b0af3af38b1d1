import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient } from '../../../api/queries.ts';
import { call } from '../../../api/request.ts';
import { useHasLevelInOrganization, useProject } from '../../../frame/project.ts';
import { part, useAddress } from '../../../parts/address.ts';
import { Button } from '../../../parts/button.tsx';
import { AddressHint } from '../../../parts/chips.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { Loaded } from '../../../parts/states.tsx';
import { counted, words } from '../../../words.ts';
import { Block, Done, Sure } from '../block.tsx';
import { useChange } from '../environment.ts';
import { MakeDialog } from '../make-dialog.tsx';
import { NameForm } from '../name-form.tsx';
import { useRemoval } from '../removal.ts';
import { text as shared } from '../words.ts';
import { text } from './words.ts';

interface Organization {
  id: string;
  name: string;
  is_member_join_email_enabled: boolean;
  projects: { id: number }[];
}

const parts = { new: part.flag() };
const refresh = () => void queryClient.invalidateQueries({ queryKey: ['settings', 'organization'] });

/** What the organization is called and does, another one, and its end. */
export function Section() {
  const { view, change, unknown } = useAddress(parts);
  const { organization: id } = useProject();
  const path = `/api/organizations/${id}`;
  const isAdministrator = useHasLevelInOrganization(8);
  const query = useQuery({
    queryKey: ['settings', 'organization', id],
    queryFn: ({ signal }) => call<Organization>({ path }, signal),
  });
  return (
    <>
      <AddressHint unknown={unknown} />
      <Loaded query={query} what={words.sections.organization}>
        {(organization) => (
          <>
            <NameForm
              title={shared.name}
              about={text.nameText}
              name={organization.name}
              path={path}
              maxLength={64}
              reason={isAdministrator ? undefined : shared.needsAdministrator}
              onSaved={refresh}
            />
            <Mails organization={organization} path={path} mayChange={isAdministrator} />
            <Block
              title={text.another}
              about={text.anotherText}
              request={{ path: '/api/organizations' }}
              buttons={<Button onPress={() => change({ new: true })}>{text.newOrganization}</Button>}
            />
            <Removal organization={organization} path={path} />
          </>
        )}
      </Loaded>
      {view.new && (
        <MakeDialog
          title={text.newOrganization}
          about={text.newOrganizationText}
          path="/api/organizations"
          maxLength={64}
          onClose={() => change({ new: false }, { replace: true })}
        />
      )}
    </>
  );
}

function Mails({
  organization: { is_member_join_email_enabled: isOn },
  path,
  mayChange,
}: {
  organization: Organization;
  path: string;
  mayChange: boolean;
}) {
  const [chosen, setChosen] = useState(isOn);
  const save = useChange({ onDone: refresh });
  const request = { method: 'PATCH', path, body: { is_member_join_email_enabled: chosen } } as const;
  return (
    <Block title={text.mails} request={request}>
      <form
        className="form settings-controls"
        onChange={() => save.reset()}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(request);
        }}
      >
        <div className="settings-switch">
          <input
            type="checkbox"
            id="member-joins"
            aria-describedby="member-joins-more"
            checked={chosen}
            disabled={!mayChange}
            onChange={(event) => setChosen(event.target.checked)}
          />
          <div>
            <label className="field-label" htmlFor="member-joins">
              {text.joined}
            </label>
            <p id="member-joins-more" className="quiet">
              {text.joinedText}
            </p>
            {!mayChange && <p className="hint">{shared.needsAdministrator}</p>}
          </div>
        </div>
        <FormProblem problem={save.error} fields={[]} />
        <div className="form-buttons">
          <Button type="submit" isDisabled={!mayChange || save.isPending || chosen === isOn}>
            {shared.save}
          </Button>
          {save.isSuccess && <Done>{shared.saved}</Done>}
        </div>
      </form>
    </Block>
  );
}

function Removal({ organization: { name, projects }, path }: { organization: Organization; path: string }) {
  const mayRemove = useHasLevelInOrganization(15);
  const [isAsking, setAsking] = useState(false);
  const remove = useRemoval();
  return (
    <Block title={text.remove} about={text.removeText} request={{ method: 'DELETE', path }}>
      <div className="form-buttons">
        <Button look="danger" isDisabled={!mayRemove} onPress={() => setAsking(true)}>
          {text.removeOrganization}
        </Button>
      </div>
      {!mayRemove && <p className="hint">{text.needsOwner}</p>}
      {isAsking && (
        <Sure
          title={text.removeTitle(name)}
          verb={text.removeOrganization}
          typed={{ label: text.typeName, text: name }}
          onClose={() => setAsking(false)}
          act={() => remove(path)}
        >
          {text.removeWhat(counted(projects.length, 'project'))}
        </Sure>
      )}
    </Block>
  );
}
